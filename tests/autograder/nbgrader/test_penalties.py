"""Test penalties for late work: the same number in terminal, feedback, tables, formgrader."""

import csv
import json
import shutil
from datetime import datetime

import pytest
from classroom import MEAN_SUM, STUBS, hand_in, known_everywhere, make_course
from nbgrader import api
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader_command import nbgrader
from traitlets.config import Config
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import Course
from autograder.nbgrader.gradebook import Gradebook

ZERO = "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"
BY_THE_HOUR = """
from nbgrader.plugins import BasePlugin

class OnePointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return an ungraded course, due at noon: ann is in time, bob two hours late, cay absent."""
    known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    hand_in(course, "ann", why=STUBS["why"])
    hand_in(course, "bob", mean=MEAN_SUM, why=STUBS["why"])
    _set_time(course, "ann", "2026-02-03 11:00:00 UTC")
    _set_time(course, "bob", "2026-02-03 06:00:00 America/Los_Angeles")
    shutil.copytree(course.release / "toy", course.source / "toy")
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("toy", duedate="2026-02-03 12:00:00 UTC")
        book.nbgrader.add_student("cay", first_name="Cay")
    return course


def _set_time(course, student, text):
    (course.submitted / student / "toy" / "timestamp.txt").write_text(text)


def _configure(course, text):
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write(text)


def _use_hourly_plugin(course, name):
    """Configure a plugin of the course; each test imports it under another `name`."""
    (course.root / f"{name}.py").write_text(BY_THE_HOUR)
    _configure(course, f"\nc.AssignLatePenalties.plugin_class = '{name}.OnePointAnHour'\n")


def _run(command, course, *more):
    result = CliRunner().invoke(cli.app, [command, "--course", str(course.root), *more])
    assert result.exit_code == 0, result.output
    return result.stdout


def _results_everywhere(course):
    """Return each student's (score, penalty) after checking that all outputs agree."""
    _run("export", course)
    _run("feedback", course)
    with (course.root / "grades.csv").open(newline="") as stream:
        table = {row["student"]: row for row in csv.DictReader(stream)}
    config = Config()
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.db_url = course.gradebook_url
    lists = NbGraderAPI(CourseDirectory(config=config), config=config)
    listed_scores = {row["student"]: row["score"] for row in lists.get_submissions("toy")}
    totals = {row["id"]: row["score"] for row in lists.get_students()}
    with api.Gradebook(course.gradebook_url) as book:
        stored = {
            submission.student.id: submission for submission in book.assignment_submissions("toy")
        }
        results = {
            student: (float(table[student]["score"]), submission.late_submission_penalty)
            for student, submission in stored.items()
        }
    for student, (score, penalty) in results.items():
        row = table[student]
        assert float(row["late_submission_penalty"]) == penalty
        assert float(row["raw_score"]) - penalty == score
        assert listed_scores[student] == totals[student] == score
        assert lists.get_submission("toy", student)["score"] == score
        assert lists.get_student(student)["score"] == score
        page = (course.feedback / student / "toy" / "toy.html").read_text()
        assert f"{score:g} of 10 points</p>" in page
        taken = f"<dd>{penalty:g} point{'' if penalty == 1 else 's'} taken off</dd>"
        assert (taken in page) == bool(penalty)
        assert ("Late penalty" in page) == bool(penalty)
    mean = sum(score for score, _ in results.values()) / len(results)
    assert lists.get_assignment("toy")["average_score"] == mean
    return results


def test_penalty_is_the_same_everywhere_and_follows_the_due_date(course):
    _configure(course, ZERO)
    output = _run("grade", course)
    assert "late      bob (3 points off)" in output
    assert "absent    cay (not handed in)" in output
    assert "handed in 2 h 0 min late: 3 points off" in _run("grade", course, "toy")
    assert _results_everywhere(course) == {"ann": (5, 0), "bob": (0, 3)}
    with api.Gradebook(course.gradebook_url) as book:
        book.grant_extension("toy", "bob", hours=2)
    output = _run("grade", course)
    assert "0 judged, 2 known" in output
    assert "toy, bob: 0 to 3 (late penalty: 3 to 0)" in output
    assert _results_everywhere(course) == {"ann": (5, 0), "bob": (3, 0)}
    with api.Gradebook(course.gradebook_url) as book:
        book.grant_extension("toy", "bob")
        book.find_assignment("toy").duedate = datetime(2026, 2, 3, 10)
        book.db.commit()
    assert _results_everywhere(course) == {"ann": (0, 5), "bob": (0, 3)}, (
        "export and feedback see it too"
    )


def test_course_plugin_applies_to_nbgraders_commands_too(course):
    _use_hourly_plugin(course, "late_in_nbgrader")
    _run("grade", course)
    expected = _results_everywhere(course)
    assert expected == {"ann": (5, 0), "bob": (1, 2)}
    _run("export", course)
    exported = (course.root / "grades.csv").read_text()
    with api.Gradebook(course.gradebook_url) as book:
        book.remove_submission("toy", "bob")
    course.journal.unlink()
    process = nbgrader(course, "autograde", "toy", "--force")
    assert process.returncode == 0, process.stderr
    with api.Gradebook(course.gradebook_url) as book:
        assert book.find_submission("toy", "bob").late_submission_penalty == 2
    process = nbgrader(course, "export", "--to", "nbgrader.csv")
    assert process.returncode == 0, process.stderr
    assert (course.root / "nbgrader.csv").read_text() == exported


def test_mark_in_the_formgrader_updates_the_penalty(course):
    _configure(course, ZERO)
    _run("grade", course)
    with api.Gradebook(course.gradebook_url) as book:  # as the formgrader stores a mark
        grade = book.find_grade("why", "toy", "toy", "bob")
        grade.manual_score, grade.needs_manual_grade = 4.0, False
        book.db.commit()
    with api.Gradebook(course.gradebook_url) as book:
        submission = book.find_submission("toy", "bob")
        assert (submission.score, submission.late_submission_penalty) == (7, 7)


@pytest.mark.parametrize(
    ("setting", "place", "part"),
    [
        (
            "no_such_module",
            "nbgrader_config.py: ",
            "the plugin for late penalties cannot be loaded",
        ),
        ("unfinished_penalty", "unfinished_penalty.py, line 1: ", "cannot be loaded (SyntaxError"),
        (
            "broken_penalty",
            "broken_penalty.py, line 6: ",
            "OnePointAnHour fails on the submission of bob for toy",
        ),
    ],
)
def test_broken_plugin_is_reported_and_no_result_is_lost(course, setting, place, part):
    files = {
        "broken_penalty": BY_THE_HOUR.replace("late / 3600", "late / 0"),
        "unfinished_penalty": "class OnePointAnHour(:\n",
    }
    if setting in files:  # each used by one course only: Python imports a module once
        (course.root / f"{setting}.py").write_text(files[setting])
    setting = f"'{setting}.OnePointAnHour'"
    _configure(course, f"\nc.AssignLatePenalties.plugin_class = {setting}\n")
    result = CliRunner().invoke(cli.app, ["grade", "--course", str(course.root)])
    assert result.exit_code == 1
    assert part in result.stderr.splitlines()[-1]
    assert f"{course.root}/{place}" in result.stderr.splitlines()[-1]
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace("AssignLatePenalties", "Nothing"))
    assert "0 judged, 2 known" in _run("grade", Course.open(course.root))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-02-03 11:00:00 PST", "the time zone PST is not known"),
        ("2026-02-03 11:00:00 Mars/Olympus", "the time zone Mars/Olympus is not known"),
        ("11:00", "it holds no time"),
        ("2126-02-03 11:00:00 UTC", "2126-02-03 11:00:00 UTC is in the future"),
    ],
)
def test_implausible_submission_time_is_reported(course, text, message):
    _set_time(course, "bob", text)
    assert message in _run("grade", course).replace("\n", " ")


def test_due_date_is_read_with_its_time_zone_or_refused(course):
    due = "2026-02-03 12:00:00"
    process = nbgrader(course, "db", "assignment", "add", "toy", f"--duedate={due} +0200")
    assert process.returncode == 0, process.stderr
    for wrong, message in (
        (f"{due} PST", "the time zone PST is not known"),
        ("03.02.2026 12:00", "day and month are ambiguous"),
        ("soon", "Unknown string format: soon"),
    ):
        process = nbgrader(course, "db", "assignment", "add", "toy", f"--duedate={wrong}")
        assert process.returncode != 0
        assert message in process.stderr.strip().splitlines()[-1]
    with api.Gradebook(course.gradebook_url) as book:
        assert book.find_assignment("toy").duedate == datetime(2026, 2, 3, 10)


def test_student_without_a_submission_has_a_row(course):
    _run("grade", course)
    _run("export", course)
    with (course.root / "grades.csv").open(newline="") as stream:
        ann, _, cay = csv.DictReader(stream)
    assert (ann["handed_in"], ann["timestamp"]) == ("yes", "2026-02-03 11:00:00 UTC")
    assert (cay["student"], cay["first_name"], cay["handed_in"]) == ("cay", "Cay", "no")
    assert (cay["score"], cay["max_score"], cay["waiting"], cay["scale"]) == (
        "0.0",
        "10.0",
        "0",
        "",
    )
    with api.Gradebook(course.gradebook_url) as book:  # an extension in advance
        book.update_or_create_submission("toy", "cay")
        book.grant_extension("toy", "cay", days=1)
    _run("export", course)
    with (course.root / "grades.csv").open(newline="") as stream:
        assert [row["handed_in"] for row in csv.DictReader(stream)] == ["yes", "yes", "no"]
    rows = json.loads(course.grades.read_text())
    assert {row["student"] for row in rows} == {"ann", "bob"}
