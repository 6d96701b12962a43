"""Test releases that disagree with the package, and reports of changes since the last run."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO

import nbformat
import pytest
from classroom import MEAN_SUM, hand_in, make_course
from inprocess import InProcess
from nbgrader import api
from rich.console import Console
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import CourseError
from autograder.course.journal import Journal, Record, Row
from autograder.exercise.outline import Part, outline
from autograder.grading import jobs
from autograder.grading.changes import note_changes
from autograder.grading.grade import grade
from autograder.grading.grades_table import overview
from autograder.nbgrader.database import GradebookError
from autograder.nbgrader.gradebook import Gradebook
from autograder.nbgrader.scores import Score

WRONG_SCALE = "def scale(X, factor=2.0):\n    return X + factor"
USES_SCALE = "def row_mean(X):\n    return scale(X, 1.0).mean(axis=-1)"


@pytest.fixture
def course(tmp_path):
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM)
    return course


def _package_has(monkeypatch, *names, **points):
    """Make the course package declare the exercises `names`, some with other `points`."""

    def changed(assignment):
        whole = outline(assignment)
        parts = {part.name: part for part in whole.exercises} | {"extra": Part("extra", 4)}
        chosen = (
            replace(parts[name], points=points.get(name, parts[name].points)) for name in names
        )
        return replace(whole, exercises=tuple(chosen))

    monkeypatch.setattr(jobs, "outline", changed)
    monkeypatch.setattr(jobs, "fingerprint", lambda *_: f"{names} {points}")


def _scores(report):
    return {score.student: (score.raw_score, score.max_score) for score in report.scores}


def _points(course):
    rows = json.loads(course.grades.read_text())
    return {(row["student"], row["exercise"]): (row["points"], row["max_points"]) for row in rows}


def test_exercise_dropped_from_the_package_keeps_its_verdict(course, sandbox, monkeypatch):
    hand_in(course, "ann", mean=USES_SCALE)
    before = _scores(grade(course, None, None, InProcess(sandbox)))
    _package_has(monkeypatch, "row_mean")
    report = grade(course, None, None, InProcess(sandbox))
    assert _scores(report) == before == {"ann": (5, 10), "bob": (3, 10)}
    assert report.judged == 2
    assert report.changes == ()
    assert _points(course)["ann", "scale"] == (3, 3)
    (note,) = report.notes
    assert "the release asks scale, which the course package no longer has" in note
    hand_in(course, "ann", scale=WRONG_SCALE)
    grade(course, None, None, InProcess(sandbox))
    assert _points(course)["ann", "scale"] == (3, 3), "the new answer cannot be judged"


def test_release_that_cannot_be_judged_is_reported_before_any_write(course, sandbox, monkeypatch):
    grade(course, None, None, InProcess(sandbox))
    hand_in(course, "cay")
    _package_has(monkeypatch, "row_mean")
    before = course.grades.read_bytes(), course.journal.read_bytes()
    with pytest.raises(
        CourseError, match=r"asks scale, which .* 1 of the submissions .*: cay\. No"
    ):
        grade(course, None, None, InProcess(sandbox))
    assert (course.grades.read_bytes(), course.journal.read_bytes()) == before


def test_exercise_missing_from_the_release_costs_no_points(course, sandbox, monkeypatch):
    _package_has(monkeypatch, "row_mean", "scale", "extra")
    report = grade(course, None, None, InProcess(sandbox))
    assert _scores(report) == {"ann": (5, 10), "bob": (3, 10)}
    assert report.unjudged == 0
    assert "the course package has extra, which the release does not ask" in report.notes[0]


def test_points_come_from_the_release(course, sandbox, monkeypatch):
    grade(course, None, None, InProcess(sandbox))
    _package_has(monkeypatch, "row_mean", "scale", scale=30)
    report = grade(course, None, None, InProcess(sandbox))
    assert _scores(report) == {"ann": (5, 10), "bob": (3, 10)}
    assert "scale is worth 3 points in the release and 30 in the course package" in report.notes[0]
    path = course.release / "toy" / "toy.ipynb"
    released = nbformat.read(path, as_version=4)
    for cell in released.cells:
        if cell.metadata.nbgrader.grade_id == "scale":
            cell.metadata.nbgrader.points = 30
    nbformat.write(released, path)
    monkeypatch.setattr(jobs, "fingerprint", lambda *_: "the new release")
    report = grade(course, None, None, InProcess(sandbox))
    assert _scores(report) == {"ann": (32, 37), "bob": (30, 37)}
    assert [(change.student, change.before, change.after) for change in report.changes] == [
        ("ann", 5, 32),
        ("bob", 3, 30),
    ]


def test_mark_above_a_lowered_maximum_is_reported(course, sandbox):
    grade(course, None, None, InProcess(sandbox))
    with api.Gradebook(course.gradebook_url) as book:
        mark = book.find_grade("why", "toy", "toy", "ann")
        mark.manual_score, mark.needs_manual_grade = 5.0, False
        book.db.commit()
    path = course.release / "toy" / "toy.ipynb"
    released = nbformat.read(path, as_version=4)
    for cell in released.cells:
        if cell.metadata.nbgrader.grade_id == "why":
            cell.metadata.nbgrader.points = 3
    nbformat.write(released, path)
    (note,) = grade(course, None, None, InProcess(sandbox)).notes
    assert "the mark of ann for why is 5, but the release gives at most 3" in note


@pytest.mark.parametrize("points", ["3", None, -1])
def test_release_with_invalid_points_is_reported(course, sandbox, points):
    path = course.release / "toy" / "toy.ipynb"
    released = nbformat.read(path, as_version=4)
    for cell in released.cells:
        if cell.metadata.nbgrader.grade_id == "scale":
            cell.metadata.nbgrader.points = points
    nbformat.write(released, path)
    message = f"the release cannot be read .*scale is worth {points!r} points"
    with pytest.raises(CourseError, match=message):
        grade(course, None, None, InProcess(sandbox))


def test_fingerprint_depends_on_the_points_in_the_release():
    package = jobs.CoursePackage.find("toy_course")
    cells = [nbformat.v4.new_code_cell("scale", metadata={"nbgrader": {"points": 3}})]
    three = nbformat.v4.new_notebook(cells=cells)
    four = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cells[0] | {})])
    four.cells[0].metadata = nbformat.from_dict({"nbgrader": {"points": 4}})
    fingerprints = [
        jobs.fingerprint(package["toy"], release, package.packages) for release in (three, four)
    ]
    assert fingerprints[0] != fingerprints[1]


def test_notebook_older_than_an_added_exercise_is_reported(course, sandbox):
    path = hand_in(course, "old")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "scale" not in cell.source]
    nbformat.write(notebook, path)
    (note,) = grade(course, None, None, InProcess(sandbox)).notes
    assert "toy: scale has no cell in 1 of the notebooks: old." in note


def test_each_change_is_reported_once_with_its_reason(course, sandbox, monkeypatch):
    workers = InProcess(sandbox)
    assert grade(course, None, None, workers).changes == ()
    hand_in(course, "ann", scale=WRONG_SCALE)
    with api.Gradebook(course.gradebook_url) as book:
        mark = book.find_grade("why", "toy", "toy", "bob")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        book.db.commit()
    ann, bob = grade(course, None, None, workers).changes
    assert (ann.student, ann.before, ann.after, ann.reasons) == ("ann", 5, 2, ("handed in again",))
    assert (bob.student, bob.before, bob.after) == ("bob", 3, 7)
    assert bob.reasons == ("points by a person: 0 to 4",)
    assert grade(course, None, None, workers).changes == ()


def test_dry_run_reports_the_same_and_writes_nothing(course, sandbox):
    grade(course, None, None, InProcess(sandbox))
    hand_in(course, "ann", scale=WRONG_SCALE)
    hand_in(course, "bob")

    def state():
        return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}

    before = state()
    tried = grade(course, None, None, InProcess(sandbox), dry=True)
    assert state() == before
    real = grade(course, None, None, InProcess(sandbox))
    assert tried.changes == real.changes != ()
    assert tried.scores == real.scores


def test_dry_run_without_a_gradebook_is_refused(course, sandbox):
    with pytest.raises(GradebookError, match="there is no gradebook yet"):
        grade(course, None, None, InProcess(sandbox), dry=True)
    assert not (course.root / "gradebook.db").exists()
    assert not course.journal.exists()


def test_mark_for_an_earlier_text_counts_and_is_reported(course, sandbox):
    grade(course, None, None, InProcess(sandbox))
    with api.Gradebook(course.gradebook_url) as book:
        mark = book.find_grade("why", "toy", "toy", "ann")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        book.find_comment("why", "toy", "toy", "ann").manual_comment = "Nearly."
        book.db.commit()
    hand_in(course, "ann", scale=WRONG_SCALE)
    score = grade(course, None, ["ann"], InProcess(sandbox)).scores[0]
    assert (score.raw_score, score.waiting, score.outdated) == (6, 0, ()), "the text is the same"
    hand_in(course, "ann", why="Something else.")
    report = grade(course, None, ["ann"], InProcess(sandbox))
    score = report.scores[0]
    assert (score.raw_score, score.waiting, score.outdated) == (9, 1, ("why",))
    console = Console(width=200, file=StringIO())
    console.print(overview(report))
    assert "re-mark   ann (marked for an earlier text)" in console.file.getvalue()
    for command in ("feedback", "export"):
        result = CliRunner().invoke(cli.app, [command, "--course", str(course.root)])
        assert result.exit_code == 0, result.output
    page = (course.feedback / "ann" / "toy" / "toy.html").read_text()
    assert "9 of 10 points</p>" in page
    assert "4/5 for an earlier text: waiting to be marked" in page
    assert "Something else." in page
    assert "Nearly." in page
    assert "They count until a person has marked the new text." in page
    assert "Its points are not in the score yet." not in page
    with (course.root / "grades.csv").open(newline="") as stream:
        ann = next(csv.DictReader(stream))
    assert (ann["score"], ann["why"], ann["for_earlier_text"]) == ("9.0", "4.0", "1")


def test_rounding_is_not_reported_as_points_by_a_person(tmp_path):
    """Tolerate rounding: in floating point, a sum of points depends on the order."""

    def changes_noted(journal, points):
        rows = [Row("ann", "toy", f"e{n}", "PASS", x, 1, None, "") for n, x in enumerate(points)]
        journal.append(Record("ann", "toy", f"{points}", "f", False, tuple(rows), {}))
        sums = {"raw_score": sum(reversed(points)), "late_penalty": 0.0, "max_score": 9.0}
        place = {"student": "ann", "assignment": "toy", "timestamp": None, "late_seconds": 0.0}
        names = dict.fromkeys(("last_name", "first_name", "email", "platform_id"))
        score = Score(**names, **place, **sums, waiting=0, outdated=(), handed_in=True)
        return note_changes(journal, [score])

    with Journal(tmp_path / "journal.jsonl") as journal:
        assert changes_noted(journal, (0.1, 0.2, 0.3)) == []
        assert changes_noted(journal, (0.3, 0.2, 0.1)) == []
        (change,) = changes_noted(journal, (0.1, 0.2, 0.4))
    assert change.reasons == ("handed in again",)


def test_grader_failure_in_a_dry_run_is_reported_but_not_logged(course, monkeypatch):
    workers = Failing()
    with Gradebook(course.gradebook_url):
        pass  # creates the gradebook
    report = grade(course, None, None, workers, dry=True)
    assert report.unjudged == 2
    assert any("no sandbox today" in note for note in report.notes)
    assert not course.faults.exists()
    assert not course.journal.exists()


class Failing(InProcess):
    """Workers on which every submission fails."""

    def __init__(self):
        self.capacity, self.trust, self._pool = 1, True, ThreadPoolExecutor(1)

    def _judge(self, job):
        raise ValueError("no sandbox today")
