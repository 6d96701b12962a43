"""Subtract late penalties from the scores that the formgrader lists, as in feedback and exports.

nbgrader's own formgrader lists scores before the penalty. It gets them as dictionaries from
`NbGraderAPI`, whose methods are wrapped here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

from nbgrader import api
from nbgrader.apps.api import NbGraderAPI
from sqlalchemy import func, select
from sqlalchemy.orm import Session

Key = tuple[str, ...]
ScoreRow = dict[str, Any]


def show_net_scores() -> None:
    """Make `NbGraderAPI` subtract the late penalties from every score that it returns."""
    for name, key in _KEYS.items():
        setattr(NbGraderAPI, name, _subtract_penalties(_ORIGINALS[name], key))


def _subtract_penalties(original: Callable[..., Any], key: Callable[[ScoreRow], Key]) -> Any:
    @wraps(original)
    def wrapper(self: NbGraderAPI, *arguments: Any, **keywords: Any) -> Any:
        result = original(self, *arguments, **keywords)
        rows = result if isinstance(result, list) else [result]
        scored = [(row, name) for row in rows if row for name in _SCORES if row.get(name)]
        if scored:  # one method calls another for each student, mostly without a score
            with self.gradebook as book:
                penalties = _penalties(book.db)
            for row, name in scored:
                row[name] = max(0.0, row[name] - penalties[key(row)])
        return result

    return wrapper


def _penalties(session: Session) -> dict[Key, float]:
    """Return the penalty of each submission, student and submitted notebook.

    For assignments and released notebooks, return the mean over the submissions.
    """
    penalties: dict[Key, float] = defaultdict(float)
    for row in session.execute(_STORED):
        penalties["submission", row.assignment, row.student] += row.penalty
        penalties["student", row.student] += row.penalty
        penalties["submitted notebook", row.submitted] += row.penalty
        penalties["assignment", row.assignment] += row.penalty
        penalties["notebook", row.notebook] += row.penalty
    for kind, counts in (("assignment", _SUBMISSIONS), ("notebook", _NOTEBOOKS)):
        for name, number in session.execute(counts):
            penalties[kind, name] /= number
    return penalties


_SCORES = ("score", "average_score")
_STORED = (
    select(
        api.SubmittedNotebook.id.label("submitted"),
        api.SubmittedNotebook.notebook_id.label("notebook"),
        api.SubmittedAssignment.student_id.label("student"),
        api.Assignment.name.label("assignment"),
        api.SubmittedNotebook.late_submission_penalty.label("penalty"),
    )
    .join(
        api.SubmittedAssignment, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id
    )
    .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
    .where(api.SubmittedNotebook.late_submission_penalty > 0)
)
_SUBMISSIONS = (
    select(api.Assignment.name, func.count())
    .join(api.SubmittedAssignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
    .group_by(api.Assignment.name)
)
_NOTEBOOKS = select(api.SubmittedNotebook.notebook_id, func.count()).group_by(
    api.SubmittedNotebook.notebook_id
)
"""The numbers of submissions over which nbgrader takes the mean of an assignment or notebook."""

_KEYS: dict[str, Callable[[ScoreRow], Key]] = {
    "get_submission": lambda row: ("submission", row["name"], row["student"]),
    "get_submissions": lambda row: ("submission", row["name"], row["student"]),
    "get_notebook_submissions": lambda row: ("submitted notebook", row["id"]),
    "get_student_notebook_submissions": lambda row: ("submitted notebook", row["id"]),
    "get_student": lambda row: ("student", row["id"]),
    "get_students": lambda row: ("student", row["id"]),
    "get_assignment": lambda row: ("assignment", row["name"]),
    "get_notebooks": lambda row: ("notebook", row["id"]),
}
"""The methods of `NbGraderAPI` that return scores, each with the penalty's key for a row."""

_ORIGINALS = {name: getattr(NbGraderAPI, name) for name in _KEYS}
