"""Make a small class for tests: a course directory with the toy assignment and submissions."""

from __future__ import annotations

import copy
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from toy import RIGHT_MEAN, RIGHT_SCALE

from autograder.course.course import Course

MEAN_SUM = "def row_mean(X):\n    return X.sum(axis=-1)"
STUBS = {
    "row_mean": "def row_mean(X):\n    raise NotImplementedError",
    "scale": "def scale(X, factor=2.0):\n    raise NotImplementedError",
    "why": "Your answer here.",
}


def known_everywhere(patch: pytest.MonkeyPatch) -> None:
    """Let every Python process started from this one find the course of the tests."""
    folders = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    patch.setenv("PYTHONPATH", os.pathsep.join(folders))


def released() -> nbformat.NotebookNode:
    """Return the release of the toy assignment."""
    cells = [
        _locked(new_markdown_cell("# A toy"), "title"),
        _locked(new_code_cell("import numpy as np\nfrom autograder import check"), "imports"),
        _answer(new_code_cell(STUBS["row_mean"]), "row_mean", 2),
        _locked(new_code_cell("check(row_mean)"), "row_mean-check"),
        _answer(new_code_cell(STUBS["scale"]), "scale", 3),
        _locked(new_code_cell("check(scale)"), "scale-check"),
        _locked(new_markdown_cell("Why does it work?"), "why-question"),
        _answer(new_markdown_cell(STUBS["why"]), "why", 5),
    ]
    return new_notebook(cells=cells)


def make_course(root: Path) -> Course:
    """Return a course in `root` in which the toy assignment is released."""
    course = Course.create(root, "toy_course")
    path = course.release / "toy" / "toy.ipynb"
    path.parent.mkdir()
    nbformat.write(released(), path)
    return course


def hand_in(
    course: Course, student: str, mean: str = RIGHT_MEAN, scale: str = RIGHT_SCALE, why: str = "So."
) -> Path:
    """Put a submission with these answers into the course and return its path."""
    notebook = copy.deepcopy(released())
    answers = {"row_mean": mean, "scale": scale, "why": why}
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
    path = course.submitted / student / "toy" / "toy.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def hand_in_a_test(root: Path, student: str, answer: str) -> Course:
    """Return a course in `root` whose assignment asks for a test, with one submission."""
    course = Course.create(root, "toy_course")
    stub = "def test_row_mean(implementation):\n    raise NotImplementedError"
    for folder, source in ((course.release, stub), (course.submitted / student, answer)):
        path = folder / "toy_test" / "toy_test.ipynb"
        path.parent.mkdir(parents=True)
        cells = [
            _locked(new_code_cell("import numpy as np"), "imports"),
            _answer(new_code_cell(source), "test_row_mean", 4),
        ]
        nbformat.write(new_notebook(cells=cells), path)
    return course


def _mark(cell: nbformat.NotebookNode, name: str, **marks: object) -> nbformat.NotebookNode:
    cell.metadata["nbgrader"] = {
        "grade": False,
        "solution": False,
        "locked": True,
        "task": False,
        "grade_id": name,
        "schema_version": 3,
    } | marks
    return cell


def _locked(cell: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    return _mark(cell, name)


def _answer(cell: nbformat.NotebookNode, name: str, points: int) -> nbformat.NotebookNode:
    return _mark(cell, name, grade=True, solution=True, locked=False, points=points)
