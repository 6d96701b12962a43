"""Grades as CSV: one row for each student and assignment, one column for each answer."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.plugins import ExportPlugin

from ..course.course import Course
from ..course.files import replace_text
from ..course.plaintext import printable
from .database import GradebookError, explained
from .gradebook import Gradebook as OurGradebook

COLUMNS = ("student", "last_name", "first_name", "assignment", "score", "max_score", "waiting")
"""The columns before those of the answers. `waiting` counts the answers that a person must mark."""


class GradesCsv(ExportPlugin):
    """nbgrader's `export` with the points of each exercise and each written answer.

    The score of an answer is the person's mark where there is one, else the grader's; it is empty
    while the answer waits for a person, and where the assignment does not ask it.
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write `self.to` (grades.csv by default), of the named students and assignments only."""
        only = {str(name) for name in self.assignment}, {str(name) for name in self.student}
        rows = []
        for assignment in gradebook.assignments:
            for submission in assignment.submissions:
                names = assignment.name, submission.student.id
                if all(not some or name in some for name, some in zip(names, only, strict=True)):
                    rows.append(_row(submission))
        rows.sort(key=lambda row: (row["assignment"], row["student"]))
        answers = dict.fromkeys(name for row in rows for name in row if name not in COLUMNS)
        text = io.StringIO()
        writer = csv.DictWriter(
            text, [*COLUMNS, *answers], restval="", quoting=csv.QUOTE_NONNUMERIC
        )
        writer.writeheader()
        writer.writerows(rows)
        replace_text(Path(self.to or "grades.csv"), text.getvalue())


def _row(submission: SubmittedAssignment) -> dict[str, object]:
    student = submission.student
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    row: dict[str, object] = {
        "student": _text(student.id),
        "last_name": _text(student.last_name),
        "first_name": _text(student.first_name),
        "assignment": submission.assignment.name,
        "score": submission.score,
        "max_score": submission.max_score,
        "waiting": sum(grade.needs_manual_grade for grade in grades),
    }
    for grade in sorted(grades, key=lambda grade: (grade.cell.cell_type, grade.cell.name)):
        marked = grade.manual_score is not None or grade.auto_score is not None
        row[grade.cell.name] = grade.score if marked else ""
    return row


FORMULA = re.compile(r"""(?:^|[;,|"'])[\s']*(?=[=+@\u2212\uff1d\uff0b\uff0d\uff20-])""")
"""Where a spreadsheet may begin a formula: in front of a sign, at the start or after a separator.
Blanks between count for nothing: some spreadsheets drop them.

Which separator a spreadsheet goes by depends on the country, and it may be none of a CSV's.
"""


def _text(value: str | None) -> str:
    """`value` so that no spreadsheet takes any of it for a formula; no two values become one."""
    return FORMULA.sub(lambda found: f"{found[0]}'", printable(value or ""))


def export_csv(course: Course) -> Path:
    """Write COURSE/grades.csv from the gradebook, and return its path.

    Raises GradebookError if the gradebook cannot be read or holds nothing yet.
    """
    path = course.root / "grades.csv"
    with explained(course.gradebook_url), OurGradebook(course.gradebook_url) as book:
        if not book.nbgrader.assignments:
            raise GradebookError(
                f"{course.root}: nothing is graded yet. "
                f"Run `autograder grade --course {course.root}` first."
            )
        GradesCsv(to=str(path)).export(book.nbgrader)
    return path
