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

from keys import whole_key
from semantic import wrong_answers
from spoiling import Answer

from autograder.checks import assignments
from autograder.judging.exercise import Case, Exercise
from autograder.judging.judge import fault, observe_quietly
from autograder.sandbox.untrusted import wire
from autograder.sandbox.untrusted.values import Observation

DRAWS = range(2)
NOT_PROMISED = {
    "float32 in, float64 out": "the check lets float32 and float64 pass for each other",
    "float64 through float32": "one rounding to float32 is about as large as the tolerance",
    "whole numbers in an array refused": "floating numbers are meant, unless a docstring says so",
    "an array that is not contiguous refused": "arguments come through the wire contiguous",
}
"""Mutants that no check is asked to reject, and why."""


Pair = tuple[Case, object]


def rejected(exercise: Exercise, seed: int, answer: Answer) -> bool:
    """True if some public case, or hidden one of this draw, finds a fault in the answer."""
    pairs = _graded(exercise, seed)
    if any(fault(*pair, one) for pair in pairs for one in _observed(answer, [pair])):
        return True
    together = _observed(answer, pairs)  # one call may spoil what another has returned
    return any(fault(*pair, one) for pair, one in zip(pairs, together, strict=True))


def _observed(answer: Answer, pairs: list[Pair]) -> list[Observation]:
    with contextlib.redirect_stdout(io.StringIO()):
        return observe_quietly(answer, [case for case, _ in pairs])


@functools.cache
def _graded(exercise: Exercise, seed: int) -> list[Pair]:
    """The cases, as the sandbox hands them to an answer, and what is right on each."""
    key = whole_key(exercise, seed)
    calls = wire.decode(wire.encode([case.call for case in key.cases]))
    arrived = [
        replace(case, arguments=call.arguments, keywords=call.keywords, setup=call.setup)
        for case, call in zip(key.cases, calls, strict=True)
    ]
    return list(zip(arrived, key.expected, strict=True))


def survivors(exercise: Exercise) -> Iterator[str]:
    """The names of the semantic mutants that pass on the public and hidden cases of a draw."""
    for name, answer in wrong_answers(exercise).items():
        if name in NOT_PROMISED:
            continue
        if not all(rejected(exercise, seed, answer) for seed in DRAWS):
            yield name


def main(chapter: str = "", exercise_name: str = "") -> None:
    for assignment in assignments().values():
        if chapter not in ("", assignment.name):
            continue
        for exercise in assignment.exercises:
            if exercise_name in ("", exercise.name):
                every, passed = wrong_answers(exercise), list(survivors(exercise))
                print(f"{assignment.name}.{exercise.name}: {len(every)} made, {len(passed)} pass")
                for name in passed:
                    print(f"    {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
