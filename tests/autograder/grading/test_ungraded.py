"""`autograder export` says which submissions its tables lack."""

import pytest
from classroom import MEAN_SUM, hand_in, known_everywhere, make_course
from typer.testing import CliRunner

from autograder import cli
from autograder.course.journal import Journal
from autograder.nbgrader.gradebook import Gradebook


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A graded course of ann and bob."""
    known_everywhere(monkeypatch)
    made = make_course(tmp_path / "course")
    hand_in(made, "ann")
    hand_in(made, "bob")
    _run("grade", made)
    return made


def _run(command, course, *more):
    result = CliRunner().invoke(cli.app, [command, *more, "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("to", [[], ["--to", "canvas"], ["toy", "--to", "moodle"]])
def test_export_names_what_came_in_since_the_last_grading(course, to):
    assert "Not graded" not in _run("export", course, *to)
    hand_in(course, "bob", mean=MEAN_SUM)
    hand_in(course, "cay")
    said = _run("export", course, *to)
    assert "Not graded yet, or not in the newest version: bob (toy), cay (toy)." in said
    _run("grade", course)
    assert "Not graded" not in _run("export", course, *to)


def test_a_submission_that_cannot_be_read_is_graded_once_it_was(course):
    notebook = course.submitted / "bob" / "toy" / "toy.ipynb"
    notebook.unlink()
    assert "bob (toy)" in _run("export", course)
    _run("grade", course)
    assert "Not graded" not in _run("export", course)


def test_an_assignment_of_the_instructors_own_is_exported_as_before(course):
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("homework")
    assert "grades-canvas-homework.csv: written." in _run(
        "export", course, "homework", "--to", "canvas"
    )


def test_export_works_while_another_run_grades_and_says_so(course, monkeypatch):
    monkeypatch.setattr("autograder.course.journal.LOCK_WAIT", 0.0)
    with Journal(course.journal):
        assert "another run is grading this course" in _run("export", course)
