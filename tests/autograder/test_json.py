"""Test what `grade`, `export` and `doctor` print with `--json`, and that failures print nothing."""

import csv
import dataclasses
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from classroom import MEAN_SUM, hand_in
from nbgrader import api
from typer.testing import CliRunner

from autograder import cli
from autograder.commands import documents
from autograder.course.journal import Row
from autograder.course.plaintext import spreadsheet_text
from autograder.grading import grade as grading
from autograder.grading.changes import Change
from autograder.nbgrader import database
from autograder.nbgrader.scores import Answer
from autograder.nbgrader.term import Total
from autograder.sandbox import doctor

ROOT = Path(__file__).parents[2]
DOCUMENTED = (
    *(kind for kind in vars(documents).values() if dataclasses.is_dataclass(kind)),
    *(Row, Change, Total, Answer, doctor.Layer),
)
COMMAND = [sys.executable, "-m", "autograder"]


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def printed(result, code=0):
    """Return the document that a command printed on standard output, where nothing else is."""
    assert result.exit_code == code, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def same_failure(*arguments):
    """Return the message of a command that fails in the same way with and without `--json`."""
    plain, result = run(*arguments), run(*arguments, "--json")
    assert result.exit_code == plain.exit_code != 0, result.output
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    return result.stderr


def test_grade_prints_rows_scores_changes_and_notes(course):
    result = run("grade", "--course", course.root, "--json")
    document = printed(result)
    assert "grading 2 of 2" in result.stderr
    assert (document["format"], document["dry_run"]) == (1, False)
    assert [document[name] for name in ("judged", "known", "failed")] == [2, 0, 0]
    assert document["file"] == str(course.grades)
    assert document["rows"] == json.loads(course.grades.read_text())
    assert document["changes"] == document["notes"] == []
    ann, bob = document["scores"]
    assert (ann["student"], ann["score"], ann["max_score"], ann["waiting"]) == ("ann", 5, 10, 1)
    assert bob["points"] == {"row_mean": 0, "scale": 3, "why": None}

    hand_in(course, "bob")
    hand_in(course, "Ζωή")
    (course.submitted / "loose.ipynb").touch()
    before = {path: path.stat().st_mtime_ns for path in course.root.iterdir()}
    rows = course.grades.read_bytes()
    dry = printed(run("grade", "--course", course.root, "--dry-run", "--json"))
    assert course.grades.read_bytes() == rows
    assert {path: path.stat().st_mtime_ns for path in course.root.iterdir()} == before
    document = printed(run("grade", "--course", course.root, "--json"))
    (note,) = document["notes"]
    assert "not graded: loose.ipynb" in note
    assert [document[name] for name in ("judged", "known")] == [2, 1]
    (change,) = document["changes"]
    assert (change["student"], change["assignment"]) == ("bob", "toy")
    assert (change["before"], change["after"]) == (3, 5)
    assert change["reasons"] == ["handed in again"]
    assert dry == document | {"dry_run": True, "file": None}

    chosen = printed(run("grade", "toy", "--student", "Ζωή", "--course", course.root, "--json"))
    assert {row["student"] for row in chosen["rows"]} == {"Ζωή"}
    assert [score["student"] for score in chosen["scores"]] == ["Ζωή"]


def test_failure_of_the_grader_is_in_the_document_and_in_the_exit_code(course, monkeypatch):
    read = grading.read_submission

    def fail_for_bob(file, *rest):
        if file.student == "bob":
            raise RuntimeError("a bug")
        return read(file, *rest)

    assert run("grade", "--course", course.root).exit_code == 0
    hand_in(course, "bob", mean=MEAN_SUM, why="Another version.")
    monkeypatch.setattr(grading, "read_submission", fail_for_bob)
    result = run("grade", "--course", course.root, "--dry-run", "--json")
    assert any("a bug" in note for note in printed(result, code=1)["notes"])
    assert "failed on 1 submissions; its `notes` give the reasons" in result.stderr
    result = run("grade", "--course", course.root, "--json")
    document = printed(result, code=1)
    assert document["failed"] == 1
    assert {row["verdict"] for row in document["rows"] if row["student"] == "bob"} == {
        "GRADER_FAULT"
    }
    assert f"{course.faults} gives the reasons" in result.stderr


def test_course_without_submissions_has_an_empty_document_and_is_told_why(course):
    shutil.rmtree(course.submitted / "bob")
    (course.submitted / "ann").rename(course.submitted / ".ann")
    document = printed(run("grade", "--course", course.root, "--json"))
    assert document["rows"] == document["scores"] == []
    hidden, none = document["notes"]
    assert "folders that begin with a dot are ignored" in hidden
    assert none.startswith("No submissions yet. Put them at")
    assert run("grade", "--course", course.root).stdout.splitlines() == document["notes"]


def test_export_prints_what_the_tables_have_and_writes_nothing(course):
    hand_in(course, "=1+1")
    assert run("grade", "--course", course.root).exit_code == 0
    with api.Gradebook(course.gradebook_url) as book:
        book.add_student("dan", first_name="Dan", last_name="Đặng", email="dan@example.org")
        mark = book.find_grade("why", "toy", "toy", "bob")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        book.db.commit()
    hand_in(course, "eve")
    files = sorted(path.name for path in course.root.iterdir())
    document = printed(run("export", "--course", course.root, "--json"))
    assert sorted(path.name for path in course.root.iterdir()) == files
    (note,) = document["notes"]
    assert "Not graded yet, or not in the newest version: eve (toy)" in note
    assert [tuple(answer.values()) for answer in document["answers"]] == [
        ("toy", "row_mean", 2, False),
        ("toy", "scale", 3, False),
        ("toy", "why", 5, True),
    ]
    assert run("export", "--course", course.root).exit_code == 0

    def numbers(row):
        return {name: "" if value is None else str(value) for name, value in row.items()}

    with (course.root / "grades.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    for row, grade in zip(table, document["grades"], strict=True):
        del grade["late_seconds"]
        points = grade.pop("points")
        grade["student"] = spreadsheet_text(grade["student"])
        grade["handed_in"] = "yes" if grade["handed_in"] else "no"
        del grade["email"]  # which grades-term.csv has
        assert row == numbers({**dict.fromkeys(("row_mean", "scale", "why")), **grade, **points})
    with (course.root / "grades-term.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    for row, total in zip(table, document["term"], strict=True):
        total["student"] = spreadsheet_text(total["student"])
        assert row.items() >= numbers(total).items()

    part = printed(run("export", "toy", "--course", course.root, "--json"))
    assert part["term"] is None
    assert len(part["grades"]) == len(document["grades"])


def test_doctor_prints_the_layers_and_whether_they_passed(course, monkeypatch):
    held, broken = doctor.Layer("network", True, "a"), doctor.Layer("time", False, "NOT held")
    missing = doctor.Layer("container: sandbox", None, "docker or podman is missing")
    for layers, code in (([held, broken], 1), ([held, missing], 0), ([missing], 1)):
        monkeypatch.setattr(doctor, "layers", lambda layers=layers: layers)
        assert printed(run("doctor", "--json"), code) == {
            "format": 1,
            "passed": code == 0,
            "layers": [dataclasses.asdict(layer) for layer in layers],
        }
    monkeypatch.setattr(doctor, "layers", lambda: [held])
    course.root.chmod(0o755)
    document = printed(run("doctor", "--course", course.root, "--json"), code=1)
    assert document["passed"] is False
    assert "chmod 700" in document["layers"][0]["detail"]


def test_failures_print_no_document_and_keep_message_and_exit_code(course, tmp_path, monkeypatch):
    for command in ("grade", "export", "doctor"):
        assert "not a course directory" in same_failure(command, "--course", tmp_path)
    assert "no assignment has this name" in same_failure("grade", "nope", "--course", course.root)
    assert "nothing is graded yet" in same_failure("export", "--course", course.root)
    assert not (course.root / "gradebook.db").exists()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "/nowhere")
        assert "bubblewrap" in same_failure("grade", "--course", course.root)
    assert run("grade", "--course", course.root).exit_code == 0
    result = run("export", "nope", "--course", course.root, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nope: the gradebook has no such assignment. It has: toy." in result.stderr
    for options in (["--to", "canvas"], ["toy", "--to", "moodle", "--worksheet", "x.csv"]):
        result = run("export", *options, "--course", course.root, "--json")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "leave out --to" in result.stderr
    assert run("grade", "--jobs", "0", "--json").exit_code == 2
    monkeypatch.setattr(database, "LOCK_WAIT", 0.2)
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    for command in ("grade", "export"):
        assert "program has locked" in same_failure(command, "--course", course.root)
    holder.close()


def test_process_prints_the_document_alone_in_any_locale(course):
    hand_in(course, "Zoë")
    for command in (["grade"], ["export"]):
        process = subprocess.run(
            [*COMMAND, *command, "--course", course.root, "--json"],
            env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr.decode()
        document = json.loads(process.stdout.decode("ascii"))
        students = {row["student"] for row in document.get("scores", document.get("grades"))}
        assert students == {"ann", "bob", "Zoë"}


def test_interrupted_run_prints_no_document(course):
    for number in range(20):
        hand_in(course, f"student{number}")
    command = [*COMMAND, "grade", "--jobs", "1", "--course", course.root, "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as running:
        assert running.stderr.readline().startswith("grading ")
        running.send_signal(signal.SIGINT)
        assert running.stdout.read() == ""
        assert "autograder: stopped." in running.stderr.read()
    assert running.returncode == 130


def test_documented_fields_are_those_of_the_documents():
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    names = re.findall(r"^### (\w+)$", text, re.MULTILINE)
    assert sorted(names) == sorted(kind.__name__ for kind in DOCUMENTED)
    for kind in DOCUMENTED:
        section = text.partition(f"### {kind.__name__}\n")[2].partition("\n### ")[0]
        documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        assert documented == [field.name for field in dataclasses.fields(kind)], kind
