"""Read the scores of a course: one for each student and each assignment of the gradebook.

Feedback, the terminal, exports and the formgrader all show the score minus the late penalty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Select, Table, case, func, or_, select

from ..course.plaintext import printable
from .penalties import seconds_late


@dataclass(frozen=True)
class Score:
    """The score of a student for an assignment, whether it was handed in or not.

    `timestamp` is the time of submission (naive UTC), if it is known, and `late_seconds` the time
    since the due date or the end of the extension. `points` are those of each exercise and each
    written question, or None before they are marked. `by_hand` names the answers with a mark by a
    person, and `outdated` those of them whose mark is for an earlier text. Such a mark counts until
    the new text is marked.
    """

    student: str
    last_name: str | None
    first_name: str | None
    email: str | None
    platform_id: str | None
    assignment: str
    timestamp: datetime | None
    late_seconds: float
    raw_score: float
    late_penalty: float
    max_score: float
    waiting: int
    outdated: tuple[str, ...]
    handed_in: bool
    points: Mapping[str, float | None] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The score minus the late penalty, at least 0."""
        return max(0.0, self.raw_score - self.late_penalty)


@dataclass(frozen=True)
class Answer:
    """An exercise, or a `written` question that a person marks."""

    assignment: str
    name: str
    max_points: float
    written: bool


def course_scores(connection: Connection) -> list[Score]:
    """Return the scores of every student for every assignment, sorted by assignment and student.

    A few queries read whole tables, because nbgrader's objects compute a score on every access.
    """
    students = connection.execute(_STUDENTS).all()
    grades: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in connection.execute(_GRADES):
        grades[row.student, row.assignment].append(row)
    penalties: dict[tuple[str, str], float] = defaultdict(float)
    submitted: dict[tuple[str, str], Any] = {}
    for submission in connection.execute(_SUBMISSIONS):
        submitted[submission.student, submission.assignment] = submission
        penalties[submission.student, submission.assignment] += submission.penalty or 0.0
    commented = {(row[0], row[1]) for row in connection.execute(_COMMENTED)}
    return [
        _score(
            student,
            assignment,
            submitted=submitted.get(key),
            penalty=penalties[key],
            grades=grades[key],
            commented=key in commented,
        )
        for assignment in sorted(connection.execute(_ASSIGNMENTS), key=lambda row: str(row.name))
        for student in sorted(students, key=lambda row: str(row.id))
        for key in [(student.id, assignment.name)]
    ]


def _score(
    student: Any,
    assignment: Any,
    *,
    submitted: Any | None,
    penalty: float,
    grades: list[Any],
    commented: bool,
) -> Score:
    timestamp = submitted.timestamp if submitted else None
    # An extension granted in advance also has rows, but no time, mark or comment. A submission
    # that this package has graded always has comments, some of them empty.
    handed_in = timestamp is not None or commented or any(row.marked for row in grades)
    return Score(
        student=student.id,
        last_name=student.last_name,
        first_name=student.first_name,
        email=student.email,
        platform_id=student.lms_user_id,
        assignment=assignment.name,
        timestamp=timestamp,
        late_seconds=seconds_late(submitted) if submitted else 0.0,
        raw_score=float(sum(row.score for row in grades)),
        late_penalty=penalty,
        max_score=float(assignment.max_score),
        waiting=sum(row.needs_manual_grade for row in grades) if handed_in else 0,
        outdated=tuple(row.name for row in grades if row.needs_manual_grade and row.by_hand),
        handed_in=handed_in,
        points={row.name: row.score if row.marked else None for row in grades},
        by_hand=tuple(row.name for row in grades if row.by_hand),
    )


def course_answers(connection: Connection) -> list[Answer]:
    """Return every exercise and question of the gradebook, in no particular order."""
    return [
        Answer(row.assignment, row.name, float(row.max_score), row.cell_type == "markdown")
        for row in connection.execute(_MAXIMA)
    ]


def marks_above_maximum(connection: Connection) -> list[str]:
    """Return a sentence for each mark by a person that exceeds the answer's current maximum."""
    return [
        f"{row.assignment}: the mark of {printable(row.student)} for {row.name} is "
        f"{row.manual_score:g}, but the release gives at most {row.max_score:g}. The mark counts "
        "unchanged; correct it in the formgrader if it is wrong."
        for row in connection.execute(_ABOVE)
    ]


def people_comments(connection: Connection, student: str) -> list[dict[str, str]]:
    """Return the assignment, the answer and the text of each comment by a person on a student."""
    rows = connection.execute(_BY_PEOPLE.where(api.SubmittedAssignment.student_id == student))
    return [
        {"assignment": row.assignment, "answer": row.answer, "comment": row.comment} for row in rows
    ]


def _of_submissions(notebooks: Select[Any]) -> Select[Any]:
    """Return the query `notebooks`, which has SubmittedNotebook, joined to Assignment."""
    submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    return notebooks.join(submission, notebook.assignment_id == submission.id).join(
        api.Assignment, submission.assignment_id == api.Assignment.id
    )


_STUDENTS = select(
    api.Student.id,
    api.Student.last_name,
    api.Student.first_name,
    api.Student.email,
    api.Student.lms_user_id,
)
_ASSIGNMENTS = select(api.Assignment.name, api.Assignment.max_score.label("max_score"))
_SUBMISSIONS = (
    select(
        api.SubmittedAssignment.student_id.label("student"),
        api.Assignment.name.label("assignment"),
        api.SubmittedAssignment.timestamp,
        api.SubmittedAssignment.extension,
        api.Assignment.duedate,
        api.SubmittedNotebook.late_submission_penalty.label("penalty"),
    )
    .select_from(api.SubmittedAssignment)
    .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
    .outerjoin(
        api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id
    )
)
_COMMENTED = (
    _of_submissions(
        select(api.SubmittedAssignment.student_id, api.Assignment.name)
        .select_from(api.Comment)
        .join(api.SubmittedNotebook, api.Comment.notebook_id == api.SubmittedNotebook.id)
    )
    .where(api.Comment.auto_comment.is_not(None))
    .distinct()
)
_BY_PEOPLE = (
    _of_submissions(
        select(
            api.Assignment.name.label("assignment"),
            api.BaseCell.name.label("answer"),
            api.Comment.manual_comment.label("comment"),
        )
        .select_from(api.Comment)
        .join(api.BaseCell, api.Comment.cell_id == api.BaseCell.id)
        .join(api.SubmittedNotebook, api.Comment.notebook_id == api.SubmittedNotebook.id)
    )
    .where(api.Comment.manual_comment.is_not(None))
    .order_by(api.Assignment.name, api.BaseCell.name)
)
_CELL: Table = api.BaseCell.__table__
_GRADED: Table = api.GradeCell.__table__
_TASK: Table = api.TaskCell.__table__
# A release of this package has one notebook; nbgrader's own may have more.
_NAME = case(
    (api.Notebook.name == api.Assignment.name, _CELL.c.name),
    else_=api.Notebook.name + ": " + _CELL.c.name,
).label("name")
_ANSWERS = _of_submissions(
    select(
        api.SubmittedAssignment.student_id.label("student"),
        api.Assignment.name.label("assignment"),
        _NAME,
    )
    .select_from(api.Grade)
    .join(_CELL, api.Grade.cell_id == _CELL.c.id)
    .outerjoin(_GRADED, _GRADED.c.id == _CELL.c.id)
    .outerjoin(_TASK, _TASK.c.id == _CELL.c.id)
    .join(api.Notebook, _CELL.c.notebook_id == api.Notebook.id)
    .join(api.SubmittedNotebook, api.Grade.notebook_id == api.SubmittedNotebook.id)
)
"""The answers with a row in the table of grades: exercises, questions and nbgrader's tasks."""

_GRADES = _ANSWERS.add_columns(
    api.Grade.score.label("score"),
    api.Grade.needs_manual_grade,
    api.Grade.manual_score.is_not(None).label("by_hand"),
    or_(
        api.Grade.manual_score.is_not(None),
        api.Grade.auto_score.is_not(None),
    ).label("marked"),
).order_by(_CELL.c.type, func.coalesce(_GRADED.c.cell_type, _TASK.c.cell_type), "name")
_MOST = func.coalesce(_GRADED.c.max_score, _TASK.c.max_score)
_MAXIMA = (
    select(
        api.Assignment.name.label("assignment"),
        _NAME,
        _MOST.label("max_score"),
        func.coalesce(_GRADED.c.cell_type, _TASK.c.cell_type).label("cell_type"),
    )
    .select_from(_CELL)
    .join(api.Notebook, _CELL.c.notebook_id == api.Notebook.id)
    .join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
    .outerjoin(_GRADED, _GRADED.c.id == _CELL.c.id)
    .outerjoin(_TASK, _TASK.c.id == _CELL.c.id)
    .where(_MOST.is_not(None))
)
_ABOVE = (
    _ANSWERS.add_columns(_MOST.label("max_score"), api.Grade.manual_score)
    .where(api.Grade.manual_score > _MOST)
    .order_by(api.Assignment.name, api.SubmittedAssignment.student_id, "name")
)
