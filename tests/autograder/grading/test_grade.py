"""Test grading a class: every submission gets its rows, and each is graded exactly once."""

import csv
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import classroom
import nbformat
import pytest
from bs4 import BeautifulSoup
from classroom import (
    MEAN_SUM,
    STUBS,
    hand_in,
    hand_in_a_test,
    make_course,
    released,
)
from inprocess import InProcess
from nbgrader import api
from toy import WRITTEN_TOY
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import CourseError
from autograder.exercise.outline import outline
from autograder.grading import grade as grade_module
from autograder.grading import program as grading
from autograder.grading.grade import grade
from autograder.nbgrader import database
from autograder.nbgrader.autograded import autograded_notebook
from autograder.nbgrader.database import GradebookLocked
from autograder.nbgrader.rendering import clean_markdown
from autograder.probe.status import Status
from autograder.sandbox.backends import SandboxUnavailable
from autograder.sandbox.rooms import NotStarted, Run
from autograder.submission.submission import MAX_SOURCE, read_submission

COLUMNS = ["student", "assignment", "exercise", "verdict", "points", "max_points"]
COLUMNS += ["misconception", "message"]
WRONG_SCALE = "def scale(X, factor=2.0):\n    return X + factor"


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM, why=STUBS["why"])
    return course


def _rows(course):
    rows = json.loads(course.grades.read_text())
    return {(row["student"], row["exercise"]): row for row in rows}


def _verdicts(course):
    return {key: (row["verdict"], row["points"]) for key, row in _rows(course).items()}


def test_grading_a_class_fills_table_gradebook_and_report(course, sandbox):
    progress = []
    workers = InProcess(sandbox, 2)
    report = grade(
        course, None, None, workers, lambda done, total, _: progress.append((done, total))
    )
    assert (report.judged, report.known, report.notes) == (2, 0, ())
    assert progress == [(1, 2), (2, 2)]
    rows = json.loads(course.grades.read_text())
    for row in rows:
        assert list(row) == COLUMNS
    assert [(row["student"], row["exercise"]) for row in rows] == [
        (student, exercise) for student in ("ann", "bob") for exercise in ("row_mean", "scale")
    ]
    assert _verdicts(course)["ann", "row_mean"] == ("PASS", 2)
    assert _rows(course)["bob", "row_mean"]["misconception"] == "sum for mean"
    assert [(w.student, w.answers) for w in report.waiting] == [("ann", 1), ("bob", 0)]
    with api.Gradebook(course.gradebook_url) as book:
        assert {s.student.id: s.score for s in book.assignment_submissions("toy")} == {
            "ann": 5.0,
            "bob": 3.0,
        }
        comment = book.find_comment("row_mean", "toy", "toy", "bob").auto_comment
        assert "sum for mean" in comment
        assert "How many numbers are in a row?" in comment


def test_second_run_judges_and_changes_nothing(course, sandbox, monkeypatch):
    grade(course, None, None, InProcess(sandbox))
    before = course.grades.read_bytes(), course.journal.read_bytes()
    monkeypatch.setattr(grading, "judge_program", lambda *a, **k: pytest.fail("judged again"))
    report = grade(course, None, None, InProcess(sandbox))
    assert (report.judged, report.known) == (0, 2)
    assert (course.grades.read_bytes(), course.journal.read_bytes()) == before


def test_grading_from_scratch_gives_identical_files(course, sandbox):
    grade(course, None, None, InProcess(sandbox))
    first = course.grades.read_bytes(), course.journal.read_bytes()
    course.journal.unlink()
    (course.root / "gradebook.db").unlink()
    grade(course, None, None, InProcess(sandbox))
    assert (course.grades.read_bytes(), course.journal.read_bytes()) == first


def test_changed_submissions_and_changed_checks_are_judged_again(course, sandbox, monkeypatch):
    grade(course, None, None, InProcess(sandbox))
    hand_in(course, "ann", scale=WRONG_SCALE)
    assert grade(course, None, None, InProcess(sandbox)).judged == 1
    assert _verdicts(course)["ann", "scale"] == ("WRONG_VALUE", 0)
    monkeypatch.setattr("autograder.grading.jobs.fingerprint", lambda *_: "other pins")
    assert grade(course, None, None, InProcess(sandbox)).judged == 2


def test_broken_submission_does_not_affect_other_students(course, sandbox):
    hand_in(course, "cay").write_bytes(b"{ not a notebook")
    hand_in(course, "dan").unlink()
    hand_in(course, "eve", mean="import os\nos.kill(os.getpid(), 9)", scale="while True: pass")
    (course.submitted / "fay" / "toy").mkdir(parents=True)
    (course.submitted / "fay" / "toy" / "toy.ipynb").symlink_to("/etc/passwd")
    grade(course, None, None, InProcess(sandbox, 2))
    verdicts = _verdicts(course)
    assert len(verdicts) == 2 * 6
    assert verdicts["ann", "scale"] == ("PASS", 3)
    assert verdicts["cay", "scale"] == ("MALFORMED", 0)
    assert verdicts["dan", "scale"] == ("MISSING", 0)
    assert verdicts["fay", "scale"] == ("MALFORMED", 0)
    assert {verdicts["eve", name][1] for name in ("row_mean", "scale")} == {0}
    for student in ("ann", "cay", "dan", "eve", "fay"):
        notebook = nbformat.read(course.autograded / student / "toy" / "toy.ipynb", as_version=4)
        nbformat.validate(notebook)
    with api.Gradebook(course.gradebook_url) as book:
        assert len(book.assignment_submissions("toy")) == 6


def test_partial_points_for_a_written_test_reach_feedback_and_table(tmp_path, sandbox, monkeypatch):
    course = hand_in_a_test(
        tmp_path / "course",
        "ann",
        "def test_row_mean(implementation):\n"
        "    assert np.allclose(implementation(np.array([[1.0, -2.0, 4.0]])), 1)",
    )
    grade(course, None, None, InProcess(sandbox, 1))
    row = _rows(course)["ann", "test_row_mean"]
    assert (row["verdict"], row["points"], row["max_points"]) == ("MISSED", 2.8, 4)
    for command in ("feedback", "export"):
        result = CliRunner().invoke(cli.app, [command, "--course", str(course.root)])
        assert result.exit_code == 0, result.output
    page = (course.feedback / "ann" / "toy_test" / "toy_test.html").read_text()
    words = " ".join(BeautifulSoup(page, features="html.parser").get_text(" ").split())
    assert "2.8 of 4 points" in words
    assert "test_row_mean 2.8/4: only one row" in words
    assert "Lets wrong implementations through. It accepts" in words
    assert "It lets through: one row for all; rows upside down." in words
    with (course.root / "grades.csv").open(newline="") as stream:
        (table,) = csv.DictReader(stream)
    assert (table["test_row_mean"], table["score"], table["max_score"]) == ("2.8", "2.8", "4.0")


def test_grader_failure_costs_no_points_and_is_retried(course, sandbox, monkeypatch):
    real = grading.judge_program

    def failing(program, assignment, **options):
        if any("X.sum" in cell.source for cell in program):
            raise KeyError("\x1b[31mgrader")
        return real(program, assignment, **options)

    monkeypatch.setattr(grading, "judge_program", failing)
    report = grade(course, None, None, InProcess(sandbox, 2))
    assert _verdicts(course)["bob", "row_mean"] == ("GRADER_FAULT", 0)
    assert _verdicts(course)["ann", "row_mean"] == ("PASS", 2)
    assert {w.student: w.answers for w in report.waiting}["bob"] == 2
    log = course.faults.read_text()
    assert "KeyError" in log
    assert "\x1b" not in log
    monkeypatch.setattr(grading, "judge_program", real)
    report = grade(course, None, None, InProcess(sandbox))
    assert (report.judged, report.known) == (1, 1)
    assert _verdicts(course)["bob", "row_mean"] == ("WRONG_VALUE", 0)
    assert {w.student: w.answers for w in report.waiting}["bob"] == 0


class Stubborn:
    """A room in which every run ends with the outcome `run`."""

    open = True

    def __init__(self, run):
        self.answer = run

    def run(self, calls, **options):
        return self.answer

    def close(self):
        pass


class Crowded:
    """A sandbox that fails with `bad` for two simultaneous rooms and then works."""

    def __init__(self, inner, bad):
        self.inner, self.bad = inner, bad
        self.calls, self.meeting = itertools.count(), threading.Barrier(2)
        self.inside, self.alone = 0, []

    def room(self, program, torch):
        if next(self.calls) < 2:
            self.meeting.wait(60)
            return self.fail()
        self.inside += 1
        room = self.inner.room(program, torch)
        leave = room._leave

        def left(stuck):
            self.alone.append(self.inside == 1)
            self.inside -= 1
            leave(stuck)

        room._leave = left
        return room

    def fail(self):
        if self.bad == "not started":
            raise NotStarted("Creating new namespace failed")
        return Stubborn(Run(Status(self.bad)))


@pytest.mark.parametrize("bad", ["not started", "killed", "timeout", "memory"])
def test_verdict_that_load_may_explain_is_judged_again_alone(course, sandbox, bad):
    crowd = Crowded(sandbox, bad)
    grade(course, None, None, InProcess(crowd, 2))
    assert len(crowd.alone) >= 2
    assert all(crowd.alone)
    assert _verdicts(course)["ann", "row_mean"] == ("PASS", 2)
    assert _verdicts(course)["bob", "row_mean"] == ("WRONG_VALUE", 0)
    kinds = [json.loads(line)["kind"] for line in course.journal.read_bytes().splitlines()]
    assert kinds.count("graded") == 2


def test_doubtful_verdict_is_not_stored_before_it_is_judged_again(course, sandbox):
    class Stopped(Crowded):
        def room(self, program, torch):
            if next(self.calls) < 2:
                return self.fail()
            raise KeyboardInterrupt

    workers = InProcess(Stopped(sandbox, "killed"), 2)
    with pytest.raises(KeyboardInterrupt):
        grade(course, None, None, workers)
    assert grade(course, None, None, InProcess(sandbox)).judged == 2
    assert _verdicts(course)["ann", "row_mean"] == ("PASS", 2)


def test_failure_while_reading_leaves_the_submission_to_a_person(course, sandbox, monkeypatch):
    def failing(*_):
        raise RecursionError("in the grader")

    monkeypatch.setattr(grade_module, "read_submission", failing)
    report = grade(course, None, ["ann"], InProcess(sandbox))
    assert {row.verdict for row in report.rows} == {"GRADER_FAULT"}
    assert report.waiting[0].answers == 3


def test_invalid_submission_time_is_reported(course, sandbox):
    (course.submitted / "ann" / "toy" / "timestamp.txt").write_text("2026-02-03 10:00:00 UTC")
    (course.submitted / "bob" / "toy" / "timestamp.txt").write_text("soon")
    report = grade(course, None, None, InProcess(sandbox))
    assert ["timestamp.txt: it holds no time" in note for note in report.notes] == [True]
    with api.Gradebook(course.gradebook_url) as book:
        assert book.find_submission("toy", "ann").timestamp.hour == 10
    timestamp = (course.autograded / "ann" / "toy" / "timestamp.txt").read_text()
    assert timestamp == "2026-02-03T10:00:00 UTC\n"


def test_lost_sandbox_ends_the_run_without_grades(course, monkeypatch, sandbox):
    def lost(*_, **__):
        raise SandboxUnavailable("gone")

    monkeypatch.setattr(grading, "judge_program", lost)
    with pytest.raises(SandboxUnavailable, match="gone"):
        grade(course, None, None, InProcess(sandbox, 2))
    assert course.journal.read_bytes() == b""


def test_grading_named_students_keeps_the_grades_of_others(course, sandbox):
    grade(course, None, ["bob"], InProcess(sandbox))
    assert {student for student, _ in _rows(course)} == {"bob"}
    report = grade(course, ["toy"], ["ann"], InProcess(sandbox))
    assert {row.student for row in report.rows} == {"ann"}
    assert {student for student, _ in _rows(course)} == {"ann", "bob"}
    (course.submitted / "bob" / "toy" / "toy.ipynb").unlink()
    (course.submitted / "bob" / "toy").rmdir()
    grade(course, None, None, InProcess(sandbox))
    assert {student for student, _ in _rows(course)} == {"ann"}


@pytest.mark.parametrize(("names", "students"), [(["nope"], None), (None, ["nope"])])
def test_unknown_assignment_or_student_is_reported(course, sandbox, names, students):
    with pytest.raises(CourseError, match="nope"):
        grade(course, names, students, InProcess(sandbox))


def test_missing_or_damaged_release_is_reported(course, sandbox):
    (course.release / "toy" / "toy.ipynb").unlink()
    with pytest.raises(CourseError, match=r"toy is not released.*autograder release"):
        grade(course, None, None, InProcess(sandbox))
    (course.release / "toy" / "toy.ipynb").write_text("{")
    with pytest.raises(CourseError, match="release cannot be read"):
        grade(course, None, None, InProcess(sandbox))


def test_locked_gradebook_loses_no_results(course, sandbox, monkeypatch):
    grade(course, None, ["ann"], InProcess(sandbox))
    monkeypatch.setattr(database, "LOCK_WAIT", 0.3)
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(GradebookLocked):
        grade(course, None, None, InProcess(sandbox))
    assert _verdicts(course)["bob", "scale"] == ("PASS", 3)
    holder.close()
    report = grade(course, None, None, InProcess(sandbox))
    assert (report.judged, report.known) == (0, 2)
    with api.Gradebook(course.gradebook_url) as book:
        assert len(book.assignment_submissions("toy")) == 2


def test_changed_written_answer_waits_to_be_marked_again(course, sandbox):
    grade(course, None, None, InProcess(sandbox))
    with api.Gradebook(course.gradebook_url) as book:
        mark = book.find_grade("why", "toy", "toy", "ann")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        book.db.commit()
    waiting = {w.student: w.answers for w in grade(course, None, None, InProcess(sandbox)).waiting}
    assert waiting["ann"] == 0
    hand_in(course, "ann", why="Something else.")
    waiting = {w.student: w.answers for w in grade(course, None, None, InProcess(sandbox)).waiting}
    assert waiting["ann"] == 1


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from inprocess import InProcess
    from autograder.course.course import Course
    from autograder.grading.grade import grade
    from autograder.sandbox.backends import open_sandbox
    def stop(done, total, file):
        if done == 3:
            os.kill(os.getpid(), signal.SIGKILL)
    grade(Course.open(Path(sys.argv[1])), None, None, InProcess(open_sandbox(), 2), stop)
"""


def test_killed_run_resumes_where_it_stopped(course, sandbox):
    for number in range(6):
        hand_in(course, f"student{number}")
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(course.root)],
        env={**os.environ, "PYTHONPATH": str(Path(classroom.__file__).parent)},
        check=False,
    )
    assert process.returncode == -signal.SIGKILL
    entries = [json.loads(line) for line in course.journal.read_bytes().splitlines()]
    assert 3 <= len(entries) < 8
    report = grade(course, None, None, InProcess(sandbox, 2))
    assert (report.judged, report.known) == (8 - len(entries), len(entries))
    graded = [
        line["student"]
        for line in map(json.loads, course.journal.read_bytes().splitlines())
        if line["kind"] == "graded"
    ]
    assert len(graded) == len(set(graded)) == 8
    assert len(_rows(course)) == 16


def test_submission_for_an_unreleased_assignment_is_reported_and_skipped(
    course, sandbox, monkeypatch
):
    (course.submitted / "ann" / "toy").rename(course.submitted / "ann" / "toy_test")
    report = grade(course, None, None, InProcess(sandbox))
    assert {row.student for row in report.rows} == {"bob"}
    assert "toy_test: 1 handed in, but not graded: it is not released" in report.notes[0]
    with pytest.raises(CourseError, match="toy_test is not released"):
        grade(course, ["toy_test"], None, InProcess(sandbox))


def test_ignored_folder_is_reported(course, sandbox):
    (course.submitted / "bob").rename(course.submitted / ".bob")
    report = grade(course, None, None, InProcess(sandbox))
    assert {row.student for row in report.rows} == {"ann"}
    assert [".bob: folders that begin with a dot" in note for note in report.notes] == [True]


def test_concurrent_runs_grade_each_submission_once(course, sandbox):
    threads = [
        threading.Thread(target=grade, args=(course, None, None, InProcess(sandbox))) for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = [json.loads(line)["kind"] for line in course.journal.read_bytes().splitlines()]
    assert kinds.count("graded") == 2


def _autograded(course, student):
    file = course.submissions(None, [student])[0]
    parts = outline(WRITTEN_TOY)
    submission = read_submission(file, parts, released())
    return autograded_notebook(submission, parts, released())


def _sources(notebook):
    return {c.metadata.get("nbgrader", {}).get("grade_id"): c.source for c in notebook.cells}


def test_autograded_notebook_is_the_release_with_the_answers(course):
    path = hand_in(course, "ann", mean=MEAN_SUM, why="Because <b>so</b>.")
    submitted = nbformat.read(path, as_version=4)
    submitted.cells[0].source = "# 100 of 100 points"
    submitted.cells[3].source = "print('all tests passed')"
    submitted.cells[2].metadata.nbgrader.points = 1000
    submitted.cells[2].metadata["tags"] = ["skip-execution"]
    output = nbformat.v4.new_output("stream", text="all tests passed")
    submitted.cells[2].outputs = [output]
    submitted.cells.insert(2, nbformat.v4.new_code_cell("helper = 1"))
    nbformat.write(submitted, path)
    notebook = _autograded(course, "ann")
    sources = _sources(notebook)
    assert sources["title"] == "# A toy"
    assert sources["row_mean-check"] == "check(row_mean)"
    assert (sources["row_mean"], sources["why"]) == (MEAN_SUM, "Because <b>so</b>.")
    answer = next(cell for cell in notebook.cells if cell.source == MEAN_SUM)
    assert notebook.cells[notebook.cells.index(answer) - 1].source == "helper = 1"
    assert answer.metadata.nbgrader.points == 2
    assert all(not cell.get("outputs") for cell in notebook.cells)
    assert "tags" not in answer.metadata


def test_unreadable_submission_is_shown_with_the_reason(course):
    hand_in(course, "ann").write_bytes(b"{ not a notebook")
    notebook = _autograded(course, "ann")
    assert "could be read" in notebook.cells[0].source
    assert "damaged or cut off" in notebook.cells[0].source
    assert _sources(notebook)["scale"] == STUBS["scale"]
    assert len(notebook.cells) == len(released().cells) + 1


def test_omitted_cell_is_named_above_the_notebook(course):
    path = hand_in(course, "ann")
    submitted = nbformat.read(path, as_version=4)
    submitted.cells.append(nbformat.v4.new_code_cell(f"<b>data = '{'1' * MAX_SOURCE}'"))
    nbformat.write(submitted, path)
    first = clean_markdown(_autograded(course, "ann").cells[0].source)
    assert "1,000,012 characters was left out" in first
    assert "&lt;b&gt;data" in first
