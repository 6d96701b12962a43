"""Test a gradebook on a real PostgreSQL server, which the tests start and stop."""

import csv
import json
import re

import classroom
import postgresql
import pytest
from classroom import MEAN_SUM, STUBS, hand_in, make_course
from inprocess import InProcess
from nbgrader import api
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import Course
from autograder.grading.grade import grade
from autograder.nbgrader import database
from autograder.nbgrader.database import GradebookError
from autograder.nbgrader.gradebook import Gradebook


@pytest.fixture(scope="module")
def running():
    with postgresql.server() as started:
        yield started


@pytest.fixture
def server(running):
    """Yield the server with an empty database."""
    yield running
    with running.connect("postgres") as connection:
        connection.execute("DROP DATABASE grades WITH (FORCE)")
        connection.execute("CREATE DATABASE grades")


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM, why=STUBS["why"])
    return course


def keep_grades_at(course, url):
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write(f"c.CourseDirectory.db_url = {url!r}\n")
    return Course.open(course.root)


def run(*arguments):
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def error_line(*arguments):
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    *progress, line = result.stderr.strip().splitlines()
    assert all(entry.startswith("grading ") for entry in progress), result.stderr
    return line


def scores(course):
    """Return the grades and comments of the gradebook by (student, answer)."""
    with api.Gradebook(course.gradebook_url) as book:
        results = {}
        for submission in book.assignment_submissions("toy"):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    where = submission.student.id, grade.cell.name
                    results[where] = (
                        grade.auto_score,
                        grade.manual_score,
                        grade.needs_manual_grade,
                        book.find_comment(where[1], "toy", "toy", where[0]).auto_comment,
                    )
        return results


def mark(course, student, points):
    with api.Gradebook(course.gradebook_url) as book:
        grade = book.find_grade("why", "toy", "toy", student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def use(course):
    """Grade, mark by hand, regrade, write feedback and export; return the result of each step."""
    results = []
    run("grade", "--course", course.root)
    results.append(scores(course))
    mark(course, "ann", 4.0)
    hand_in(course, "ann", why="Something else.")
    hand_in(course, "bob")
    run("grade", "--course", course.root)
    results.append(scores(course))
    run("feedback", "--course", course.root)
    results.append((course.feedback / "ann" / "toy" / "toy.html").read_text().count("4.0"))
    run("export", "--course", course.root)
    with (course.root / "grades.csv").open(newline="") as stream:
        results.append(list(csv.DictReader(stream)))
    return results


def test_postgresql_and_sqlite_hold_the_same_grades(course, server):
    in_sqlite = use(course)
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM, why=STUBS["why"])
    course.journal.unlink()
    on_server = keep_grades_at(course, server.url())
    assert use(on_server) == in_sqlite
    assert in_sqlite[1]["ann", "why"][1:3] == (4.0, True)
    with server.connect() as connection:
        version = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert version == (api.get_alembic_version(),)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"password": "wrong"}, "password authentication failed"),
        ({"database": "absent"}, "database .absent. does not exist"),
        ({"port": 9}, "[Cc]onnection refused"),
        ({"user": "stranger"}, "password authentication failed for user .stranger"),
    ],
)
def test_wrong_database_address_is_reported_and_no_result_is_lost(
    course, sandbox, server, wrong, reason
):
    on_server = keep_grades_at(course, server.url(**wrong))
    with pytest.raises(GradebookError) as raised:
        grade(on_server, None, None, InProcess(sandbox))
    line = str(raised.value)
    assert "the database cannot be reached" in line
    assert re.search(reason, line)
    assert "c.CourseDirectory.db_url in nbgrader_config.py" in line
    assert "a%3Ab" not in line
    assert "***" in line
    assert "the database cannot be reached" in error_line("export", "--course", course.root)
    on_server = keep_grades_at(course, server.url())
    assert grade(on_server, None, None, InProcess(sandbox)).known >= 1
    assert len(scores(on_server)) == 6


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://x:y@127.0.0.1:port/grades", "postgres2://x/y", "grades"]
)
def test_invalid_database_address_is_reported(course, sandbox, url):
    with pytest.raises(GradebookError, match=r"not a database address.*db_url"):
        grade(keep_grades_at(course, url), None, None, InProcess(sandbox))


def test_server_stopped_in_mid_run_loses_no_results(course, server, monkeypatch):
    monkeypatch.setattr("autograder.nbgrader.writer.BATCH", 1)
    hand_in(course, "cay")
    on_server = keep_grades_at(course, server.url())
    real, stops = Gradebook.enter, [server.stop]

    def stopping(book, entries):
        if entries[0].record.student == "bob" and stops:
            stops.pop()()
        return real(book, entries)

    monkeypatch.setattr(Gradebook, "enter", stopping)
    line = error_line("grade", "--course", course.root, "--jobs", "1")
    assert "the database cannot be reached" in line
    kinds = [json.loads(line)["kind"] for line in course.journal.read_bytes().splitlines()]
    assert kinds.count("graded") == 3
    server.start()
    assert "0 judged, 3 known" in run("grade", "--course", course.root)
    assert len(scores(on_server)) == 9


def test_locked_gradebook_is_reported_after_a_wait(course, server, monkeypatch):
    on_server = keep_grades_at(course, server.url())
    run("grade", "--course", course.root)
    monkeypatch.setattr(database, "LOCK_WAIT", 0.5)
    hand_in(course, "ann", mean=MEAN_SUM)
    with server.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("LOCK TABLE grade IN EXCLUSIVE MODE")
        line = error_line("grade", "--course", course.root)
        assert "program has locked the gradebook" in line
    run("grade", "--course", course.root)
    assert scores(on_server)["ann", "row_mean"][0] == 0.0
