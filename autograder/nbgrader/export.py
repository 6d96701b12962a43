"""Export grades as CSV: a row for each student and assignment, and a column for each answer."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Dict

from ..course.course import Course
from ..course.files import replace_text
from ..course.plaintext import printable, spreadsheet_text
from .database import GradebookError, explain_errors
from .gradebook import Gradebook as OurGradebook
from .gradebook import check_version
from .penalties import LatePenalties
from .scores import Answer, Score, course_scores
from .term import FILE, Total, term_table, totals

COLUMNS = (
    "student",
    "last_name",
    "first_name",
    "assignment",
    "handed_in",
    "timestamp",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
    "waiting",
    "for_earlier_text",
)
"""The columns before those of the answers. `score` is the raw score minus the late penalty.
`waiting` counts the answers that a person must mark, and `for_earlier_text` counts those of them
that still have the mark of an earlier text."""


class GradesCsv(ExportPlugin):
    """nbgrader's `export` with the points of each exercise and each written answer.

    Every student of the gradebook has a row for every assignment in it. The score of an answer is
    the mark given by hand if there is one, and the grader's otherwise. It is empty if the answer is
    still to be marked, if the assignment does not have it, or if the student did not hand in.
    """

    weights = Dict(
        help="The weight of each assignment in grades-term.csv, by name. If empty, its points."
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write `self.to` (grades.csv by default) for the named students and assignments only."""
        assignments = {str(name) for name in self.assignment}
        students = {str(name) for name in self.student}
        rows = [
            _row(score)
            for score in course_scores(gradebook.db.connection())
            if not assignments or score.assignment in assignments
            if not students or score.student in students
        ]
        answers = dict.fromkeys(name for row in rows for name in row if name not in COLUMNS)
        text = io.StringIO()
        writer = csv.DictWriter(
            text, [*COLUMNS, *answers], restval="", quoting=csv.QUOTE_NONNUMERIC
        )
        writer.writeheader()
        writer.writerows(rows)
        replace_text(Path(self.to or "grades.csv"), text.getvalue())


def _row(score: Score) -> dict[str, object]:
    points: dict[str, object] = {
        f"answer: {name}" if name in COLUMNS else name: "" if value is None else value
        for name, value in score.points.items()
    }
    return {
        "student": spreadsheet_text(score.student),
        "last_name": spreadsheet_text(score.last_name),
        "first_name": spreadsheet_text(score.first_name),
        "assignment": score.assignment,
        "handed_in": "yes" if score.handed_in else "no",
        "timestamp": f"{score.timestamp} UTC" if score.timestamp else "",
        "raw_score": score.raw_score,
        "late_submission_penalty": score.late_penalty,
        "score": score.score,
        "max_score": score.max_score,
        "waiting": score.waiting,
        "for_earlier_text": len(score.outdated),
    } | (points if score.handed_in else {})


@dataclass(frozen=True)
class Grades:
    """The scores and answers of a course or an assignment; `term` is None for an assignment."""

    scores: tuple[Score, ...]
    answers: tuple[Answer, ...]
    term: tuple[Total, ...] | None


def export_csv(course: Course) -> list[Path]:
    """Write COURSE/grades.csv and COURSE/grades-term.csv from the gradebook; return their paths.

    Raises GradebookError if the gradebook cannot be read or has no grades yet.
    """
    path = course.root / "grades.csv"
    with _graded(course) as book:
        plugin = GradesCsv(to=str(path), config=course.nbgrader_config)
        text = term_table(book.scores(), plugin.weights)
        plugin.export(book.nbgrader)
    term = course.root / FILE
    replace_text(term, text)
    return [path, term]


def read_grades(course: Course, assignment: str | None = None) -> Grades:
    """Return what `export_csv` would write, or only the part about an assignment.

    Raises GradebookError as `export_csv` does, and if there is no such assignment.
    """
    with _graded(course) as book:
        names = {str(row.name) for row in book.nbgrader.assignments}
        scores, answers = book.scores(), book.answers()
    if assignment is not None:
        require_assignment(assignment, names)
        names = {assignment}
    weights = GradesCsv(config=course.nbgrader_config).weights
    return Grades(
        scores=tuple(score for score in scores if score.assignment in names),
        answers=tuple(
            sorted(
                (answer for answer in answers if answer.assignment in names),
                key=lambda answer: (answer.assignment, answer.name),
            )
        ),
        term=tuple(totals(scores, weights)) if assignment is None else None,
    )


def require_assignment(assignment: str, names: Collection[str]) -> None:
    """Raise GradebookError if `assignment` is not among the `names` of a gradebook."""
    if assignment not in names:
        raise GradebookError(
            f"{printable(assignment)}: the gradebook has no such assignment. It has: "
            f"{', '.join(sorted(names))}."
        )


@contextmanager
def _graded(course: Course) -> Iterator[OurGradebook]:
    """Open the gradebook, with the late penalties of now. Raises GradebookError if it is empty."""
    url = course.gradebook_url
    nothing = (
        f"{course.root}: nothing is graded yet. "
        f"Run `autograder grade --course {course.root}` first."
    )
    if not check_version(url):
        raise GradebookError(nothing)
    penalties = LatePenalties(course.nbgrader_config, course.root)
    with explain_errors(url), OurGradebook(url) as book:
        if not book.nbgrader.assignments:
            raise GradebookError(nothing)
        book.assign_penalties(penalties)
        yield book
