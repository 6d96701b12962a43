"""A gradebook on a PostgreSQL server: a real one, which the test starts and stops."""

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
    """The server, with an empty database."""
    yield running
    with running.connect("postgres") as connection:
        connection.execute("DROP DATABASE grades WITH (FORCE)")
        connection.execute("CREATE DATABASE grades")


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    made = make_course(tmp_path / "course")
    hand_in(made, "ann")
    hand_in(made, "bob", mean=MEAN_SUM, why=STUBS["why"])
    return made


def keep_grades_at(course, url):
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write(f"c.CourseDirectory.db_url = {url!r}\n")
    return Course.open(course.root)


def run(*arguments):
    result = CliRunner().invoke(cli.app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def failure(*arguments):
    result = CliRunner().invoke(cli.app, [str(one) for one in arguments])
    assert result.exit_code == 1, result.output
    *progress, line = result.stderr.strip().splitlines()
    assert all(one.startswith("grading ") for one in progress), result.stderr
    return line


def scores(course):
    """All that the gradebook holds of the answers."""
    with api.Gradebook(course.gradebook_url) as book:
        found = {}
        for submission in book.assignment_submissions("toy"):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    where = submission.student.id, grade.cell.name
                    found[where] = (
                        grade.auto_score,
                        grade.manual_score,
                        grade.needs_manual_grade,
                        book.find_comment(where[1], "toy", "toy", where[0]).auto_comment,
                    )
        return found


def mark(course, student, points):
    with api.Gradebook(course.gradebook_url) as book:
        grade = book.find_grade("why", "toy", "toy", student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def use(course):
    """Grade, mark by hand, regrade, feedback, export; returns what each step shows."""
    shown = []
    run("grade", "--course", course.root)
    shown.append(scores(course))
    mark(course, "ann", 4.0)
    hand_in(course, "ann", why="Something else.")
    hand_in(course, "bob")
    run("grade", "--course", course.root)
    shown.append(scores(course))
    run("feedback", "--course", course.root)
    shown.append((course.feedback / "ann" / "toy" / "toy.html").read_text().count("4.0"))
    run("export", "--course", course.root)
    with (course.root / "grades.csv").open(newline="") as stream:
        shown.append(list(csv.DictReader(stream)))
    return shown


def test_the_same_grades_stand_in_postgresql_as_in_sqlite(course, server):
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
        ({"database": "nothing"}, "database .nothing. does not exist"),
        ({"port": 9}, "[Cc]onnection refused"),
        ({"user": "nobody"}, "password authentication failed for user .nobody"),
    ],
)
def test_an_address_that_is_wrong_is_one_line_and_loses_nothing(
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
    assert "the database cannot be reached" in failure("export", "--course", course.root)
    on_server = keep_grades_at(course, server.url())
    assert grade(on_server, None, None, InProcess(sandbox)).known >= 1
    assert len(scores(on_server)) == 6


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://x:y@127.0.0.1:port/grades", "postgres2://x/y", "grades"]
)
def test_an_address_that_is_none_is_one_line(course, sandbox, url):
    with pytest.raises(GradebookError, match=r"not a database address.*db_url"):
        grade(keep_grades_at(course, url), None, None, InProcess(sandbox))


def test_a_server_that_goes_in_mid_run_loses_nothing(course, server, monkeypatch):
    monkeypatch.setattr("autograder.nbgrader.writer.BATCH", 1)
    hand_in(course, "cay")
    on_server = keep_grades_at(course, server.url())
    real, stops = Gradebook.enter, [server.stop]

    def stopping(book, entries):
        if entries[0].record.student == "bob" and stops:
            stops.pop()()
        return real(book, entries)

    monkeypatch.setattr(Gradebook, "enter", stopping)
    line = failure("grade", "--course", course.root, "--jobs", "1")
    assert "the database cannot be reached" in line
    kinds = [json.loads(one)["kind"] for one in course.journal.read_bytes().splitlines()]
    assert kinds.count("graded") == 3
    server.start()
    assert "0 judged, 3 known" in run("grade", "--course", course.root)
    assert len(scores(on_server)) == 9


def test_a_gradebook_that_is_locked_is_waited_for_and_then_named(course, server, monkeypatch):
    on_server = keep_grades_at(course, server.url())
    run("grade", "--course", course.root)
    monkeypatch.setattr(database, "LOCK_WAIT", 0.5)
    hand_in(course, "ann", mean=MEAN_SUM)
    with server.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("LOCK TABLE grade IN EXCLUSIVE MODE")
        assert "program has locked the gradebook" in failure("grade", "--course", course.root)
    run("grade", "--course", course.root)
    assert scores(on_server)["ann", "row_mean"][0] == 0.0
