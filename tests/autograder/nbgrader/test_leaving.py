"""Test removing and erasing students: no output names them, and the course still works."""

import csv
import json

import pytest
from classroom import MEAN_SUM, hand_in, known_everywhere, make_course
from nbgrader import api
from nbgrader_command import nbgrader
from typer.testing import CliRunner

from autograder import cli
from autograder.course.journal import Journal
from autograder.nbgrader import leaving
from autograder.nbgrader.gradebook import Gradebook


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a graded course of ann and bob, with pages, a table and a log of faults."""
    known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM)
    for command in ("grade", "feedback", "export"):
        _run(command, course)
    course.faults.write_text(
        "2026-02-03T10:00:00+00:00 ann, toy\nTraceback of ann\n"
        "2026-02-03T10:00:01+00:00 bob, toy\nTraceback of bob\n"
    )
    return course


def _run(command, course, *more, code=0):
    result = CliRunner().invoke(cli.app, [command, *more, "--course", str(course.root)])
    assert result.exit_code == code, result.output
    return result.output


def _students(course):
    """Return the students in the table, the gradebook, the rows and the feedback pages."""
    with (course.root / "grades.csv").open(newline="") as stream:
        table = {row["student"] for row in csv.DictReader(stream)}
    with api.Gradebook(course.gradebook_url) as book:
        roster = {student.id for student in book.students}
    rows = {row["student"] for row in json.loads(course.grades.read_text())}
    pages = {path.name for path in course.feedback.iterdir()}
    return table, roster, rows, pages


def _check_every_command(course):
    for command in ("grade", "feedback", "export"):
        _run(command, course)
    assert _students(course) == ({"ann"},) * 4


def test_removed_student_is_in_no_output_and_can_return(course):
    page = (course.feedback / "bob" / "toy" / "toy.html").read_bytes()
    (course.root / "grades-canvas.csv").write_text("")
    assert "grades-canvas.csv: it may still name bob" in _run("remove", course, "bob")
    assert _students(course) == ({"ann"},) * 4
    _check_every_command(course)
    folder = course.removed / "bob" / "1"
    assert (folder / "feedback" / "toy" / "toy.html").read_bytes() == page
    with (folder / "grades.csv").open(newline="") as stream:
        assert [(row["student"], row["score"]) for row in csv.DictReader(stream)] == [
            ("bob", "3.0")
        ]
    (folder / "submitted").rename(course.submitted / "bob")
    assert "0 judged, 2 known" in _run("grade", course)
    _run("remove", course, "bob")
    assert (course.removed / "bob" / "2" / "submitted").is_dir()


def test_erased_student_is_in_no_file_and_the_journal_stays_valid(course):
    _run("remove", course, "bob")
    (course.removed / "bob" / "1" / "submitted").rename(course.submitted / "bob")
    before = course.root / "submitted-before" / "bob" / "toy" / "1"
    before.mkdir(parents=True)
    place = {"platform": "canvas", "place": "bob_7_8_toy.ipynb", "id": "7", "as_is": False}
    (course.root / "platforms.json").write_text(json.dumps({"toy": {"bob": place}}))
    (course.root / "grades-canvas.csv").write_text("")
    output = _run("erase", course, "bob", "--yes")
    assert "grades-canvas.csv: it may still name bob" in output
    assert "journal.jsonl: " in output
    for path in course.root.rglob("*"):
        assert "bob" not in path.name
        if path.is_file():
            assert b"bob" not in path.read_bytes(), path
    with Journal(course.journal) as journal:
        assert {record.student for record in journal.latest()} == {"ann"}
    assert "ann" in course.faults.read_text()
    assert "0 judged, 1 known" in _run("grade", course)
    _check_every_command(course)


def test_erase_requires_confirmation(course):
    before = course.journal.read_bytes()
    _run("erase", course, "bob", code=1)
    assert course.journal.read_bytes() == before
    assert (course.submitted / "bob").exists()


def test_student_removed_by_nbgrader_does_not_break_feedback(course):
    process = nbgrader(course, "db", "student", "remove", "bob", "--force")
    assert process.returncode == 0, process.stderr
    (course.root / "feedback" / "ann" / "toy" / "toy.html").unlink()
    output = _run("feedback", course)
    assert "feedback pages: 1" in output
    assert "bob: no page, since the gradebook no longer has this student" in output
    _run("remove", course, "bob")
    _check_every_command(course)


@pytest.mark.parametrize("command", [["remove"], ["erase"], ["erase", "--yes"]])
def test_unknown_student_is_reported(course, command):
    output = _run(*command[:1], course, "zoe", *command[1:], code=1)
    assert "zoe: the course has no such student" in output


def test_erase_without_confirmation_erases_nothing(course):
    assert "nothing was erased for bob" in _run("erase", course, "bob", code=1)
    assert (course.submitted / "bob").exists()


@pytest.mark.parametrize("command", ["remove", "erase"])
@pytest.mark.parametrize("student", ["", ".", "..", "../submitted", "ann/toy"])
def test_invalid_folder_name_is_refused(course, command, student):
    _run("remove", course, "bob")
    before = {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}
    output = _run(command, course, student, *["--yes"] * (command == "erase"), code=1)
    assert "is not the name of a student's folder" in output
    assert {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()} == before


def test_interrupted_erasure_is_completed_by_repeating_it(course, monkeypatch):
    monkeypatch.setattr(Journal, "erase", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        leaving.erase(course, "bob")
    monkeypatch.undo()
    assert "journal.jsonl: " in _run("erase", course, "bob", "--yes")
    assert b"bob" not in course.journal.read_bytes()


def test_repeated_erasure_compacts_the_gradebook(course, monkeypatch):
    monkeypatch.setattr(Gradebook, "compact", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        leaving.erase(course, "bob")
    compacted = []
    monkeypatch.setattr(Gradebook, "compact", lambda *_: compacted.append(True))
    _run("erase", course, "bob", "--yes")
    assert compacted == [True]


def test_manual_comments_are_stored_for_a_removed_student(course):
    with api.Gradebook(course.gradebook_url) as book:
        book.find_comment("why", "toy", "toy", "bob").manual_comment = "Nearly, René."
        book.db.commit()
    _run("remove", course, "bob")
    comments = json.loads((course.removed / "bob" / "1" / "comments.json").read_text())
    assert comments == [{"assignment": "toy", "answer": "why", "comment": "Nearly, René."}]


def test_erasing_a_symbolic_link_keeps_its_target(course, tmp_path):
    target = tmp_path / "elsewhere"
    (course.submitted / "bob").rename(target)
    (course.submitted / "bob").symlink_to(target)
    output = _run("erase", course, "bob", "--yes")
    assert f"the symbolic link; its target {target} is not erased" in output
    assert not (course.submitted / "bob").is_symlink()
    assert (target / "toy" / "toy.ipynb").exists()


@pytest.mark.parametrize("command", ["remove", "erase"])
def test_unreadable_grades_are_reported_before_any_change(course, command):
    course.grades.write_text("[{")
    output = _run(command, course, "bob", *["--yes"] * (command == "erase"), code=1)
    assert f"{course.grades}: the file cannot be read" in output
    assert (course.submitted / "bob").exists()
    with api.Gradebook(course.gradebook_url) as book:
        assert {student.id for student in book.students} == {"ann", "bob"}


def test_log_keeps_entries_of_a_student_with_a_similar_name(course):
    course.faults.write_text(
        "2026-02-03T10:00:00+00:00 bob, jr, toy\nTraceback of another\n"
        "2026-02-03T10:00:01+00:00 bob, toy\nTraceback of bob\n"
    )
    _run("erase", course, "bob", "--yes")
    assert course.faults.read_text().splitlines()[1:] == ["Traceback of another"]
