"""What happens in the term: who answers what, how late, and what a plain computation makes of it.

Everything here follows from the names and numbers alone, and nothing from the grader.
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
"""What an answer is: right, a named mistake, or left as released."""


@dataclass(frozen=True)
class Exercise:
    """An exercise or a written question; a test that students write may earn a part of its points,
    so nobody in the term writes a wrong one."""

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
        """The points for everything."""
        return sum(one.points for one in (*self.exercises, *self.written))


@dataclass(frozen=True)
class Student:
    """Somebody on the roster, by numbers alone."""

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
    """One submission: its answers by exercise, the hours after the due date, the texts answered."""

    answers: Mapping[str, str]
    hours_late: float
    in_words: bool


def handed_in(assignment: Assignment, student: Student) -> Work | None:
    """What a student hands in first; None for nothing."""
    draw = random.Random(f"{assignment.name} {student.id}")
    if draw.random() < 0.04:
        return None
    kinds = {}
    for one in assignment.exercises:
        kind = draw.choices((RIGHT, WRONG, OPEN), (80, 14, 6))[0]
        kinds[one.name] = RIGHT if one.is_test and kind == WRONG else kind
    hours = draw.choice((-30, -5, -1, -0.5, 1.5, 30)) if draw.random() < 0.5 else -2
    return Work(kinds, hours, draw.random() < 0.3)


def again(work: Work, fixed: str) -> Work:
    """The submission once more, with one exercise right, a quarter of an hour later."""
    return replace(work, answers={**work.answers, fixed: RIGHT}, hours_late=work.hours_late + 0.25)


def penalty(raw: float, work: Work, extension: timedelta, has_times: bool) -> float:
    """A point for each day that has begun after the due date; no more than the score."""
    hours = work.hours_late - extension.total_seconds() / 3600
    if not has_times or hours <= 0:
        return 0.0
    return float(min(raw, math.ceil(hours / 24)))


def points(
    assignment: Assignment, work: Work, lenient: Sequence[str], marks: Mapping[str, float]
) -> dict[str, float]:
    """The points of each exercise and question.

    `lenient` names exercises whose check lets the mistake pass, before it is mended.
    """
    found: dict[str, float] = {}
    for one in assignment.exercises:
        kind = work.answers.get(one.name, OPEN)
        right = kind == RIGHT or (kind == WRONG and one.name in lenient)
        found[one.name] = float(one.points) if right else 0.0
    return found | {one.name: marks.get(one.name, 0.0) for one in assignment.written}
