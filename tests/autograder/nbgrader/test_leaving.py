"""A student who leaves: gone from every output, kept aside or erased, and nothing broken."""

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
    """A graded course of ann and bob, with pages, a table and a log of faults."""
    known_everywhere(monkeypatch)
    made = make_course(tmp_path / "course")
    hand_in(made, "ann")
    hand_in(made, "bob", mean=MEAN_SUM)
    for command in ("grade", "feedback", "export"):
        _run(command, made)
    made.faults.write_text(
        "2026-02-03T10:00:00+00:00 ann, toy\nTraceback of ann\n"
        "2026-02-03T10:00:01+00:00 bob, toy\nTraceback of bob\n"
    )
    return made


def _run(command, course, *more, code=0):
    result = CliRunner().invoke(cli.app, [command, *more, "--course", str(course.root)])
    assert result.exit_code == code, result.output
    return result.output


def _students(course):
    """Who is in each output."""
    with (course.root / "grades.csv").open(newline="") as stream:
        table = {row["student"] for row in csv.DictReader(stream)}
    with api.Gradebook(course.gradebook_url) as book:
        roster = {student.id for student in book.students}
    rows = {row["student"] for row in json.loads(course.grades.read_text())}
    pages = {path.name for path in course.feedback.iterdir()}
    return table, roster, rows, pages


def _every_command_works(course):
    for command in ("grade", "feedback", "export"):
        _run(command, course)
    assert _students(course) == ({"ann"},) * 4


def test_who_is_removed_is_in_no_output_and_loses_nothing(course):
    page = (course.feedback / "bob" / "toy" / "toy.html").read_bytes()
    (course.root / "grades-canvas.csv").write_text("")
    assert "grades-canvas.csv: it may still name bob" in _run("remove", course, "bob")
    assert _students(course) == ({"ann"},) * 4
    _every_command_works(course)
    kept = course.removed / "bob" / "1"
    assert (kept / "feedback" / "toy" / "toy.html").read_bytes() == page
    with (kept / "grades.csv").open(newline="") as stream:
        assert [(row["student"], row["score"]) for row in csv.DictReader(stream)] == [
            ("bob", "3.0")
        ]
    (kept / "submitted").rename(course.submitted / "bob")
    assert "0 judged, 2 known" in _run("grade", course)
    _run("remove", course, "bob")
    assert (course.removed / "bob" / "2" / "submitted").is_dir()


def test_who_is_erased_is_nowhere_and_the_journal_stays_valid(course):
    _run("remove", course, "bob")
    (course.removed / "bob" / "1" / "submitted").rename(course.submitted / "bob")
    before = course.root / "submitted-before" / "bob" / "toy" / "1"
    before.mkdir(parents=True)
    place = {"platform": "canvas", "place": "bob_7_8_toy.ipynb", "id": "7", "as_is": False}
    (course.root / "platforms.json").write_text(json.dumps({"toy": {"bob": place}}))
    (course.root / "grades-canvas.csv").write_text("")
    said = _run("erase", course, "bob", "--yes")
    assert "grades-canvas.csv: it may still name bob" in said
    assert "journal.jsonl: " in said
    for path in course.root.rglob("*"):
        assert "bob" not in path.name
        if path.is_file():
            assert b"bob" not in path.read_bytes(), path
    with Journal(course.journal) as journal:
        assert {record.student for record in journal.latest()} == {"ann"}
    assert "ann" in course.faults.read_text()
    assert "0 judged, 1 known" in _run("grade", course)
    _every_command_works(course)


def test_erasing_asks_first(course):
    before = course.journal.read_bytes()
    _run("erase", course, "bob", code=1)
    assert course.journal.read_bytes() == before
    assert (course.submitted / "bob").exists()


def test_a_student_removed_by_nbgrader_breaks_no_feedback(course):
    done = nbgrader(course, "db", "student", "remove", "bob", "--force")
    assert done.returncode == 0, done.stderr
    (course.root / "feedback" / "ann" / "toy" / "toy.html").unlink()
    said = _run("feedback", course)
    assert "feedback pages: 1" in said
    assert "bob: no page, since the gradebook no longer has this student" in said
    _run("remove", course, "bob")
    _every_command_works(course)


@pytest.mark.parametrize("command", [["remove"], ["erase"], ["erase", "--yes"]])
def test_an_unknown_student_is_one_line(course, command):
    said = _run(*command[:1], course, "zoe", *command[1:], code=1)
    assert "zoe: the course has no such student" in said


def test_nothing_is_erased_where_nobody_agrees(course):
    assert "nothing was erased for bob" in _run("erase", course, "bob", code=1)
    assert (course.submitted / "bob").exists()


@pytest.mark.parametrize("command", ["remove", "erase"])
@pytest.mark.parametrize("student", ["", ".", "..", "../submitted", "ann/toy"])
def test_what_is_no_name_of_a_folder_is_refused(course, command, student):
    _run("remove", course, "bob")
    before = {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}
    said = _run(command, course, student, *["--yes"] * (command == "erase"), code=1)
    assert "is not the name of a student's folder" in said
    assert {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()} == before


def test_an_erasure_that_was_interrupted_is_completed_by_the_same_command(course, monkeypatch):
    monkeypatch.setattr(Journal, "erase", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        leaving.erase(course, "bob")
    monkeypatch.undo()
    assert "journal.jsonl: " in _run("erase", course, "bob", "--yes")
    assert b"bob" not in course.journal.read_bytes()


def test_an_erasure_that_could_not_compact_the_gradebook_does_so_the_second_time(
    course, monkeypatch
):
    monkeypatch.setattr(Gradebook, "compact", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        leaving.erase(course, "bob")
    compacted = []
    monkeypatch.setattr(Gradebook, "compact", lambda *_: compacted.append(True))
    _run("erase", course, "bob", "--yes")
    assert compacted == [True]


def test_what_people_wrote_is_kept_when_a_student_is_removed(course):
    with api.Gradebook(course.gradebook_url) as book:
        book.find_comment("why", "toy", "toy", "bob").manual_comment = "Nearly, René."
        book.db.commit()
    _run("remove", course, "bob")
    comments = json.loads((course.removed / "bob" / "1" / "comments.json").read_text())
    assert comments == [{"assignment": "toy", "answer": "why", "comment": "Nearly, René."}]


def test_a_folder_that_is_a_link_is_erased_and_what_it_leads_to_is_not(course, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (course.submitted / "bob").rename(elsewhere)
    (course.submitted / "bob").symlink_to(elsewhere)
    said = _run("erase", course, "bob", "--yes")
    assert f"it leads to {elsewhere}, which is not erased" in said
    assert not (course.submitted / "bob").is_symlink()
    assert (elsewhere / "toy" / "toy.ipynb").exists()


@pytest.mark.parametrize("command", ["remove", "erase"])
def test_grades_that_cannot_be_read_are_one_line_before_anything_is_done(course, command):
    course.grades.write_text("[{")
    said = _run(command, course, "bob", *["--yes"] * (command == "erase"), code=1)
    assert f"{course.grades}: it cannot be read" in said
    assert (course.submitted / "bob").exists()
    with api.Gradebook(course.gradebook_url) as book:
        assert {student.id for student in book.students} == {"ann", "bob"}


def test_the_log_keeps_entries_of_a_student_whose_name_begins_alike(course):
    course.faults.write_text(
        "2026-02-03T10:00:00+00:00 bob, jr, toy\nTraceback of another\n"
        "2026-02-03T10:00:01+00:00 bob, toy\nTraceback of bob\n"
    )
    _run("erase", course, "bob", "--yes")
    assert course.faults.read_text().splitlines()[1:] == ["Traceback of another"]
