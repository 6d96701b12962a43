"""Define what `grade`, `export` and `doctor` print with `--json`; docs/json.md has every field.

What `report` prints is defined in autograder/report/model.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..course.course import Course
    from ..course.journal import Row
    from ..grading.changes import Change
    from ..grading.grade import Report
    from ..nbgrader.export import Grades
    from ..nbgrader.scores import Answer, Score
    from ..nbgrader.term import Total
    from ..sandbox.doctor import Layer

FORMAT = 1
"""The version of these documents. A field may be added to one; any other change raises it."""


@dataclass(frozen=True)
class Grade:
    """A student's score for an assignment, under the names that the columns of grades.csv have.

    `points` are those of each answer, or None before a person has marked it; there are none if
    nothing was handed in.
    """

    student: str
    last_name: str | None
    first_name: str | None
    email: str | None
    assignment: str
    handed_in: bool
    timestamp: str | None
    late_seconds: float
    raw_score: float
    late_submission_penalty: float
    score: float
    max_score: float
    waiting: int
    for_earlier_text: int
    points: Mapping[str, float | None]


@dataclass(frozen=True)
class GradingRun:
    """What `grade` did. `file` is grades.json, or None in a dry run, which writes nothing."""

    format: int
    dry_run: bool
    judged: int
    known: int
    failed: int
    file: str | None
    rows: tuple[Row, ...]
    scores: tuple[Grade, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Gradebook:
    """What `export` reads from the gradebook. `term` is None if an assignment was named."""

    format: int
    made: str
    answers: tuple[Answer, ...]
    grades: tuple[Grade, ...]
    term: tuple[Total, ...] | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Isolation:
    """What `doctor` found. `passed` is True if the exit code is 0."""

    format: int
    passed: bool
    layers: tuple[Layer, ...]


def grading_run(course: Course, report: Report, dry_run: bool) -> GradingRun:
    """Return the document on a run of `grade`."""
    return GradingRun(
        format=FORMAT,
        dry_run=dry_run,
        judged=report.judged,
        known=report.known,
        failed=report.unjudged,
        file=None if dry_run else str(course.grades),
        rows=report.rows,
        scores=tuple(map(_grade, report.scores)),
        changes=report.changes,
        notes=report.notes,
    )


def gradebook(grades: Grades, notes: Iterable[str]) -> Gradebook:
    """Return the document on what the gradebook holds."""
    return Gradebook(
        format=FORMAT,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        answers=grades.answers,
        grades=tuple(map(_grade, grades.scores)),
        term=grades.term,
        notes=tuple(notes),
    )


def _grade(score: Score) -> Grade:
    return Grade(
        student=score.student,
        last_name=score.last_name,
        first_name=score.first_name,
        email=score.email,
        assignment=score.assignment,
        handed_in=score.handed_in,
        timestamp=f"{score.timestamp} UTC" if score.timestamp else None,
        late_seconds=score.late_seconds,
        raw_score=score.raw_score,
        late_submission_penalty=score.late_penalty,
        score=score.score,
        max_score=score.max_score,
        waiting=score.waiting,
        for_earlier_text=len(score.outdated),
        points=score.points if score.handed_in else {},
    )
