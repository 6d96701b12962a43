"""The grades of the gradebook as files that Canvas and Moodle import."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..course.course import Course
from ..course.files import replace_text
from ..course.plaintext import first_few, printable, spreadsheet_text
from ..platforms.grades import (
    Cell,
    Grade,
    GradeFile,
    Verbatim,
    fill_worksheet,
    for_canvas,
    for_moodle,
)
from ..platforms.matching import Student
from ..platforms.remembered import Places, read_places
from ..platforms.worksheet import read_worksheet
from .database import GradebookError, explain_errors
from .gradebook import Gradebook
from .penalties import LatePenalties
from .scores import Score


@dataclass(frozen=True)
class Exported:
    """A file of grades, and sentences on what the person who imports it must know."""

    path: Path
    notes: tuple[str, ...]


def export_for(
    course: Course, platform: str, assignment: str | None = None, worksheet: Path | None = None
) -> Exported:
    """Write the grades for `platform`, "canvas" or "moodle", of all assignments or of one.

    With a `worksheet` of Moodle's, the file is that worksheet, filled in. Raises GradebookError if
    nothing is graded or there is no such assignment, and WorksheetError.
    """
    scores = _scores(course, assignment)
    grades = [_grade(score) for score in scores]
    places = read_places(course)
    if worksheet is not None:
        sheet = read_worksheet(printable(str(worksheet)), worksheet.read_bytes())
        made = fill_worksheet(sheet, grades, _of(places, "moodle").get(str(assignment), {}))
    elif platform == "canvas":
        made = for_canvas(grades, _ids(places))
    else:
        made = for_moodle(grades)
    suffix = f"-{assignment}" if assignment else ""
    path = course.root / f"grades-{platform}{suffix}.csv"
    replace_text(path, _csv(made))
    return Exported(path, (*made.notes, *_waiting(scores), *_outdated(scores)))


def _scores(course: Course, assignment: str | None) -> list[Score]:
    penalties = LatePenalties(course.nbgrader_config, course.root)
    with explain_errors(course.gradebook_url), Gradebook(course.gradebook_url) as book:
        book.assign_penalties(penalties)
        scores = book.scores()
    if not scores:
        raise GradebookError(
            f"{course.root}: nothing is graded yet. "
            f"Run `autograder grade --course {course.root}` first."
        )
    names = sorted({score.assignment for score in scores})
    if assignment is not None and assignment not in names:
        raise GradebookError(
            f"{assignment}: the gradebook has no such assignment. It has: {', '.join(names)}."
        )
    return [score for score in scores if assignment in (None, score.assignment)]


def _grade(score: Score) -> Grade:
    student = Student(
        score.student, score.first_name, score.last_name, score.email, score.platform_id
    )
    points = score.score if score.handed_in else None
    return Grade(student, score.assignment, points, score.max_score)


def _ids(places: Places) -> dict[str, str]:
    """Canvas's own ids of the students who were collected from there."""
    return {
        student: place.id
        for students in _of(places, "canvas").values()
        for student, place in students.items()
        if place.id is not None
    }


def _of(places: Places, platform: str) -> Places:
    return {
        assignment: {name: place for name, place in students.items() if place.platform == platform}
        for assignment, students in places.items()
    }


def _waiting(scores: Sequence[Score]) -> list[str]:
    """A sentence if answers wait for a person."""
    without = [score for score in scores if score.waiting > len(score.outdated)]
    answers = sum(score.waiting - len(score.outdated) for score in without)
    if not answers:
        return []
    students = len({score.student for score in without})
    return [
        f"{answers} {'answer waits' if answers == 1 else 'answers wait'} for a person, of "
        f"{students} {'student' if students == 1 else 'students'}. Their points are not in the "
        "grades yet."
    ]


def _outdated(scores: Sequence[Score]) -> list[str]:
    """A sentence if marks that a person gave for an earlier text still count."""
    names = [f"{score.student} ({score.assignment})" for score in scores if score.outdated]
    if not names:
        return []
    return [
        f"A mark for an earlier text still counts for {first_few(names)}. Mark the new texts, then "
        "export again."
    ]


def _csv(file: GradeFile) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerows(
        [_safe(cell) for cell in row] for row in file.table
    )
    return text.getvalue()


def _safe(cell: Cell) -> Cell:
    """A cell in which no spreadsheet finds a formula."""
    return (
        spreadsheet_text(cell) if isinstance(cell, str) and not isinstance(cell, Verbatim) else cell
    )
