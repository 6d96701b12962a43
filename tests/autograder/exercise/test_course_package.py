"""Test valid course packages, and the errors for invalid ones."""

import sys

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.course import Course
from autograder.exercise.course_package import CoursePackage, CoursePackageError

COURSE = """
from autograder.exercise.course_package import CoursePackage

COURSE = CoursePackage(__name__, assignments={assignments}{more})
"""
ROWS = """
from toy import TOY as ASSIGNMENT
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes the files of a course package `mine` and finds it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / "mine" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return CoursePackage.find("mine")

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def course_source(*assignments, more=""):
    return COURSE.format(assignments=assignments, more=more)


def test_course_package_is_found_by_name_and_imports_assignments_lazily(package):
    course = package(__init__=course_source("rows", "later"), rows__in____init__=ROWS)
    assert list(course) == ["rows", "later"]
    assert "mine.rows" not in sys.modules
    assert course["rows"].exercises[0].name == "row_mean"
    assert not course["rows"].torch
    assert course.page("rows").name == "assignment.md"
    assert course.packages == ("mine",)
    with pytest.raises(KeyError):
        course["columns"]


def test_course_package_declares_torch_and_further_packages(package):
    more = ', with_torch=("rows",), uses=("toy",)'
    course = package(__init__=course_source("rows", more=more), rows__in____init__=ROWS)
    assert course["rows"].torch
    assert course.packages == ("mine", "toy")


TWICE = """
from dataclasses import replace

from toy import MEAN, TOY

ASSIGNMENT = replace(TOY, exercises=(MEAN, MEAN))
"""


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "mine: no course package of this name is installed.*nbgrader_config.py"),
        ({"__init__": ""}, "mine: not a course package, because it has no COURSE"),
        ({"__init__": "1 / 0"}, r"mine: .* cannot be imported \(ZeroDivisionError"),
        ({"__init__": course_source()}, "mine: the course package has no assignments"),
        (
            {"__init__": course_source("a", "a")},
            "mine: the course package names an assignment twice: a",
        ),
        (
            {"__init__": course_source("a", more=', with_torch=("b",)')},
            "mine: b is in `with_torch`, but not in `assignments`",
        ),
    ],
)
def test_invalid_course_package_gives_a_one_line_error(package, files, message, tmp_path):
    with pytest.raises(CoursePackageError, match=message):
        package(**files)
    result = CliRunner().invoke(app, ["init", "--course-package", "mine", str(tmp_path / "course")])
    assert result.exit_code == 1
    assert result.output.startswith("autograder: mine: ")
    assert len(result.output.splitlines()) == 1
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (None, r"mine\.rows: there is no such assignment"),
        ("1 / 0", r"mine\.rows: the assignment cannot be imported \(ZeroDivisionError"),
        (TWICE, r"mine\.rows: names an exercise twice: row_mean"),
    ],
)
def test_invalid_assignment_gives_a_clear_error(package, rows, message):
    files = {"rows__in____init__": rows} if rows else {}
    course = package(__init__=course_source("rows"), **files)
    with pytest.raises(CoursePackageError, match=message):
        course["rows"]


def test_course_stores_its_package_and_defaults_to_exercises(tmp_path):
    course = Course.create(tmp_path / "course", "toy_course")
    assert Course.open(course.root).package.name == "toy_course"
    config = course.root / "nbgrader_config.py"
    text = config.read_text()
    lines = [line for line in text.splitlines(keepends=True) if "CoursePackage" not in line]
    config.write_text("".join(lines))
    assert Course.open(course.root).package.name == "exercises"
