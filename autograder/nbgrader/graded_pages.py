"""Read from the gradebook what feedback pages show: points, comments, times and penalties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Select, Table, func, select

from .penalties import seconds_late

Key = tuple[str, str, str]
"""A student, an assignment and a notebook."""


@dataclass(frozen=True)
class Mark:
    """The points and comments of an answer; `waits` is True until a person has marked its text.

    `score` and `most` are None for a cell that only has comments. `by_hand` is True if a person has
    given the points, even if that was for an earlier text.
    """

    score: float | None = None
    most: float | None = None
    waits: bool = False
    by_hand: bool = False
    auto_comment: str = ""
    comment: str = ""


@dataclass(frozen=True)
class GradedPage:
    """A graded notebook of a student: its score before the late `penalty`, and its marks by cell.

    `submitted` is the time of submission (naive UTC), if it is known.
    """

    score: float
    most: float
    penalty: float
    submitted: datetime | None
    late_seconds: float
    marks: Mapping[str, Mark] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """The number of answers that a person must still mark."""
        return sum(mark.waits for mark in self.marks.values())


def graded_pages(connection: Connection, only: Key | None = None) -> dict[Key, GradedPage]:
    """Return every graded notebook in the gradebook, or `only` this one, with a query per table."""
    marks: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in connection.execute(_only(_GRADES, only)):
        marks[row.id][row.cell] |= {
            "score": float(row.score),
            "most": float(row.most),
            "waits": bool(row.waits),
            "by_hand": row.manual_score is not None,
        }
    for row in connection.execute(_only(_COMMENTS, only)):
        texts = {"auto_comment": row.auto_comment or "", "comment": row.manual_comment or ""}
        marks[row.id][row.cell] |= texts
    pages = {}
    for row in connection.execute(_only(_NOTEBOOKS, only)):
        found = {name: Mark(**values) for name, values in sorted(marks[row.id].items())}
        pages[row.student, row.assignment, row.notebook] = GradedPage(
            score=sum(mark.score or 0.0 for mark in found.values()),
            most=float(row.most),
            penalty=float(row.penalty or 0.0),
            submitted=row.timestamp,
            late_seconds=seconds_late(row),
            marks=found,
        )
    return pages


def _only(query: Select[Any], key: Key | None) -> Select[Any]:
    if key is None:
        return query
    student, assignment, notebook = key
    return query.where(
        _SUBMISSION.student_id == student,
        api.Assignment.name == assignment,
        api.Notebook.name == notebook,
    )


def _of_notebooks(query: Select[Any]) -> Select[Any]:
    """Return a query that has SubmittedNotebook, joined to what identifies a page."""
    return (
        query.join(_SUBMISSION, _SUBMITTED.assignment_id == _SUBMISSION.id)
        .join(api.Assignment, _SUBMISSION.assignment_id == api.Assignment.id)
        .join(api.Notebook, _SUBMITTED.notebook_id == api.Notebook.id)
    )


_SUBMISSION, _SUBMITTED = api.SubmittedAssignment, api.SubmittedNotebook
_CELL: Table = api.BaseCell.__table__
_GRADED: Table = api.GradeCell.__table__
_TASK: Table = api.TaskCell.__table__
_NOTEBOOKS = _of_notebooks(
    select(
        _SUBMITTED.id,
        _SUBMISSION.student_id.label("student"),
        api.Assignment.name.label("assignment"),
        api.Notebook.name.label("notebook"),
        api.Notebook.max_score.label("most"),
        _SUBMITTED.late_submission_penalty.label("penalty"),
        _SUBMISSION.timestamp,
        _SUBMISSION.extension,
        api.Assignment.duedate,
    ).select_from(_SUBMITTED)
)
_GRADES = _of_notebooks(
    select(
        _SUBMITTED.id,
        _CELL.c.name.label("cell"),
        api.Grade.score.label("score"),
        func.coalesce(_GRADED.c.max_score, _TASK.c.max_score, 0.0).label("most"),
        api.Grade.needs_manual_grade.label("waits"),
        api.Grade.manual_score,
    )
    .select_from(api.Grade)
    .join(_CELL, api.Grade.cell_id == _CELL.c.id)
    .outerjoin(_GRADED, _GRADED.c.id == _CELL.c.id)
    .outerjoin(_TASK, _TASK.c.id == _CELL.c.id)
    .join(_SUBMITTED, api.Grade.notebook_id == _SUBMITTED.id)
)
_COMMENTS = _of_notebooks(
    select(
        _SUBMITTED.id,
        _CELL.c.name.label("cell"),
        api.Comment.auto_comment,
        api.Comment.manual_comment,
    )
    .select_from(api.Comment)
    .join(_CELL, api.Comment.cell_id == _CELL.c.id)
    .join(_SUBMITTED, api.Comment.notebook_id == _SUBMITTED.id)
)
