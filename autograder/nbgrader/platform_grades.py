"""Export the grades of the gradebook as files that Canvas and Moodle import."""

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
from .export import require_assignment
from .gradebook import Gradebook
from .penalties import LatePenalties
from .scores import Score


@dataclass(frozen=True)
class Exported:
    """A file of grades, and notes for the person who imports it."""

    path: Path
    notes: tuple[str, ...]


def export_for(
    course: Course, platform: str, assignment: str | None = None, worksheet: Path | None = None
) -> Exported:
    """Write the grades of all assignments, or of `assignment`, for "canvas" or "moodle".

    With a grading `worksheet` from Moodle, the file is the worksheet with the grades. Raises
    GradebookError if there are no grades or no such assignment, and WorksheetError.
    """
    scores = _scores(course, assignment)
    grades = [_grade(score) for score in scores]
    places = read_places(course)
    if worksheet is not None:
        sheet = read_worksheet(printable(str(worksheet)), worksheet.read_bytes())
        in_moodle = _places_on("moodle", places)
        grade_file = fill_worksheet(sheet, grades, in_moodle.get(str(assignment), {}))
    elif platform == "canvas":
        grade_file = for_canvas(grades, _canvas_ids(places))
    else:
        grade_file = for_moodle(grades)
    suffix = f"-{assignment}" if assignment else ""
    path = course.root / f"grades-{platform}{suffix}.csv"
    replace_text(path, _csv(grade_file))
    return Exported(path, (*grade_file.notes, *_waiting_notes(scores), *_outdated_notes(scores)))


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
    if assignment is not None:
        require_assignment(assignment, names)
    return [score for score in scores if assignment in (None, score.assignment)]


def _grade(score: Score) -> Grade:
    student = Student(
        score.student, score.first_name, score.last_name, score.email, score.platform_id
    )
    points = score.score if score.handed_in else None
    return Grade(student, score.assignment, points, score.max_score)


def _canvas_ids(places: Places) -> dict[str, str]:
    """Return Canvas's ids of the students whose submissions were collected from Canvas."""
    return {
        student: place.id
        for students in _places_on("canvas", places).values()
        for student, place in students.items()
        if place.id is not None
    }


def _places_on(platform: str, places: Places) -> Places:
    return {
        assignment: {name: place for name, place in students.items() if place.platform == platform}
        for assignment, students in places.items()
    }


def _waiting_notes(scores: Sequence[Score]) -> list[str]:
    """Return a note if answers without a mark are still to be marked by a person."""
    unmarked = [score for score in scores if score.waiting > len(score.outdated)]
    answers = sum(score.waiting - len(score.outdated) for score in unmarked)
    if not answers:
        return []
    students = len({score.student for score in unmarked})
    return [
        f"{answers} {'answer' if answers == 1 else 'answers'} of {students} "
        f"{'student' if students == 1 else 'students'} must still be marked by a person. Their "
        "points are not in the grades yet."
    ]


def _outdated_notes(scores: Sequence[Score]) -> list[str]:
    """Return a note if marks that a person gave for an earlier text still count."""
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
        [_escape(cell) for cell in row] for row in file.table
    )
    return text.getvalue()


def _escape(cell: Cell) -> Cell:
    """Return a cell that spreadsheet programs do not interpret as a formula."""
    return (
        spreadsheet_text(cell) if isinstance(cell, str) and not isinstance(cell, Verbatim) else cell
    )
