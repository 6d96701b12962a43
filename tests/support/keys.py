"""The exercises of the course, their cases and keys, made once for all tests of a run."""

from __future__ import annotations

import functools
import importlib
import pkgutil

import pytest
from nightly import NIGHTLY

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Case, Exercise, Kind, public_cases
from autograder.judging.judge import AnswerKey, build_key
from autograder.proving.evidence import draw as hidden_cases
from exercises import COURSE

__all__ = ["hidden_cases"]

EXERCISES = [
    pytest.param(exercise, id=f"{assignment.name}.{exercise.name}")
    for assignment in COURSE.values()
    for exercise in assignment.exercises
]
WRITTEN_TESTS = [param for param in EXERCISES if param.values[0].kind is Kind.TEST]
OTHERS = [param for param in EXERCISES if param.values[0].kind is not Kind.TEST]
"""The exercises that ask for a test, and all others: a changed test may be as good a test."""

SEEDS = range(5 if NIGHTLY else 1)
"""Draws of hidden cases."""


@functools.cache
def shown_cases(exercise: Exercise) -> tuple[Case, ...]:
    """The public cases."""
    return public_cases(exercise)


def declarations() -> list[Declaration]:
    """What declares the exercises, of all chapters: as `x` in x.py."""
    modules = pkgutil.walk_packages([str(COURSE.folder)], f"{COURSE.name}.")
    found = [vars(importlib.import_module(one.name)).values() for one in modules if not one.ispkg]
    return [one for values in found for one in values if isinstance(one, Declaration)]


@functools.cache
def declared(exercise: Exercise) -> Declaration:
    """What declares this exercise."""
    return next(one for one in declarations() if one.exercise is exercise)


RAISING = [param for param in OTHERS if any(case.raises for case in shown_cases(*param.values))]
"""The exercises whose docstring promises an exception."""


@functools.cache
def drawn_cases(exercise: Exercise, seed: int) -> tuple[Case, ...]:
    """The hidden cases of one seed."""
    return hidden_cases(exercise, seed)


@functools.cache
def grading_key(exercise: Exercise, seed: int) -> AnswerKey:
    """What the grader uses: the public cases, and the hidden ones of one draw."""
    return build_key(exercise, shown_cases(exercise), drawn_cases(exercise, seed))
