"""The scores that the formgrader lists: less the late penalty, as in feedback and exports.

nbgrader's formgrader lists scores before the penalty. Its lists are dictionaries that `NbGraderAPI`
returns; the ones with a score pass through here.
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
Listed = dict[str, Any]


def show_net_scores() -> None:
    """Have `NbGraderAPI` take the late penalties off every score that it returns."""
    for name, key in _KEYS.items():
        setattr(NbGraderAPI, name, _net(_ORIGINALS[name], key))


def _net(original: Callable[..., Any], key: Callable[[Listed], Key]) -> Any:
    @wraps(original)
    def listed(self: NbGraderAPI, *arguments: Any, **keywords: Any) -> Any:
        result = original(self, *arguments, **keywords)
        rows = result if isinstance(result, list) else [result]
        scored = [(row, name) for row in rows if row for name in _SCORES if row.get(name)]
        if scored:  # one method calls another for each student: most of these have no score yet
            with self.gradebook as book:
                penalties = _penalties(book.db)
            for row, name in scored:
                row[name] = max(0.0, row[name] - penalties[key(row)])
        return result

    return listed


def _penalties(session: Session) -> dict[Key, float]:
    """Return the penalty of each submission, student and notebook, and the mean of each release."""
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
"""How many submissions of an assignment, and of a notebook, count for nbgrader's means."""

_KEYS: dict[str, Callable[[Listed], Key]] = {
    "get_submission": lambda row: ("submission", row["name"], row["student"]),
    "get_submissions": lambda row: ("submission", row["name"], row["student"]),
    "get_notebook_submissions": lambda row: ("submitted notebook", row["id"]),
    "get_student_notebook_submissions": lambda row: ("submitted notebook", row["id"]),
    "get_student": lambda row: ("student", row["id"]),
    "get_students": lambda row: ("student", row["id"]),
    "get_assignment": lambda row: ("assignment", row["name"]),
    "get_notebooks": lambda row: ("notebook", row["id"]),
}
"""Each method of `NbGraderAPI` that returns scores, and the key of the penalty for one of them."""

_ORIGINALS = {name: getattr(NbGraderAPI, name) for name in _KEYS}
