"""Print the semantic mutants of a chapter that its checks do not reject: `CHAPTER [EXERCISE]`.

Without a chapter, of all of them.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Iterator
from dataclasses import replace

from keys import declared, drawn_cases, shown_cases
from semantic import wrong_answers
from semantic_calls import ONE_BUFFER
from spoiling import Answer

from autograder.exercise.model import Case, Exercise
from autograder.judging.compare import Mismatch
from autograder.judging.judge import build_key, fault, observe_quietly
from autograder.probe import wire
from autograder.probe.values import Observation
from exercises import COURSE

EVERYWHERE = {
    "float32 in, float64 out": "float32 and float64 both count as float",
    "float64 through float32": "a rounding to float32 is hardly larger than the tolerance",
    "whole numbers in an array refused": "the docstrings speak of arrays of floating numbers",
    "an array that is not contiguous refused": "every argument reaches an answer contiguous",
    "an argument returned as the result": "nobody changes it; some references return views",
    "1e-9 in place of exactly 0": "1e-9 beside a weight of 1 is below the tolerance",
}
"""Semantic mutants of any exercise that no case rejects, and why; see `lets_through`."""

DRAWS = range(2)
Pair = tuple[Case, object]


def rejected(exercise: Exercise, name: str, answer: Answer) -> bool:
    """True if a public case finds a fault in the mutant, or on each draw a hidden one does."""
    public, *draws = _graded(exercise)
    if name == ONE_BUFFER:
        return all(_clash(answer, public + hidden) for hidden in draws)
    return any(faults(answer, public)) or all(any(faults(answer, hidden)) for hidden in draws)


def right_somewhere(exercise: Exercise, answer: Answer) -> bool:
    """True if some public case, or hidden one of the first draw, finds no fault in the answer."""
    public, hidden, *_ = _graded(exercise)
    return not all(faults(answer, public + hidden))


def faults(answer: Answer, pairs: list[Pair]) -> Iterator[Mismatch | None]:
    """What is wrong with the answer on each case."""
    return (fault(*pair, _observed(answer, [pair])[0]) for pair in pairs)


def _clash(answer: Answer, pairs: list[Pair]) -> bool:
    """True if one call spoils what another has returned."""
    observations = _observed(answer, pairs)
    return any(fault(*pair, one) for pair, one in zip(pairs, observations, strict=True))


def _observed(answer: Answer, pairs: list[Pair]) -> list[Observation]:
    with contextlib.redirect_stdout(io.StringIO()):
        return observe_quietly(answer, [case for case, _ in pairs])


@functools.cache
def _graded(exercise: Exercise) -> list[list[Pair]]:
    """The public cases and the hidden ones of each draw, each case with what is right on it."""
    public = build_key(exercise, shown_cases(exercise), ())
    keys = [public, *(build_key(exercise, (), drawn_cases(exercise, seed)) for seed in DRAWS)]
    return [list(zip(map(_arrived, key.cases), key.expected, strict=True)) for key in keys]


def _arrived(case: Case) -> Case:
    """The case with its arguments as the sandbox hands them to an answer."""
    call = wire.decode(wire.encode(case.call))
    return replace(case, arguments=call.arguments, keywords=call.keywords, setup=call.setup)


@functools.cache
def survivors(exercise: Exercise) -> set[str]:
    """The names of the mutants that pass on a draw, but for those that may pass everywhere."""
    return {
        name
        for name, answer in wrong_answers(exercise).items()
        if name not in EVERYWHERE and not rejected(exercise, name, answer)
    }


def main(chapter: str = "", exercise_name: str = "") -> None:
    for assignment in COURSE.values():
        if chapter not in ("", assignment.name):
            continue
        for exercise in assignment.exercises:
            if exercise_name not in ("", exercise.name):
                continue
            passed, listed = survivors(exercise), set(declared(exercise).unrejected)
            print(f"{assignment.name}.{exercise.name}: {len(passed - listed)} pass", flush=True)
            print("".join(f"    {name}\n" for name in sorted(passed - listed)), end="")
            print(
                "".join(
                    f"    listed, but rejected or not made: {one}\n" for one in listed - passed
                ),
                end="",
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
