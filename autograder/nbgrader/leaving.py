"""Remove a student who leaves the course from every output, or erase all of the student's data.

`remove` loses nothing: submissions, feedback pages, grades and comments by people move to
COURSE/removed/<student>/1/, and the journal keeps its lines. `erase` deletes all of it.
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
    """Remove `student` from every output; return the folder to which the data were moved.

    To bring the student back, move the folder `submitted` back from there. Raises CourseError if
    the course has no such student, JournalError while another run is grading, and GradebookError.
    """
    _require_name(course, student)
    with Journal(course.journal) as journal, Gradebook(course.gradebook_url) as book:
        _require(course, student, book, journal)
        backup = _new_folder(course.removed / student)
        GradesCsv(to=str(backup / "grades.csv"), student=[student]).export(book.nbgrader)
        if comments := book.comments(student):
            replace_text(backup / "comments.json", json.dumps(comments, indent=1) + "\n")
        book.remove_student(student)
        for folder in _folders(course, student):
            shutil.move(folder, backup / folder.parent.name)
        _rewrite_grades(course, student)
    return backup


def erase(course: Course, student: str) -> list[str]:
    """Delete all data of `student` in the course; return a line for each kind of data.

    The journal's other lines get new hashes, so the journal stays valid. It is rewritten last: if
    an erasure is interrupted, the next one still finds the student in it and completes the erasure.
    Raises the same exceptions as `remove`.
    """
    _require_name(course, student)
    report = []
    with Journal(course.journal) as journal, Gradebook(course.gradebook_url) as book:
        backups = course.removed / student
        _require(course, student, book, journal)
        if book.remove_student(student):
            report.append("the gradebook: the student, with all scores, marks and comments")
        book.compact()  # an earlier erasure may have been interrupted before this step
        for folder in (*_folders(course, student), *([backups] if backups.exists() else [])):
            report.append(_delete(course, folder))
        _rewrite_grades(course, student)
        if forget(course, student):
            report.append("platforms.json: the student's ids and names on the platforms")
        if lines := _erase_from_log(course, student):
            report.append(f"{course.faults.name}: {lines} lines")
        if lines := journal.erase(student):
            report.append(f"{course.journal.name}: {lines} lines; the other lines have new hashes")
    return report


def require_student(course: Course, student: str) -> None:
    """Raise CourseError if the course has no such student, and other exceptions as `erase` does."""
    _require_name(course, student)
    with Journal(course.journal, dry=True) as journal, Gradebook(course.gradebook_url) as book:
        _require(course, student, book, journal)


def exports(course: Course) -> list[Path]:
    """Return the exported files and reports, which may still name a student who has left."""
    tables = (path for path in course.root.glob("grades-*.csv") if path.name != TERM)
    reports = course.reports.glob("*.html")
    return sorted([*tables, *course.root.glob("feedback-*.zip"), *reports])


def _require_name(course: Course, student: str) -> None:
    """Raise CourseError for a name that leads out of the folder of all students."""
    if student in ("", ".", "..") or "/" in student:
        raise CourseError(
            f"{printable(student) or 'An empty name'} is not the name of a student's folder. "
            f"Nothing was changed. `ls {course.submitted}` lists the names."
        )


def _require(course: Course, student: str, book: Gradebook, journal: Journal) -> None:
    """Raise CourseError if the student is unknown, or if grades.json cannot be rewritten."""
    _read_grades(course)
    known = student in {row.id for row in book.nbgrader.students} or journal.names(student)
    if known or (course.removed / student).exists() or list(_folders(course, student)):
        return
    raise CourseError(
        f"{student}: the course has no such student, neither in its gradebook nor in "
        f"{course.submitted}. `nbgrader db student list` lists those in the gradebook."
    )


def _delete(course: Course, folder: Path) -> str:
    """Delete a folder, or a symbolic link to a folder; return a line that reports it."""
    path = folder.relative_to(course.root)
    if folder.is_symlink():
        target = folder.readlink()
        folder.unlink()
        return f"{path}: the symbolic link; its target {printable(str(target))} is not erased"
    shutil.rmtree(folder)
    return f"{path}: the folder"


def _folders(course: Course, student: str) -> Iterator[Path]:
    """Yield the folders of a student: current and earlier submissions, autograded, and feedback."""
    submitted = course.student_folder(student)
    if submitted is not None:
        yield submitted
    for parent in (course.autograded, course.feedback, course.root / BEFORE):
        if (parent / student).is_dir():
            yield parent / student


def _new_folder(parent: Path) -> Path:
    """Create a numbered folder in `parent`, because a student may be removed more than once."""
    number = 1
    while (parent / str(number)).exists():
        number += 1
    (parent / str(number)).mkdir(parents=True)
    return parent / str(number)


def _rewrite_grades(course: Course, student: str) -> None:
    """Remove the student from grades.json, and from the tables if they have been exported."""
    if course.grades.exists():
        others = [row for row in _read_grades(course) if row["student"] != student]
        replace_text(course.grades, json.dumps(others, indent=1, ensure_ascii=True) + "\n")
    if (course.root / "grades.csv").exists() or (course.root / TERM).exists():
        export_csv(course)


def _read_grades(course: Course) -> list[dict[str, Any]]:
    """Return the rows of grades.json, if it exists. Raises CourseError if it is damaged."""
    try:
        rows: list[dict[str, Any]] = json.loads(course.grades.read_text(encoding="utf-8"))
        if all(isinstance(row["student"], str) for row in rows):
            return rows
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        pass
    raise CourseError(
        f"{course.grades}: the file cannot be read, so the student cannot be removed from it. "
        "Nothing was changed. Delete the file, and `autograder grade` will write it again from the "
        "journal."
    )


def _erase_from_log(course: Course, student: str) -> int:
    """Delete the entries of a student from the log of faults; return the number of deleted lines.

    An entry begins with a line that names the time, the student and the assignment.
    """
    if not course.faults.exists():
        return 0
    lines = course.faults.read_text(encoding="utf-8").splitlines(keepends=True)
    remaining, is_student = [], False
    for line in lines:
        time, _, rest = line.partition(" ")
        if time[:4].isdigit() and time[4:5] == "-" and ", " in rest:
            is_student = rest.rpartition(", ")[0] == printable(student)
        if not is_student:
            remaining.append(line)
    if len(remaining) < len(lines):
        replace_text(course.faults, "".join(remaining))
    return len(lines) - len(remaining)
