"""Print the semantic mutants of a chapter that its checks do not reject: `CHAPTER [EXERCISE]`.

Without a chapter, print those of all chapters.
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
from autograder.judging.faults import fault
from autograder.judging.keys import build_key, observe_quietly
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
    """Return True if a public case, or a hidden case of every draw, finds a fault in the mutant."""
    public, *draws = _graded(exercise)
    if name == ONE_BUFFER:
        return all(_clash(answer, public + hidden) for hidden in draws)
    return any(faults(answer, public)) or all(any(faults(answer, hidden)) for hidden in draws)


def right_somewhere(exercise: Exercise, answer: Answer) -> bool:
    """Return True if some public case, or hidden case of the first draw, accepts the answer."""
    public, hidden, *_ = _graded(exercise)
    return not all(faults(answer, public + hidden))


def faults(answer: Answer, pairs: list[Pair]) -> Iterator[Mismatch | None]:
    """Yield the mismatch of the answer on each case, or None."""
    return (fault(*pair, _observed(answer, [pair])[0]) for pair in pairs)


def _clash(answer: Answer, pairs: list[Pair]) -> bool:
    """Return True if a call spoils the result of another call."""
    observations = _observed(answer, pairs)
    return any(
        fault(*pair, observation) for pair, observation in zip(pairs, observations, strict=True)
    )


def _observed(answer: Answer, pairs: list[Pair]) -> list[Observation]:
    with contextlib.redirect_stdout(io.StringIO()):
        return observe_quietly(answer, [case for case, _ in pairs])


@functools.cache
def _graded(exercise: Exercise) -> list[list[Pair]]:
    """Return the public cases and the hidden cases of each draw, each with its expected result."""
    public = build_key(exercise, shown_cases(exercise), ())
    keys = [public, *(build_key(exercise, (), drawn_cases(exercise, seed)) for seed in DRAWS)]
    return [list(zip(map(_arrived, key.cases), key.expected, strict=True)) for key in keys]


def _arrived(case: Case) -> Case:
    """Return the case with its arguments as the sandbox passes them to an answer."""
    call = wire.decode(wire.encode(case.call))
    return replace(case, arguments=call.arguments, keywords=call.keywords, setup=call.setup)


@functools.cache
def survivors(exercise: Exercise) -> set[str]:
    """Return the names of the mutants that pass on a draw, except those allowed to pass."""
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
                    f"    listed, but rejected or not made: {name}\n" for name in listed - passed
                ),
                end="",
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
