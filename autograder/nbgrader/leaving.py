"""A student who leaves the course: removed from every output, or erased altogether.

`remove` loses nothing: what the student handed in, the pages, the grades and the comments of people
move to COURSE/removed/<student>/1/, and the journal keeps its lines. `erase` deletes all of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..course.course import Course, CourseError
from ..course.files import replace_text
from ..course.journal import Journal
from ..course.plaintext import printable
from ..platforms.collecting import BEFORE
from ..platforms.remembered import forget
from .export import GradesCsv, export_csv
from .gradebook import Gradebook
from .term import FILE as TERM


def remove(course: Course, student: str) -> Path:
    """Remove `student` from every output; return the folder that keeps what there was.

    Put the folder `submitted` in it back to bring the student back. Raises CourseError for a
    student that the course does not know, JournalError while another run grades, GradebookError.
    """
    _require_name(course, student)
    with Journal(course.journal) as journal, Gradebook(course.gradebook_url) as book:
        _require(course, student, book, journal)
        kept = _new_folder(course.removed / student)
        GradesCsv(to=str(kept / "grades.csv"), student=[student]).export(book.nbgrader)
        if comments := book.comments(student):
            replace_text(kept / "comments.json", json.dumps(comments, indent=1) + "\n")
        book.remove_student(student)
        for folder in _folders(course, student):
            shutil.move(folder, kept / folder.parent.name)
        _rewrite_grades(course, student)
    return kept


def erase(course: Course, student: str) -> list[str]:
    """Delete all that the course holds of `student`; return a line for each kind of thing.

    The journal's other lines get new hashes, so it stays valid. The journal is rewritten last: if
    an erasure is interrupted, the next one still finds the student there and completes it. Raises
    what `remove` raises.
    """
    _require_name(course, student)
    done = []
    with Journal(course.journal) as journal, Gradebook(course.gradebook_url) as book:
        kept = course.removed / student
        _require(course, student, book, journal)
        if book.remove_student(student):
            done.append("the gradebook: the student, with all scores, marks and comments")
        book.compact()  # an earlier erasure may have been interrupted before it
        for folder in (*_folders(course, student), *([kept] if kept.exists() else [])):
            done.append(_delete(course, folder))
        _rewrite_grades(course, student)
        if forget(course, student):
            done.append("platforms.json: what the platforms call the student")
        if lines := _erase_from_log(course, student):
            done.append(f"{course.faults.name}: {lines} lines")
        if lines := journal.erase(student):
            done.append(f"{course.journal.name}: {lines} lines; the other lines have new hashes")
    return done


def require_student(course: Course, student: str) -> None:
    """Raise CourseError if the course knows no such student, and what `erase` raises."""
    _require_name(course, student)
    with Journal(course.journal, dry=True) as journal, Gradebook(course.gradebook_url) as book:
        _require(course, student, book, journal)


def exports(course: Course) -> list[Path]:
    """Return the files for learning platforms, which may still name a student who has left."""
    tables = (path for path in course.root.glob("grades-*.csv") if path.name != TERM)
    return sorted([*tables, *course.root.glob("feedback-*.zip")])


def _require_name(course: Course, student: str) -> None:
    """Raise CourseError for a name that leads out of the folders in which students are."""
    if student in ("", ".", "..") or "/" in student:
        raise CourseError(
            f"{printable(student) or 'An empty name'}: is not the name of a student's folder. "
            f"Nothing was changed. `ls {course.submitted}` lists the names."
        )


def _require(course: Course, student: str, book: Gradebook, journal: Journal) -> None:
    """Raise CourseError if nothing knows the student, or if grades.json cannot be written anew."""
    _read_grades(course)
    known = student in {one.id for one in book.nbgrader.students} or journal.names(student)
    if known or (course.removed / student).exists() or list(_folders(course, student)):
        return
    raise CourseError(
        f"{student}: the course has no such student, neither in its gradebook nor in "
        f"{course.submitted}. `nbgrader db student list` lists those in the gradebook."
    )


def _delete(course: Course, folder: Path) -> str:
    """Delete a folder, or a link to one; return a line that says so."""
    where = folder.relative_to(course.root)
    if folder.is_symlink():
        target = folder.readlink()
        folder.unlink()
        return f"{where}: the link; it leads to {printable(str(target))}, which is not erased"
    shutil.rmtree(folder)
    return f"{where}: the folder"


def _folders(course: Course, student: str) -> Iterator[Path]:
    """The folders of a student: handed in now and before, judged, and the pages."""
    submitted = course.student_folder(student)
    if submitted is not None:
        yield submitted
    for place in (course.autograded, course.feedback, course.root / BEFORE):
        if (place / student).is_dir():
            yield place / student


def _new_folder(place: Path) -> Path:
    """Make a folder in `place`, by the next number: a student may be removed more than once."""
    number = 1
    while (place / str(number)).exists():
        number += 1
    (place / str(number)).mkdir(parents=True)
    return place / str(number)


def _rewrite_grades(course: Course, student: str) -> None:
    """Take the student out of grades.json, and out of the tables if they have been exported."""
    if course.grades.exists():
        others = [row for row in _read_grades(course) if row["student"] != student]
        replace_text(course.grades, json.dumps(others, indent=1, ensure_ascii=True) + "\n")
    if (course.root / "grades.csv").exists() or (course.root / TERM).exists():
        export_csv(course)


def _read_grades(course: Course) -> list[dict[str, Any]]:
    """Return the rows of grades.json, none without it. Raises CourseError if it is damaged."""
    try:
        rows: list[dict[str, Any]] = json.loads(course.grades.read_text(encoding="utf-8"))
        if all(isinstance(row["student"], str) for row in rows):
            return rows
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        pass
    raise CourseError(
        f"{course.grades}: it cannot be read, so nobody can be taken out of it. Nothing was "
        "changed. Delete the file: `autograder grade` writes it again from the journal."
    )


def _erase_from_log(course: Course, student: str) -> int:
    """Delete the entries of a student from the log of faults; return how many lines these had.

    An entry begins with a line that names the time, the student and the assignment.
    """
    if not course.faults.exists():
        return 0
    lines = course.faults.read_text(encoding="utf-8").splitlines(keepends=True)
    kept, mine = [], False
    for line in lines:
        when, _, rest = line.partition(" ")
        if when[:4].isdigit() and when[4:5] == "-" and ", " in rest:
            mine = rest.rpartition(", ")[0] == printable(student)
        if not mine:
            kept.append(line)
    if len(kept) < len(lines):
        replace_text(course.faults, "".join(kept))
    return len(lines) - len(kept)
