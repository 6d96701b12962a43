"""Make the files of grades that Canvas and Moodle import.

*Canvas* (Grades > Import): the columns `Student`, `ID`, `SIS User ID`, `SIS Login ID` and
`Section`, then one for each assignment, and below the header the row of points possible. Canvas
finds a student by Canvas's own id, then by login, then by name, and an assignment by `Title (id)`
or by title. It reads an empty cell as "no grade": an existing grade is cleared, which the preview
shows. https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_importer.rb

*Moodle* (Grades > Import > CSV file): the person who imports chooses the column that identifies
students (user name, ID number or e-mail address), and maps columns to grade items. If a row does
not find its student, nothing is imported. Moodle's sign for "no grade" is `-`: if a column becomes
a new grade item, an empty cell is stored as 0.
https://github.com/moodle/moodle/blob/main/public/grade/import/csv/classes/load_data.php

*Moodle's grading worksheet* (Upload grading worksheet): the file as it was downloaded, with the
column `Grade` filled in. Moodle skips empty grades, grades above the maximum, and grades of
participants who were graded since the download.
https://github.com/moodle/moodle/blob/main/public/mod/assign/feedback/offline/locallib.php

Students who handed in nothing get no grade, because a 0 would count in totals and be visible to
the student.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..course.plaintext import first_few
from .matching import Student, match
from .remembered import Place
from .uploads import Person
from .worksheet import GRADE, IDENTIFIER, MAXIMUM, MODIFIED, Worksheet, number_of

CANVAS_HEAD = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_HEAD = ("Username", "ID number", "Email address", "First name", "Last name")
POINTS_POSSIBLE = "    Points Possible"
NO_GRADE = "-"

DIGITS = 4
"""The number of decimals of a grade."""

VERBATIM_COLUMNS = (
    *(IDENTIFIER, GRADE, MODIFIED, *MAXIMUM),
    *("Last modified (grade)", "Grade can be changed", "Status", "Feedback comments"),
)
"""The columns that stay verbatim: Moodle's import reads them, or students cannot write to them."""


class Verbatim(str):
    """A text that is written to a cell unescaped, since no student can have written it."""


Cell = str | float
Table = list[list[Cell]]


@dataclass(frozen=True)
class Grade:
    """A student's grade for an assignment; `score` is None if nothing was handed in."""

    student: Student
    assignment: str
    score: float | None
    max_score: float


@dataclass(frozen=True)
class GradeFile:
    """The cells of a file, and notes for the person who imports it."""

    table: Table
    notes: tuple[str, ...] = ()


def for_canvas(grades: Sequence[Grade], ids: Mapping[str, str]) -> GradeFile:
    """Return the file for Canvas; `ids` maps students to Canvas's own ids, as far as known."""
    assignments = _assignments(grades)
    points: list[Cell] = [Verbatim(POINTS_POSSIBLE), "", "", "", ""]
    table: Table = [
        [*map(Verbatim, CANVAS_HEAD), *assignments],
        [*points, *assignments.values()],
    ]
    unknown = []
    for student, cells in _rows(grades, assignments, Verbatim("")):
        number = student.platform_id or ids.get(student.id)
        if number is None:
            unknown.append(student.id)
        login = "" if number else student.id
        table.append([_sortable(student), number or "", "", login, "", *cells])
    note = (
        f"The Canvas id is unknown for {first_few(unknown)}, so Canvas looks for them by login or "
        "name, and asks if it does not find them."
    )
    return GradeFile(table, (note,) if unknown else ())


def for_moodle(grades: Sequence[Grade]) -> GradeFile:
    """Return the file for Moodle's import of grades."""
    assignments = _assignments(grades)
    table: Table = [[*map(Verbatim, MOODLE_HEAD), *assignments]]
    no_email = []
    for student, cells in _rows(grades, assignments, Verbatim(NO_GRADE)):
        identity = (student.platform_id, student.email, student.first_name, student.last_name)
        table.append([student.id, *(value or "" for value in identity), *cells])
        if not student.email:
            no_email.append(student.id)
    note = (
        f"The e-mail address is unknown for {first_few(no_email)}. Map another column in Moodle, "
        "because the import stops if a student is not found."
    )
    return GradeFile(table, (note,) if no_email else ())


def fill_worksheet(
    worksheet: Worksheet, grades: Sequence[Grade], places: Mapping[str, Place]
) -> GradeFile:
    """Return `worksheet` with the grades of an assignment.

    `places` maps students to the places from which their submissions were collected, which contain
    participants' numbers. Other participants are matched by id, e-mail address and name.
    """
    by_number = {_participant(place): student for student, place in places.items()}
    scores = {grade.student.id: grade for grade in grades}
    roster = [grade.student for grade in grades]
    table: Table = [[Verbatim(name) for name in worksheet.columns]]
    unknown, filled = [], set()
    participants = worksheet.participants
    for row in worksheet.rows:
        number = number_of(row)
        participant = participants[number]
        person = Person(participant.ids, participant.email, participant.name or None)
        student = by_number.get(number) or match(person, roster).student
        grade = scores.get(student or "")
        cells = dict(row)
        if grade is None:
            unknown.append(row[IDENTIFIER])
        elif grade.score is not None:
            cells[GRADE] = f"{_rounded(grade.score):g}"
            filled.add(grade.student.id)
        table.append(
            [Verbatim(text) if name in VERBATIM_COLUMNS else text for name, text in cells.items()]
        )
    missing = [
        name for name, grade in scores.items() if grade.score is not None and name not in filled
    ]
    notes = [
        f"The gradebook has no student for {first_few(unknown)} in the worksheet. Their rows are "
        "unchanged.",
        f"The worksheet has no row for {first_few(missing)}. Enter their grades by hand.",
    ]
    notes = [note for note, names in zip(notes, (unknown, missing), strict=True) if names]
    return GradeFile(table, (*notes, *_other_maximum(worksheet, grades)))


def _other_maximum(worksheet: Worksheet, grades: Sequence[Grade]) -> list[str]:
    """Return a sentence if Moodle's maximum differs from that of the assignment."""
    names = [name for name in MAXIMUM if name in worksheet.columns]
    in_moodle = {
        row[name].replace(",", ".") for row in worksheet.rows for name in names if row[name]
    }
    in_course = {grade.max_score for grade in grades}
    if all(_number(maximum) in in_course for maximum in in_moodle):
        return []
    return [
        f"The maximum in Moodle is {', '.join(sorted(in_moodle))}, but here it is "
        f"{', '.join(f'{maximum:g}' for maximum in sorted(in_course))}, and Moodle does not "
        "convert points. Set the maximum grade of the assignment in Moodle first."
    ]


def _assignments(grades: Sequence[Grade]) -> dict[str, float]:
    return {grade.assignment: grade.max_score for grade in grades}


def _rows(
    grades: Sequence[Grade], assignments: Mapping[str, float], empty: Verbatim
) -> list[tuple[Student, list[Cell]]]:
    """Return the students, each with a cell for every assignment."""
    students = {grade.student.id: grade.student for grade in grades}
    scores = {(grade.student.id, grade.assignment): grade.score for grade in grades}
    return [
        (student, [_cell(scores.get((student.id, name)), empty) for name in assignments])
        for student in students.values()
    ]


def _cell(score: float | None, empty: Verbatim) -> Cell:
    return empty if score is None else _rounded(score)


def _rounded(score: float) -> float:
    return round(score, DIGITS)


def _sortable(student: Student) -> str:
    names = list(filter(None, (student.last_name, student.first_name)))
    return ", ".join(names) or student.id


def _participant(place: Place) -> str:
    """Return the participant's number in the name of a folder or file of Moodle's archive."""
    return place.place.split("_")[1] if place.place.count("_") > 1 else ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
