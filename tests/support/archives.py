"""Make archives in the formats of learning platforms, with the toy course's notebooks."""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path

import nbformat
from classroom import released
from nbgrader import api

from autograder.course.course import Course

WORKSHEET_HEAD = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,"
    "Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments"
)


def notebook(answer: str = "def row_mean(X):\n    return X.mean(axis=-1)") -> str:
    """Return a student's notebook of the toy assignment, as JSON text."""
    content = copy.deepcopy(released())
    for number, cell in enumerate(content.cells):
        cell.id = f"cell-{number}"  # the same in every notebook of the test
        if cell.metadata.nbgrader.grade_id == "row_mean":
            cell.source = answer
    return nbformat.writes(content)


def foreign() -> str:
    """Return a notebook of another course, in which some locked cells have the same names."""
    content = copy.deepcopy(released())
    content.cells = [
        c for c in content.cells if c.metadata.nbgrader.grade_id in ("title", "imports")
    ]
    return nbformat.writes(content)


def make_zip(path: Path, files: dict[str, str]) -> Path:
    """Write a zip archive with these files and return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, text in files.items():
            stream.writestr(name, text)
    return path


def make_folder(path: Path, files: dict[str, str]) -> Path:
    """Write a folder with these files and return its path."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


def enrol(course: Course, *students: dict[str, str]) -> None:
    """Add students to the gradebook, as `nbgrader db student add` does."""
    with api.Gradebook(course.gradebook_url) as book:
        for student in students:
            book.update_or_create_student(
                student["id"], **{k: v for k, v in student.items() if k != "id"}
            )


def submitted(course: Course) -> dict[str, str]:
    """Return the submitted files of the course: the text by relative path."""
    return {
        path.relative_to(course.submitted).as_posix(): path.read_text(encoding="utf-8")
        for path in course.submitted.rglob("*")
        if path.is_file()
    }
