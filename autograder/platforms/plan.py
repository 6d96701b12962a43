"""Decide for each upload whether and where it is written, before anything is written."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from ..course.course import LONGEST_NAME, Course, SubmissionFile
from ..course.files import read_start
from ..course.plaintext import printable
from ..course.times import submission_time
from .archive import LARGEST_FILE, Archive
from .matching import Match, Student, match, without_roster
from .recognising import cell_ids, guess
from .times import as_timestamp
from .uploads import Contents, Upload


class Action(StrEnum):
    """The decision on an upload, in the words that the table shows."""

    NEW = "new"
    REPLACES = "replaces the version in the course, which is backed up"
    SAME = "is in the course already"
    OLDER = "earlier version"
    NOT = "not collected"


SEVERAL = "the submission has several notebooks of this assignment, and none has its name"
WRITTEN = (Action.NEW, Action.REPLACES)


class CollectError(Exception):
    """Raised if an archive cannot be collected; the message says why, where and what to do."""


@dataclass(frozen=True)
class Row:
    """An upload, the student and the assignment that it belongs to, and why. `notes` are sentences.

    `to_add` is True if adding an entry to the roster would be enough.
    """

    upload: Upload
    action: Action
    student: str | None = None
    why: str = ""
    assignment: str | None = None
    digest: str = ""
    notes: tuple[str, ...] = ()
    to_add: bool = False


@dataclass(frozen=True)
class Plan:
    """The decisions on all uploads. `roster` is False if students get the platform's ids."""

    contents: Contents
    rows: tuple[Row, ...]
    roster: bool

    @property
    def written(self) -> tuple[Row, ...]:
        """The rows that change a file."""
        return tuple(row for row in self.rows if row.action in WRITTEN)


@dataclass
class _Planner:
    course: Course
    archive: Archive
    roster: Sequence[Student]
    answer_cells: Mapping[str, Collection[str]]
    assignment: str | None
    now: datetime
    of_this_course: set[str] = field(default_factory=set)

    def row(self, upload: Upload) -> Row:
        """Return the row of a single upload, with its student and its assignment."""
        if self.archive.sizes[upload.path] > LARGEST_FILE:
            return _refuse(upload, f"it is larger than {LARGEST_FILE // 2**20} MiB")
        data = self.archive.read(upload.path)
        digest = hashlib.sha256(data).hexdigest()
        cells = cell_ids(data)
        notebook = guess(cells, upload.file, self.answer_cells)
        if cells is None:
            of_this_course = notebook.assignment is not None
        else:
            of_this_course = any(cells & set(ids) for ids in self.answer_cells.values())
        if of_this_course:
            self.of_this_course.add(upload.path)
        if notebook.assignment is None:
            return _refuse(upload, notebook.why)
        if self.assignment not in (None, notebook.assignment):
            return _refuse(upload, f"it belongs to {notebook.assignment}")
        if upload.refused:
            return _refuse(upload, upload.refused, notebook.assignment)
        matched = (
            match(upload.person, self.roster) if self.roster else without_roster(upload.person)
        )
        if matched.student is None:
            row = _refuse(upload, matched.why, notebook.assignment)
            return replace(row, to_add=matched.to_add)
        if reason := _unusable(matched.student):
            return _refuse(upload, reason, notebook.assignment)
        notes = tuple(note for note in (notebook.why, self._future(upload)) if note)
        return self._compare_with_course(upload, matched, notebook.assignment, digest, notes)

    def _future(self, upload: Upload) -> str:
        return "its time is in the future" if upload.time and upload.time > self.now else ""

    def _compare_with_course(
        self, upload: Upload, matched: Match, assignment: str, digest: str, notes: tuple[str, ...]
    ) -> Row:
        """Return the row after a comparison with the student's submission in the course, if any."""
        student = str(matched.student)
        path = place(self.course, student, assignment).path
        row = Row(upload, Action.NEW, student, matched.why, assignment, digest, notes)
        if any(os.path.islink(part) for part in (path, *list(path.parents)[:2])):
            return replace(
                row, action=Action.NOT, notes=(f"{path} is a link or in a linked folder",)
            )
        if not os.path.lexists(path):
            return row
        current = hashlib.sha256(read_start(path, LARGEST_FILE)).hexdigest()
        time = time_of(path.parent)
        if current == digest and (upload.time is None or time == upload.time):
            return replace(row, action=Action.SAME)
        if time is not None and upload.time is not None and time > upload.time:
            newer = f"the course has a newer version, from {as_timestamp(time)}"
            return replace(row, action=Action.NOT, notes=(*notes, newer))
        if current == digest:
            row = replace(row, notes=(*notes, "the same notebook, with another time"))
        elif time is not None and upload.time is None:
            note = f"it counts as on time; the version in the course is from {as_timestamp(time)}"
            row = replace(row, notes=(*notes, note))
        return replace(row, action=Action.REPLACES)


def make_plan(
    course: Course,
    archive: Archive,
    contents: Contents,
    roster: Sequence[Student],
    answer_cells: Mapping[str, Collection[str]],
    assignment: str | None,
    now: datetime,
) -> Plan:
    """Return what to do with each upload, without writing anything.

    `answer_cells` has the ids of answer cells by assignment. `assignment` is the assignment to
    collect, or None for all. Raises CollectError for an archive without notebooks of this course,
    or with several versions of a submission and no indication which is newer.
    """
    planner = _Planner(course, archive, roster, answer_cells, assignment, now)
    rows = [planner.row(upload) for upload in contents.uploads]
    source = printable(str(archive.path))
    if not contents.uploads:
        raise CollectError(f"{source}: it has no notebook. Nothing was collected.")
    if not planner.of_this_course:
        raise CollectError(
            f"{source}: none of its notebooks has a cell of this course, so it is from another "
            f"course. Nothing was collected. Released here: {', '.join(answer_cells)}."
        )
    if assignment is not None and assignment not in {row.assignment for row in rows}:
        raise CollectError(
            f"{source}: none of its notebooks belongs to {assignment}. Nothing was collected. Omit "
            "--assignment to recognise the assignment from the notebooks."
        )
    return Plan(contents, tuple(_newest(source, _refuse_collisions(rows))), bool(roster))


def place(course: Course, student: str, assignment: str) -> SubmissionFile:
    """Return the path of a submission in the course."""
    path = course.submitted / student / assignment / f"{assignment}.ipynb"
    return SubmissionFile(student, assignment, path)


def time_of(folder: Path) -> datetime | None:
    """Return the time in a submission's timestamp.txt, or None if it cannot be read."""
    try:
        return submission_time(folder)
    except ValueError:
        return None


def _refuse(upload: Upload, why: str, assignment: str | None = None) -> Row:
    return Row(upload, Action.NOT, assignment=assignment, notes=(why,))


def _unusable(student: str) -> str:
    """Return why a student's id cannot be the name of a folder; empty if it can."""
    has_special = any(char in '/<>&"*?[]\\' or printable(char) != char for char in student)
    if has_special or student.startswith(".") or student != student.strip():
        return f"the id {student} cannot be the name of a folder"
    if len(student.encode()) > LONGEST_NAME - 4:
        return f"the id {student} is too long"
    if unicodedata.normalize("NFC", student) != student:
        return f"the id {student} is written with combining characters"
    return ""


def _refuse_collisions(rows: Sequence[Row]) -> list[Row]:
    """Return the rows; refuse those in which two people would become the same student."""
    people: dict[str, set[str]] = {}
    for row in rows:
        if row.student is not None:
            person = row.upload.person
            people.setdefault(row.student, set()).add(next(iter(person.ids), row.upload.place))
    return [
        replace(row, action=Action.NOT, notes=(f"two people would become {row.student}",))
        if row.student is not None and len(people[row.student]) > 1
        else row
        for row in rows
    ]


def _newest(source: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows; write only the newest upload of each student and assignment."""
    groups: dict[tuple[str | None, str | None], list[Row]] = {}
    for row in rows:
        if row.action != Action.NOT:
            groups.setdefault((row.student, row.assignment), []).append(row)
    chosen = {key: _choose(source, group) for key, group in groups.items()}
    result = []
    for row in rows:
        best = chosen.get((row.student, row.assignment))
        if row.action == Action.NOT or row is best:
            result.append(row)
        elif best is None:
            result.append(_refuse(row.upload, SEVERAL, row.assignment))
        else:
            notes = (*row.notes, f"{best.upload.path} counts")
            result.append(replace(row, action=Action.OLDER, notes=notes))
    return result


def _choose(source: str, group: Sequence[Row]) -> Row | None:
    """Return the newest of a student's uploads for an assignment.

    Return None if a submission has several notebooks, but none with the assignment's name. Raises
    CollectError if there are several submissions and it is not known which is newer.
    """
    highest = max(row.upload.order for row in group)
    newest = [row for row in group if row.upload.order == highest]
    exact = [row for row in newest if row.upload.file == f"{row.assignment}.ipynb"]
    best = exact or newest
    if len({row.digest for row in best}) == 1:
        return best[0]
    if len({row.upload.place for row in best}) == 1:
        return None
    first, second = best[:2]
    raise CollectError(
        f"{source}: {printable(first.upload.path)} and {printable(second.upload.path)} are both "
        f"{first.student}'s for {first.assignment}, but it is not known which is newer. Nothing "
        "was collected. Remove one of them."
    )
