"""Plan the term: who answers what, how late, and which scores a plain computation expects.

Everything here is computed from names and numbers, without the grader.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

DUE = datetime(2026, 2, 3, 12)
"""When each assignment is due (UTC)."""

RIGHT, WRONG, OPEN = "right", "wrong", "open"
"""The kind of an answer: right, a named mistake, or unchanged."""


@dataclass(frozen=True)
class Exercise:
    """An exercise or a written question.

    A test that a student writes may earn a part of its points, so in the term all are right.
    """

    name: str
    points: int
    is_test: bool = False


@dataclass(frozen=True)
class Assignment:
    """An assignment, with the platform on which it is handed in."""

    name: str
    platform: str
    exercises: tuple[Exercise, ...]
    written: tuple[Exercise, ...]

    @property
    def max_score(self) -> int:
        """Return the sum of all points."""
        return sum(part.points for part in (*self.exercises, *self.written))


@dataclass(frozen=True)
class Student:
    """A student on the roster, computed from numbers."""

    number: int

    @property
    def id(self) -> str:
        return f"s{self.number:03}"

    @property
    def platform_id(self) -> str:
        return str(7000 + self.number)

    @property
    def first_name(self) -> str:
        return f"First{self.number}"

    @property
    def last_name(self) -> str:
        return f"Last{self.number}"

    @property
    def email(self) -> str:
        return f"{self.id}@example.edu"


@dataclass(frozen=True)
class Work:
    """A submission.

    answers: exercise -> kind of answer. hours_late: hours after the due date, negative if early.
    in_words: True if the written questions are answered.
    """

    answers: Mapping[str, str]
    hours_late: float
    in_words: bool


def handed_in(assignment: Assignment, student: Student) -> Work | None:
    """Return the first submission of a student, or None if there is none."""
    draw = random.Random(f"{assignment.name} {student.id}")
    if draw.random() < 0.04:
        return None
    kinds = {}
    for exercise in assignment.exercises:
        kind = draw.choices((RIGHT, WRONG, OPEN), (80, 14, 6))[0]
        kinds[exercise.name] = RIGHT if exercise.is_test and kind == WRONG else kind
    hours = draw.choice((-30, -5, -1, -0.5, 1.5, 30)) if draw.random() < 0.5 else -2
    return Work(kinds, hours, draw.random() < 0.3)


def again(work: Work, fixed: str) -> Work:
    """Return the submission a quarter of an hour later, with one more exercise right."""
    return replace(work, answers={**work.answers, fixed: RIGHT}, hours_late=work.hours_late + 0.25)


def penalty(raw: float, work: Work, extension: timedelta, has_times: bool) -> float:
    """Return one point for each day begun after the due date, at most the score."""
    hours = work.hours_late - extension.total_seconds() / 3600
    if not has_times or hours <= 0:
        return 0.0
    return float(min(raw, math.ceil(hours / 24)))


def points(
    assignment: Assignment, work: Work, lenient: Sequence[str], marks: Mapping[str, float]
) -> dict[str, float]:
    """Return the points of each exercise and question.

    `lenient` names exercises whose check still lets the mistake pass.
    """
    earned: dict[str, float] = {}
    for exercise in assignment.exercises:
        kind = work.answers.get(exercise.name, OPEN)
        right = kind == RIGHT or (kind == WRONG and exercise.name in lenient)
        earned[exercise.name] = float(exercise.points) if right else 0.0
    return earned | {each.name: marks.get(each.name, 0.0) for each in assignment.written}
