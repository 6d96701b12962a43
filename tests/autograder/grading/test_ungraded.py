"""Test that `autograder export` lists submissions missing from its tables."""

import pytest
from classroom import MEAN_SUM, hand_in, known_everywhere, make_course
from typer.testing import CliRunner

from autograder import cli
from autograder.course.journal import Journal
from autograder.nbgrader.gradebook import Gradebook


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a graded course with the students ann and bob."""
    known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob")
    _run("grade", course)
    return course


def _run(command, course, *more):
    result = CliRunner().invoke(cli.app, [command, *more, "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("to", [[], ["--to", "canvas"], ["toy", "--to", "moodle"]])
def test_export_lists_submissions_newer_than_the_last_grading(course, to):
    assert "Not graded" not in _run("export", course, *to)
    hand_in(course, "bob", mean=MEAN_SUM)
    hand_in(course, "cay")
    output = _run("export", course, *to)
    assert "Not graded yet, or not in the newest version: bob (toy), cay (toy)." in output
    _run("grade", course)
    assert "Not graded" not in _run("export", course, *to)


def test_unreadable_submission_counts_as_graded_after_a_run(course):
    notebook = course.submitted / "bob" / "toy" / "toy.ipynb"
    notebook.unlink()
    assert "bob (toy)" in _run("export", course)
    _run("grade", course)
    assert "Not graded" not in _run("export", course)


def test_assignment_outside_the_course_package_is_exported(course):
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("homework")
    assert "grades-canvas-homework.csv: written." in _run(
        "export", course, "homework", "--to", "canvas"
    )


def test_export_during_a_grading_run_works_and_says_so(course, monkeypatch):
    monkeypatch.setattr("autograder.course.journal.LOCK_WAIT", 0.0)
    with Journal(course.journal):
        assert "another run is grading this course" in _run("export", course)
