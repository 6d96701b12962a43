"""Print the semantic mutants of a chapter that its checks do not reject: `CHAPTER [EXERCISE]`.

Without a chapter, of all of them.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from dataclasses import replace

from keys import grading_key
from semantic import wrong_answers
from spoiling import Answer
from unrejected import reasons

from autograder.checks import assignments
from autograder.judging.exercise import Case, Exercise
from autograder.judging.judge import fault, observe_quietly
from autograder.sandbox.untrusted import wire
from autograder.sandbox.untrusted.values import Observation

DRAWS = range(2)
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
    key = grading_key(exercise, seed)
    calls = wire.decode(wire.encode([case.call for case in key.cases]))
    arrived = [
        replace(case, arguments=call.arguments, keywords=call.keywords, setup=call.setup)
        for case, call in zip(key.cases, calls, strict=True)
    ]
    return list(zip(arrived, key.expected, strict=True))


@functools.cache
def survivors(exercise: Exercise) -> set[str]:
    """The names of the semantic mutants that pass on the public and hidden cases of a draw."""
    return {
        name
        for name, answer in wrong_answers(exercise).items()
        if not all(rejected(exercise, seed, answer) for seed in DRAWS)
    }


def main(chapter: str = "", exercise_name: str = "") -> None:
    for assignment in assignments().values():
        if chapter not in ("", assignment.name):
            continue
        for exercise in assignment.exercises:
            if exercise_name not in ("", exercise.name):
                continue
            passed, listed = survivors(exercise), set(reasons(exercise.name))
            print(f"{assignment.name}.{exercise.name}: {len(passed - listed)} pass", flush=True)
            print("".join(f"    {name}\n" for name in sorted(passed - listed)), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
