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
    known: Mapping[str, Collection[str]]
    wanted: str | None
    now: datetime
    of_this_course: set[str] = field(default_factory=set)

    def row(self, upload: Upload) -> Row:
        """Return the row of a single upload, with its student and its assignment."""
        if self.archive.sizes[upload.path] > LARGEST_FILE:
            return _not(upload, f"it is larger than {LARGEST_FILE // 2**20} MiB")
        data = self.archive.read(upload.path)
        digest = hashlib.sha256(data).hexdigest()
        cells = cell_ids(data)
        notebook = guess(cells, upload.file, self.known)
        if cells is None:
            known = notebook.assignment is not None
        else:
            known = any(cells & set(ids) for ids in self.known.values())
        if known:
            self.of_this_course.add(upload.path)
        if notebook.assignment is None:
            return _not(upload, notebook.why)
        if self.wanted not in (None, notebook.assignment):
            return _not(upload, f"it belongs to {notebook.assignment}")
        if upload.refused:
            return _not(upload, upload.refused, notebook.assignment)
        matched = (
            match(upload.person, self.roster) if self.roster else without_roster(upload.person)
        )
        if matched.student is None:
            row = _not(upload, matched.why, notebook.assignment)
            return replace(row, to_add=matched.to_add)
        if reason := _unusable(matched.student):
            return _not(upload, reason, notebook.assignment)
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
        present = hashlib.sha256(read_start(path, LARGEST_FILE)).hexdigest()
        time = time_of(path.parent)
        if present == digest and (upload.time is None or time == upload.time):
            return replace(row, action=Action.SAME)
        if time is not None and upload.time is not None and time > upload.time:
            newer = f"the course has a newer version, from {as_timestamp(time)}"
            return replace(row, action=Action.NOT, notes=(*notes, newer))
        if present == digest:
            row = replace(row, notes=(*notes, "the same notebook, with another time"))
        elif time is not None and upload.time is None:
            lost = f"it counts as on time; the version in the course is from {as_timestamp(time)}"
            row = replace(row, notes=(*notes, lost))
        return replace(row, action=Action.REPLACES)


def make_plan(
    course: Course,
    archive: Archive,
    contents: Contents,
    roster: Sequence[Student],
    known: Mapping[str, Collection[str]],
    wanted: str | None,
    now: datetime,
) -> Plan:
    """Return what to do with each upload; nothing is written.

    `known` has the ids of the answer cells by assignment, and `wanted` the assignment to collect,
    or None for all. Raises CollectError for an archive with nothing from this course, or with
    several versions of a submission and no indication which is newer.
    """
    planner = _Planner(course, archive, roster, known, wanted, now)
    rows = [planner.row(upload) for upload in contents.uploads]
    where = printable(str(archive.path))
    if not contents.uploads:
        raise CollectError(f"{where}: it has no notebook. Nothing was collected.")
    if not planner.of_this_course:
        raise CollectError(
            f"{where}: none of its notebooks has a cell of this course, so it is from another "
            f"course. Nothing was collected. Released here: {', '.join(known)}."
        )
    if wanted is not None and wanted not in {row.assignment for row in rows}:
        raise CollectError(
            f"{where}: none of its notebooks belongs to {wanted}. Nothing was collected. Omit "
            "--assignment to recognise the assignment from the notebooks."
        )
    return Plan(contents, tuple(_newest(where, _refuse_collisions(rows))), bool(roster))


def place(course: Course, student: str, assignment: str) -> SubmissionFile:
    """Return the path of a submission in the course."""
    path = course.submitted / student / assignment / f"{assignment}.ipynb"
    return SubmissionFile(student, assignment, path)


def time_of(folder: Path) -> datetime | None:
    """Return the time in a submission's timestamp.txt, if it holds one."""
    try:
        return submission_time(folder)
    except ValueError:
        return None


def _not(upload: Upload, why: str, assignment: str | None = None) -> Row:
    return Row(upload, Action.NOT, assignment=assignment, notes=(why,))


def _unusable(student: str) -> str:
    """Return why a student's id cannot be the name of a folder; empty if it can."""
    odd = any(char in '/<>&"*?[]\\' or printable(char) != char for char in student)
    if odd or student.startswith(".") or student != student.strip():
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


def _newest(where: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows; write only the newest upload of each student and assignment."""
    groups: dict[tuple[str | None, str | None], list[Row]] = {}
    for row in rows:
        if row.action != Action.NOT:
            groups.setdefault((row.student, row.assignment), []).append(row)
    chosen = {key: _choose(where, group) for key, group in groups.items()}
    result = []
    for row in rows:
        best = chosen.get((row.student, row.assignment))
        if row.action == Action.NOT or row is best:
            result.append(row)
        elif best is None:
            result.append(_not(row.upload, SEVERAL, row.assignment))
        else:
            notes = (*row.notes, f"{best.upload.path} counts")
            result.append(replace(row, action=Action.OLDER, notes=notes))
    return result


def _choose(where: str, group: Sequence[Row]) -> Row | None:
    """Return the newest of a student's uploads for an assignment.

    Return None if a submission has several notebooks, none with the assignment's name. Raises
    CollectError if there are several submissions, and nothing says which is newer.
    """
    last = max(row.upload.order for row in group)
    newest = [row for row in group if row.upload.order == last]
    exact = [row for row in newest if row.upload.file == f"{row.assignment}.ipynb"]
    best = exact or newest
    if len({row.digest for row in best}) == 1:
        return best[0]
    if len({row.upload.place for row in best}) == 1:
        return None
    first, second = best[:2]
    raise CollectError(
        f"{where}: {printable(first.upload.path)} and {printable(second.upload.path)} are both "
        f"{first.student}'s for {first.assignment}, and nothing says which one is newer. "
        "Nothing was collected. Remove one of them."
    )
