"""Collect an archive into the course: make the plan, and write it file by file.

The caller shows the plan in between. Each file is replaced atomically. Before a submission is
replaced, it is copied, with its time, to
`submitted-before/<student>/<assignment>/<time of collecting>/`, so that nothing is lost. To finish
a run that was killed, run it again: files that were already written are recognised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..course.course import Course
from ..course.files import read_start, replace_bytes, replace_text
from ..course.plaintext import printable
from .archive import LARGEST_FILE, Archive
from .matching import Student
from .plan import WRITTEN, Action, CollectError, Plan, Row, make_plan, place
from .recognising import cell_ids, read_contents
from .remembered import Place, Places, read_places, students_without_roster, write_places
from .times import as_timestamp
from .worksheet import Worksheet, read_worksheet

BEFORE = "submitted-before"
"""The folder in the course for replaced submissions."""


def plan_of(
    course: Course,
    archive: Archive,
    students: Sequence[Student],
    assignment: str | None = None,
    worksheet: Path | None = None,
    now: datetime | None = None,
) -> Plan:
    """Return what collecting `archive` would do, without writing anything.

    `students` are the students in the gradebook. Grading also enters students who were collected
    without a roster, under their ids on the platform; these do not count as a roster. Raises
    CollectError and ArchiveError, and WorksheetError for a `worksheet` that cannot be used.
    """
    answer_cells = _answer_cells(course)
    if assignment is not None and assignment not in answer_cells:
        raise CollectError(
            f"{assignment}: no assignment of this name is released. Released: "
            f"{', '.join(answer_cells)}."
        )
    without_roster = students_without_roster(read_places(course))
    roster = [student for student in students if student.id not in without_roster]
    contents = read_contents(archive, list(answer_cells), _worksheet(worksheet))
    if worksheet is not None and contents.platform != "moodle":
        raise CollectError(
            f"{printable(str(archive.path))}: not a Moodle archive, so --worksheet does not "
            "apply. Omit --worksheet."
        )
    now = now or datetime.now(UTC).replace(tzinfo=None)
    return make_plan(course, archive, contents, roster, answer_cells, assignment, now)


def collect(course: Course, archive: Archive, plan: Plan, now: datetime | None = None) -> int:
    """Carry out `plan`, and return the number of submissions that were written."""
    now = now or datetime.now(UTC).replace(tzinfo=None)
    for row in plan.written:
        _write(course, archive, row, now)
    write_places(course, _places(course, plan))
    return len(plan.written)


def is_done(course: Course, plan: Plan) -> bool:
    """Return True if the course has all that `plan` would write."""
    return not plan.written and _places(course, plan) == read_places(course)


def _places(course: Course, plan: Plan) -> Places:
    """Return the places of all submissions, as the course records them after `plan`."""
    places = {name: dict(students) for name, students in read_places(course).items()}
    for row in plan.rows:
        if row.action in (*WRITTEN, Action.SAME) and row.student and row.assignment:
            upload = row.upload
            number = next(iter(upload.person.ids), None)
            new = Place(plan.contents.platform, upload.place, number, not plan.roster)
            places.setdefault(row.assignment, {})[row.student] = new
    return places


def _write(course: Course, archive: Archive, row: Row, now: datetime) -> None:
    """Write a submission to the course. Its time is never next to another version's notebook."""
    data = archive.read(row.upload.path)
    if hashlib.sha256(data).hexdigest() != row.digest:
        raise CollectError(
            f"{printable(str(archive.path))}: {printable(row.upload.path)} has changed since the "
            "table was made. Run the same command again."
        )
    path = place(course, str(row.student), str(row.assignment)).path
    timestamp = path.with_name("timestamp.txt")
    if row.action == Action.REPLACES:
        _back_up(course, row, path, now)
        with suppress(FileNotFoundError):
            timestamp.unlink()
    replace_bytes(path, data)
    if row.upload.time is not None:
        replace_text(timestamp, f"{as_timestamp(row.upload.time)}\n")


def _back_up(course: Course, row: Row, path: Path, now: datetime) -> None:
    """Copy the current submission and its time to the folder for replaced submissions."""
    parent = course.root / BEFORE / str(row.student) / str(row.assignment)
    name = f"{now:%Y-%m-%d %H-%M-%S} UTC"
    folder = next(
        folder
        for number in range(1000)
        if not (folder := parent / (f"{name} {number}" if number else name)).exists()
    )
    for file in (path, path.with_name("timestamp.txt")):
        with suppress(FileNotFoundError):
            replace_bytes(folder / file.name, read_start(file, LARGEST_FILE))


def _worksheet(path: Path | None) -> Worksheet | None:
    return None if path is None else read_worksheet(printable(str(path)), path.read_bytes())


def _answer_cells(course: Course) -> dict[str, frozenset[str]]:
    """Return the ids of the answer cells of every released assignment."""
    cells = {}
    for path in sorted(course.release.glob("*/*.ipynb")):
        if path.stem == path.parent.name and (ids := cell_ids(path.read_bytes(), answers=True)):
            cells[path.stem] = ids
    if not cells:
        raise CollectError(
            f"{course.release}: nothing is released, so no notebook can be recognised. "
            f"Run `autograder release --course {course.root}` first."
        )
    return cells
