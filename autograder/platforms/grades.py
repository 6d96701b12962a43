"""Grades as Canvas and Moodle import them.

*Canvas* (Grades > Import): the columns `Student`, `ID`, `SIS User ID`, `SIS Login ID` and
`Section`, then one for each assignment, and below the head the row of points possible. Canvas looks
for a student by its own id, then by login, then by name; for an assignment by `Title (id)` or by
title. It reads an empty cell as "no grade", and a grade that it already has there is cleared, which
its preview shows. https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_importer.rb

*Moodle* (Grades > Import > CSV file): the person who imports maps a column to how students are
found (user name, ID number or e-mail address), and columns to grade items. Each row must find its
student, or nothing is imported. Moodle's sign for "no grade" is `-`: where a column becomes a new
grade item, an empty cell is stored as 0.
https://github.com/moodle/moodle/blob/main/public/grade/import/csv/classes/load_data.php

*Moodle's grading worksheet* (Upload grading worksheet): the file as it was downloaded, with the
column `Grade` filled in. An empty grade, one that is larger than the maximum, and one of a
participant who was graded since the download are skipped.
https://github.com/moodle/moodle/blob/main/public/mod/assign/feedback/offline/locallib.php

A 0 for a student who handed in nothing would be a grade like any other: it would count in totals,
and the student would see it.
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
"""Decimals of a grade."""

KEPT = (
    *(IDENTIFIER, GRADE, MODIFIED, *MAXIMUM),
    *("Last modified (grade)", "Grade can be changed", "Status", "Feedback comments"),
)
"""The columns of a worksheet that Moodle's import reads or that only Moodle and teachers write."""


class Verbatim(str):
    """A text that goes into a cell unchanged, since no student can have written it."""


Cell = str | float
Table = list[list[Cell]]


@dataclass(frozen=True)
class Grade:
    """What one student has for one assignment; `score` is None if nothing was handed in."""

    student: Student
    assignment: str
    score: float | None
    max_score: float


@dataclass(frozen=True)
class GradeFile:
    """The cells of a file, and sentences on what the person who imports it must know."""

    table: Table
    notes: tuple[str, ...] = ()


def for_canvas(grades: Sequence[Grade], ids: Mapping[str, str]) -> GradeFile:
    """Return the file for Canvas; `ids` are Canvas's own ids by student, where they are known."""
    assignments = _assignments(grades)
    points: list[Cell] = [Verbatim(POINTS_POSSIBLE), "", "", "", ""]
    table: Table = [
        [*map(Verbatim, CANVAS_HEAD), *assignments],
        [*points, *assignments.values()],
    ]
    unknown = []
    for student, cells in _rows(grades, assignments, Verbatim("")):
        own = student.platform_id or ids.get(student.id)
        if own is None:
            unknown.append(student.id)
        table.append([_sortable(student), own or "", "", "" if own else student.id, "", *cells])
    note = (
        f"Canvas's id is not known of {first_few(unknown)}, so Canvas looks for them by login or "
        "name, and asks where it finds nobody."
    )
    return GradeFile(table, (note,) if unknown else ())


def for_moodle(grades: Sequence[Grade]) -> GradeFile:
    """Return the file for Moodle's import of grades."""
    assignments = _assignments(grades)
    table: Table = [[*map(Verbatim, MOODLE_HEAD), *assignments]]
    no_email = []
    for student, cells in _rows(grades, assignments, Verbatim(NO_GRADE)):
        known = (student.platform_id, student.email, student.first_name, student.last_name)
        table.append([student.id, *(value or "" for value in known), *cells])
        if not student.email:
            no_email.append(student.id)
    note = (
        f"No e-mail address is known of {first_few(no_email)}: map another column in Moodle, since "
        "one student who is not found stops the import."
    )
    return GradeFile(table, (note,) if no_email else ())


def fill_worksheet(
    worksheet: Worksheet, grades: Sequence[Grade], places: Mapping[str, Place]
) -> GradeFile:
    """Return `worksheet` with the grades of one assignment.

    `places` are those from which its submissions were collected: they have the participants'
    numbers. Who is not among them is looked for by id, e-mail address and name.
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
        table.append([Verbatim(text) if name in KEPT else text for name, text in cells.items()])
    missing = [
        name for name, grade in scores.items() if grade.score is not None and name not in filled
    ]
    notes = [
        f"Nobody in the gradebook is {first_few(unknown)} of the worksheet. Those rows stay as "
        "they are.",
        f"No row of the worksheet is of {first_few(missing)}. Enter their grades by hand.",
    ]
    notes = [note for note, names in zip(notes, (unknown, missing), strict=True) if names]
    return GradeFile(table, (*notes, *_other_maximum(worksheet, grades)))


def _other_maximum(worksheet: Worksheet, grades: Sequence[Grade]) -> list[str]:
    """Return a sentence if Moodle's maximum differs from that of the assignment."""
    names = [name for name in MAXIMUM if name in worksheet.columns]
    theirs = {row[name].replace(",", ".") for row in worksheet.rows for name in names if row[name]}
    ours = {grade.max_score for grade in grades}
    if all(_number(maximum) in ours for maximum in theirs):
        return []
    return [
        f"The maximum in Moodle is {', '.join(sorted(theirs))}, and here it is "
        f"{', '.join(f'{maximum:g}' for maximum in sorted(ours))}: Moodle does not convert points. "
        "Set the maximum grade of the assignment in Moodle first."
    ]


def _assignments(grades: Sequence[Grade]) -> dict[str, float]:
    return {grade.assignment: grade.max_score for grade in grades}


def _rows(
    grades: Sequence[Grade], assignments: Mapping[str, float], empty: Verbatim
) -> list[tuple[Student, list[Cell]]]:
    """Return each student with a cell for each assignment."""
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
