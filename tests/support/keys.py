"""The exercises of the course with their cases and keys, built once for all tests of a run."""

from __future__ import annotations

import functools
import importlib
import pkgutil

import pytest
from nightly import NIGHTLY

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Case, Exercise, Kind, public_cases
from autograder.judging.keys import AnswerKey, build_key
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
"""The exercises that ask for a test, and all others: a mutated test may still be a good test."""

SEEDS = range(5 if NIGHTLY else 1)
"""Seeds of hidden cases."""


@functools.cache
def shown_cases(exercise: Exercise) -> tuple[Case, ...]:
    """Return the public cases."""
    return public_cases(exercise)


def declarations() -> list[Declaration]:
    """Return the declarations of the exercises of all chapters: `x` in x.py."""
    modules = pkgutil.walk_packages([str(COURSE.folder)], f"{COURSE.name}.")
    namespaces = [
        vars(importlib.import_module(module.name)).values()
        for module in modules
        if not module.ispkg
    ]
    return [value for values in namespaces for value in values if isinstance(value, Declaration)]


@functools.cache
def declared(exercise: Exercise) -> Declaration:
    """Return the declaration of this exercise."""
    return next(declaration for declaration in declarations() if declaration.exercise is exercise)


RAISING = [param for param in OTHERS if any(case.raises for case in shown_cases(*param.values))]
"""The exercises whose docstring promises an exception."""


@functools.cache
def drawn_cases(exercise: Exercise, seed: int) -> tuple[Case, ...]:
    """Return the hidden cases of one seed."""
    return hidden_cases(exercise, seed)


@functools.cache
def grading_key(exercise: Exercise, seed: int) -> AnswerKey:
    """Return the grader's key: the public cases, and the hidden cases of one seed."""
    return build_key(exercise, shown_cases(exercise), drawn_cases(exercise, seed))
