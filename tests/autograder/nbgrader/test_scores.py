"""Test scores of a gradebook made by nbgrader alone: they equal nbgrader's numbers."""

import csv
from datetime import datetime

import pytest
from nbgrader import api
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.nbgrader.export import GradesCsv
from autograder.nbgrader.gradebook import Gradebook
from autograder.nbgrader.penalties import LatePenalties, PenaltyError, keep_penalties
from autograder.nbgrader.preset import configure

BROKEN = """
from nbgrader.plugins import BasePlugin

class Broken(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        raise ValueError("no such day")
"""


def _course(root, penalty="zero"):
    """Return the configuration of a course at `root` whose gradebook nbgrader has created.

    Its assignment has two notebooks, with an exercise of the same name in each, and a task. Ann is
    late, bob is in time, and cay has an extension but no submission.
    """
    root.mkdir()
    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = "cs101"
    configure(config)
    config.LateSubmissionPlugin.penalty_method = penalty
    with api.Gradebook(config.CourseDirectory.db_url, "cs101") as book:
        book.add_assignment("hw", duedate="2026-02-03 12:00:00 UTC")
        for notebook in ("p1", "p2"):
            book.add_notebook(notebook, "hw")
            book.add_grade_cell("sum", notebook, "hw", max_score=4, cell_type="code")
            book.add_solution_cell("sum", notebook, "hw")
        book.add_task_cell("essay", "p2", "hw", max_score=6, cell_type="markdown")
        for student, hour in (("ann", 13), ("bob", 11), ("cay", None)):
            book.add_student(student)
            time = None if hour is None else f"2026-02-03 {hour}:00:00 UTC"
            book.add_submission("hw", student, timestamp=time) if time else None
        book.update_or_create_submission("hw", "cay")
        book.grant_extension("hw", "cay", days=1)
        for student in ("ann", "bob"):
            _mark(book, student, "sum", "p1", auto_score=1.0)
            _mark(book, student, "sum", "p2", auto_score=2.0)
            _mark(book, student, "essay", "p2", manual_score=5.0, extra_credit=0.5)
    return config


def _mark(book, student, cell, notebook, **values):
    grade = book.find_grade(cell, notebook, "hw", student)
    for name, value in values.items():
        setattr(grade, name, value)
    grade.needs_manual_grade = False
    book.db.commit()


def _penalties(config):
    with api.Gradebook(config.CourseDirectory.db_url, "cs101") as book:
        return {
            submission.student.id: submission.late_submission_penalty
            for submission in book.assignment_submissions("hw")
        }


def test_tasks_and_two_notebooks_count_as_in_nbgrader(tmp_path):
    config = _course(tmp_path / "course")
    with Gradebook(config.CourseDirectory.db_url) as book:
        scores = {score.student: score for score in book.scores()}
        submissions = {
            submission.student.id: submission
            for submission in book.nbgrader.assignment_submissions("hw")
        }
        for student, score in scores.items():
            assert score.raw_score == submissions[student].score
            assert score.late_penalty == submissions[student].late_submission_penalty
            assert score.max_score == submissions[student].max_score == 14
        GradesCsv(to=str(tmp_path / "grades.csv")).export(book.nbgrader)
    assert (scores["bob"].raw_score, scores["bob"].score, scores["ann"].score) == (8.5, 8.5, 0)
    with (tmp_path / "grades.csv").open(newline="") as stream:
        bob = list(csv.DictReader(stream))[1]
    assert (bob["p1: sum"], bob["p2: sum"], bob["p2: essay"]) == ("1.0", "2.0", "5.5")


def test_means_in_the_formgrader_match_the_scores(tmp_path):
    config = _course(tmp_path / "course")
    (tmp_path / "course" / "source" / "hw").mkdir(parents=True)
    lists = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert lists.get_assignment("hw")["average_score"] == pytest.approx(8.5 / 3)
    means = {row["name"]: row["average_score"] for row in lists.get_notebooks("hw")}
    assert means == {"p1": pytest.approx(1 / 3), "p2": pytest.approx(7.5 / 3)}


def test_two_courses_in_one_process_use_separate_penalties(tmp_path):
    strict, mild = _course(tmp_path / "strict"), _course(tmp_path / "mild", "none")
    for number, address in enumerate(("postgresql://a:b@host:port/x", "no address")):
        config = Config()
        config.CourseDirectory.db_url = address
        keep_penalties(config, tmp_path / str(number))
    assert _penalties(strict) == {"ann": 8.5, "bob": 0, "cay": 0}
    with api.Gradebook(strict.CourseDirectory.db_url, "cs101") as book:
        _mark(book, "ann", "essay", "p2", manual_score=6.0)
    with api.Gradebook(mild.CourseDirectory.db_url, "cs101") as book:
        _mark(book, "ann", "essay", "p2", manual_score=6.0)
    assert _penalties(strict) == {"ann": 9.5, "bob": 0, "cay": 0}
    assert _penalties(mild) == {"ann": 0, "bob": 0, "cay": 0}


def test_removing_the_due_date_removes_its_penalties(tmp_path):
    config = _course(tmp_path / "course")
    with api.Gradebook(config.CourseDirectory.db_url, "cs101") as book:
        book.find_assignment("hw").duedate = None
        book.db.commit()
    assert _penalties(config) == {"ann": 0, "bob": 0, "cay": 0}


def test_negative_extension_makes_work_late(tmp_path):
    config = _course(tmp_path / "course")
    with api.Gradebook(config.CourseDirectory.db_url, "cs101") as book:
        book.grant_extension("hw", "bob", hours=-2)
    assert _penalties(config) == {"ann": 8.5, "bob": 8.5, "cay": 0}


def test_failing_plugin_does_not_lose_a_mark_in_the_formgrader(tmp_path):
    config = _course(tmp_path / "course")
    (tmp_path / "course" / "breaks_while_marking.py").write_text(BROKEN)
    config.AssignLatePenalties.plugin_class = "breaks_while_marking.Broken"
    with api.Gradebook(config.CourseDirectory.db_url, "cs101") as book:
        for score in (3.0, 4.0):  # the formgrader reuses the session
            _mark(book, "ann", "essay", "p2", manual_score=score)
        assert book.find_grade("essay", "p2", "hw", "ann").manual_score == 4.0


@pytest.mark.parametrize(
    ("returned", "penalty"),
    [
        ("float('inf')", 8.5),
        ("'2'", 3),
        ("-1", 0),
        ("None", 0),
        ("float('nan')", None),
        ("[]", None),
    ],
)
def test_penalty_of_a_plugin_is_limited_to_the_score(tmp_path, returned, penalty):
    config = _course(tmp_path / "course")  # ann has 1 point in one notebook, 7.5 in the other
    name = f"returns_{abs(hash(returned))}"  # each test imports a different module
    plugin = BROKEN.replace('raise ValueError("no such day")', f"return {returned}")
    (tmp_path / "course" / f"{name}.py").write_text(plugin)
    config.AssignLatePenalties.plugin_class = f"{name}.Broken"
    penalties = LatePenalties(config, tmp_path / "course")
    with Gradebook(config.CourseDirectory.db_url) as book:
        if penalty is None:
            with pytest.raises(PenaltyError, match="Broken fails on the submission of ann for hw"):
                book.assign_penalties(penalties)
            return
        book.assign_penalties(penalties)
        assert book.scores()[0].late_penalty == penalty


def test_penalties_are_written_in_batches_below_the_database_limit(tmp_path):
    config = _course(tmp_path / "course")
    with Gradebook(config.CourseDirectory.db_url) as book:
        connection = book.nbgrader.db.connection()
        connection.connection.driver_connection.setlimit(9, 3)  # SQLITE_LIMIT_VARIABLE_NUMBER
        book.nbgrader.find_assignment("hw").duedate = datetime(2020, 1, 1)
        book.nbgrader.db.flush()
        LatePenalties(config, tmp_path / "course").assign(connection)
        assert [score.score for score in book.scores()] == [0, 0, 0]
