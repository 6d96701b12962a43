"""Test tables for Canvas and Moodle cell by cell, as their importers read them."""

import csv
import io

import pytest
from archives import WORKSHEET_HEAD, enrol, make_zip, notebook
from nbgrader import api

from autograder.nbgrader.gradebook import Gradebook

ANN = {"id": "ann", "first_name": "Ann", "last_name": "Lee", "lms_user_id": "11"}
BOB = {"id": "bob", "first_name": "Bob", "last_name": "=Ray", "email": "bob@example.edu"}


@pytest.fixture
def graded_course(course):
    """Return a course: ann has 2 of 5 points and a waiting answer, bob has no submission."""
    enrol(course, ANN, BOB)
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("toy")
        book.nbgrader.add_notebook("toy", "toy")
        for name, points in (("row_mean", 2), ("scale", 3)):
            cell = {"max_score": points, "cell_type": "code"}
            book.nbgrader.add_grade_cell(name, "toy", "toy", **cell)
        book.nbgrader.add_submission("toy", "ann")
        for name, score in (("row_mean", 2.0), ("scale", None)):
            grade = book.nbgrader.find_grade(name, "toy", "toy", "ann")
            grade.auto_score, grade.needs_manual_grade = score, score is None
        book.nbgrader.db.commit()
        assert book.nbgrader.db.query(api.Grade).count() == 2
    return course


def rows(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def test_canvas_table_is_exact(graded_course, run):
    output = run("export", "--to", "canvas")
    assert rows(graded_course.root / "grades-canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "toy"],
        ["    Points Possible", "", "", "", "", "5.0"],
        ["Lee, Ann", "11", "", "", "", "2.0"],
        ["'=Ray, Bob", "", "", "bob", "", ""],
    ]
    assert "The Canvas id is unknown for bob" in output
    assert "1 answer of 1 student must still be marked by a person." in output


def test_canvas_table_has_the_ids_of_collected_students(graded_course, run, tmp_path):
    run("collect", make_zip(tmp_path / "a.zip", {"raybob_12_2_toy.ipynb": notebook()}), "--yes")
    enrol(graded_course, {**BOB, "last_name": "Ray"})
    run("collect", make_zip(tmp_path / "a.zip", {"raybob_12_2_toy.ipynb": notebook()}), "--yes")
    assert "not known" not in run("export", "toy", "--to", "canvas")
    assert rows(graded_course.root / "grades-canvas-toy.csv")[3][:4] == ["Ray, Bob", "12", "", ""]


def test_moodle_table_is_exact(graded_course, run):
    output = run("export", "--to", "moodle")
    assert rows(graded_course.root / "grades-moodle.csv") == [
        ["Username", "ID number", "Email address", "First name", "Last name", "toy"],
        ["ann", "11", "", "Ann", "Lee", "2.0"],
        ["bob", "", "bob@example.edu", "Bob", "'=Ray", "-"],
    ]
    assert "The e-mail address is unknown for ann" in output


def sheet(path, *participants, maximum="5.00"):
    lines = [
        f"Participant {number},{name},,{email},Submitted for grading,,{maximum},Yes,-,-,{comment}"
        for number, name, email, comment in participants
    ]
    path.write_text("\n".join([WORKSHEET_HEAD, *lines, ""]), encoding="utf-8-sig")
    return path


def test_moodle_worksheet_is_filled_in_and_otherwise_unchanged(graded_course, run, tmp_path):
    folder = "A. Lee_31_assignsubmission_file"
    with api.Gradebook(graded_course.gradebook_url) as book:
        book.update_or_create_student("ann", first_name="A.", last_name="Lee")
    run("collect", make_zip(tmp_path / "a.zip", {f"{folder}/toy.ipynb": notebook()}), "--yes")
    people = [
        (31, "Married Name", "", "=kept"),
        (32, "=Bob", "bob@example.edu", ""),
        (33, "No One", "", ""),
    ]
    path = sheet(tmp_path / "sheet.csv", *people)
    before = rows(path)
    output = run("export", "toy", "--to", "moodle", "--worksheet", path)
    after = rows(graded_course.root / "grades-moodle-toy.csv")
    assert [row[5] for row in after] == ["Grade", "2", "", ""]
    assert after[1][-1] == "=kept"
    assert after[2][1] == "'=Bob"
    assert after[0] == [cell.removeprefix("\ufeff") for cell in before[0]]
    assert [row[6:10] for row in after] == [row[6:10] for row in before]
    assert "The gradebook has no student for Participant 33 in the worksheet" in output


def test_different_maximum_in_moodle_is_reported(graded_course, run, tmp_path):
    path = sheet(tmp_path / "sheet.csv", (31, "Ann Lee", "", ""), maximum='"100,00"')
    output = run("export", "toy", "--to", "moodle", "--worksheet", path)
    assert "The maximum in Moodle is 100.00, but here it is 5" in output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Kennung,Bewertung\n", "not a grading worksheet of Moodle in English"),
        ("Identifier,Grade\nParticipant 1\n", "row 2 has 1 cells"),
        ("Identifier,Grade\nParticipant 1,\nParticipant 1,\n", "occurs twice"),
        ("Identifier,Grade,Grade\n", "two columns are called Grade"),
        ('Identifier,Grade\n"Part', "not a CSV"),
    ],
)
def test_invalid_worksheet_is_reported(graded_course, run, tmp_path, content, reason):
    path = tmp_path / "sheet.csv"
    path.write_text(content, encoding="utf-8")
    line = run("export", "toy", "--to", "moodle", "--worksheet", path, code=1)
    assert line.startswith(f"autograder: {path}: ")
    assert reason in line


def test_unknown_assignment_is_reported(graded_course, run):
    line = run("export", "tov", "--to", "canvas", code=1)
    assert "tov: the gradebook has no such assignment. It has: toy." in line


def test_worksheet_for_canvas_is_a_usage_error(graded_course, run, tmp_path):
    run("export", "toy", "--to", "canvas", "--worksheet", tmp_path / "x.csv", code=2)
    run("export", "toy", code=2)
