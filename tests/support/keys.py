"""The exercises of the course and their keys, built once for all tests of a run."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator

import numpy as np
import pytest

from autograder.checks import assignments
from autograder.judging.exercise import Case, Exercise
from autograder.judging.judge import AnswerKey, build_key, public_cases

EXERCISES = [
    pytest.param(exercise, id=f"{assignment.name}.{exercise.name}")
    for assignment in assignments().values()
    for exercise in assignment.exercises
]
SEEDS = range(5)


def hidden_cases(exercise: Exercise, seed: int) -> Iterator[Case]:
    """The hidden cases of one draw."""
    digest = hashlib.sha256(f"{exercise.name} {seed}".encode()).digest()
    yield from exercise.hidden(np.random.default_rng(int.from_bytes(digest, "little")))


@functools.cache
def whole_key(exercise: Exercise, seed: int) -> AnswerKey:
    """What the grader uses: the public cases, and the hidden ones of one draw."""
    return build_key(exercise, public_cases(exercise), hidden_cases(exercise, seed))


@functools.cache
def keys(exercise: Exercise) -> list[AnswerKey]:
    """The self-check's key, the hidden cases alone, and what the grader uses: both together."""
    public = public_cases(exercise)
    hidden = [build_key(exercise, (), hidden_cases(exercise, seed)) for seed in SEEDS]
    both = [whole_key(exercise, seed) for seed in SEEDS]
    return [build_key(exercise, public, ()), *hidden, *both]
