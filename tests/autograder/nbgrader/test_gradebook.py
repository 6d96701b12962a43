"""Test the writer into nbgrader's gradebook: its entries, what it preserves, its errors."""

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import api
from nbgrader.utils import compute_checksum
from sqlalchemy import create_engine, text

from autograder.course import times
from autograder.course.journal import Record, Row
from autograder.nbgrader import database, gradebook
from autograder.nbgrader.database import GradebookError, GradebookLocked
from autograder.nbgrader.entries import Entry
from autograder.nbgrader.export import GradesCsv
from autograder.nbgrader.gradebook import Gradebook

NAME = "rows"


def _release(scores_points=2, cells=("scores", "weights", "why")):
    graded_cells = []
    for cell_name, points in (("scores", scores_points), ("weights", 3), ("why", 5)):
        make = new_markdown_cell if cell_name == "why" else new_code_cell
        cell = make(f"answer {cell_name} here")
        cell.metadata["nbgrader"] = {
            "grade": True,
            "solution": True,
            "locked": False,
            "task": False,
            "grade_id": cell_name,
            "points": points,
            "schema_version": 3,
        }
        cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
        graded_cells.append(cell)
    return new_notebook(cells=[c for c in graded_cells if c.metadata.nbgrader.grade_id in cells])


def _row(exercise, verdict, points, most, misconception=None, message="m"):
    return Row("ann", NAME, exercise, verdict, points, most, misconception, message)


def _entry(*rows, student="ann", digest="d1", trusted=False, hints=None, answered=("why",), **more):
    rows = rows or (
        _row("scores", "PASS", 2, 2),
        _row("weights", "WRONG_VALUE", 0, 3, "wrong axis"),
    )
    record = Record(student, NAME, digest, "f", trusted, tuple(rows), hints or {})
    options = {"changed": frozenset(), "submitted": None} | more
    return Entry(record=record, texts={}, answered=frozenset(answered), **options)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/gradebook.db"


@pytest.fixture
def book(url):
    with Gradebook(url) as opened:
        opened.add_assignment(NAME, _release())
        yield opened


def _grade(url, cell):
    with api.Gradebook(url) as plain:
        grade = plain.find_grade(cell, NAME, NAME, "ann")
        comment = plain.find_comment(cell, NAME, NAME, "ann")
        return (
            grade.auto_score,
            grade.manual_score,
            grade.needs_manual_grade,
            comment.auto_comment,
        )


def test_scores_and_feedback_are_readable_by_nbgrader(book, url):
    waiting = book.enter([_entry(hints={"weights": "Which axis?"})])
    assert waiting == [1]
    assert _grade(url, "scores") == (2.0, None, False, "2 of 2 points. m")
    comment = "0 of 3 points. Wrong value. m\nMisconception: wrong axis.\nAsk yourself: Which axis?"
    assert _grade(url, "weights") == (0.0, None, False, comment)
    assert _grade(url, "why") == (None, None, True, "")
    with api.Gradebook(url) as plain:
        submission = plain.find_submission(NAME, "ann")
        assert (submission.score, submission.max_score) == (2.0, 10.0)
        assert submission.needs_manual_grade


def test_new_gradebook_has_the_schema_version_of_nbgrader(book, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with sqlite3.connect(tmp_path / "gradebook.db") as connection:
        versions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    assert versions == [(api.get_alembic_version(),)]


def test_unanswered_question_needs_no_manual_grade(book, url):
    assert book.enter([_entry(answered=())]) == [0]
    assert _grade(url, "why") == (0.0, None, False, "No response.")


def test_grader_fault_waits_for_a_person_and_says_so(book, url):
    assert book.enter([_entry(_row("scores", "GRADER_FAULT", 0, 2), answered=())]) == [1]
    score, _, needs, comment = _grade(url, "scores")
    assert (score, needs) == (None, True)
    assert "No points are lost" in comment


def test_manual_marks_and_comments_survive_a_regrade(book, url):
    book.enter([_entry()])
    with api.Gradebook(url) as plain:
        for cell, mark in (("why", 4.0), ("weights", 1.0)):
            grade = plain.find_grade(cell, NAME, NAME, "ann")
            grade.manual_score, grade.needs_manual_grade = mark, False
            plain.find_comment(cell, NAME, NAME, "ann").manual_comment = "Nearly."
        plain.db.commit()
    assert book.enter([_entry()]) == [0]
    assert _grade(url, "why")[:3] == (None, 4.0, False)
    assert _grade(url, "weights")[:3] == (0.0, 1.0, False)
    with api.Gradebook(url) as plain:
        assert plain.find_comment("weights", NAME, NAME, "ann").comment == "Nearly."
        assert plain.find_submission(NAME, "ann").score == 7.0
    assert book.enter([_entry(digest="d2", changed=frozenset({"weights", "why"}))]) == [2], (
        "a new version must be marked again"
    )
    assert _grade(url, "why")[:3] == (None, 4.0, True)
    assert book.enter([_entry(digest="d2")]) == [2], "and waits until a person has marked it"


def test_regrading_is_idempotent(book, url):
    book.enter([_entry(student="ann")])
    first = [_grade(url, cell) for cell in ("scores", "weights", "why")]
    book.enter([_entry(student="ann")])
    assert [_grade(url, cell) for cell in ("scores", "weights", "why")] == first
    with api.Gradebook(url) as plain:
        assert len(plain.students) == len(plain.assignment_submissions(NAME)) == 1


def test_control_characters_are_escaped_in_comments(book, url):
    evil = "raises \x1b]0;x\x07 \u202eException\x00 <script>"
    book.enter([_entry(_row("scores", "EXCEPTION", 0, 2, message=evil))])
    comment = _grade(url, "scores")[3]
    assert all(char.isprintable() or char == "\n" for char in comment)
    assert "\\u001b" in comment
    assert "<script>" in comment  # plain text: the page that shows it escapes it


def test_comment_says_when_a_run_was_not_isolated(book, url):
    book.enter([_entry(trusted=True)])
    assert "Graded without isolation" in _grade(url, "scores")[3]


def test_changed_points_and_added_cells_apply_to_old_submissions(url):
    with Gradebook(url) as book:
        book.add_assignment(NAME, _release(cells=("scores", "why")))
        book.enter([_entry()])
        book.add_assignment(NAME, _release(scores_points=4))
        book.enter([_entry()])
    assert _grade(url, "weights")[0] == 0.0
    with api.Gradebook(url) as plain:
        assert plain.find_submission(NAME, "ann").max_score == 12.0


def test_release_may_not_drop_a_cell_with_marks(book, url):
    book.enter([_entry()])
    with pytest.raises(GradebookError, match="holds marks for weights"):
        book.add_assignment(NAME, _release(cells=("scores", "why")))
    assert _grade(url, "weights")[0] == 0.0


def test_locked_gradebook_is_reported_after_a_wait(book, url, tmp_path, monkeypatch):
    monkeypatch.setattr(database, "LOCK_WAIT", 0.3)
    holder = sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(GradebookLocked, match=r"gradebook\.db: another program.*journal"):
        Gradebook(url)
    gradebook.check_version(url)
    holder.execute("ROLLBACK")
    with Gradebook(url) as second:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(GradebookLocked, match="another program"):
            second.enter([_entry()])
        holder.execute("ROLLBACK")
        second.enter([_entry()])
    holder.close()
    assert _grade(url, "scores")[0] == 2.0


@pytest.mark.parametrize("open_it", [Gradebook, gradebook.check_version])
@pytest.mark.parametrize(
    "stamp", ["UPDATE alembic_version SET version_num = 'abc'", "DROP TABLE alembic_version"]
)
def test_gradebook_of_another_schema_version_is_refused(url, open_it, stamp):
    with Gradebook(url):
        pass
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(stamp))
    with pytest.raises(GradebookError, match=r"another version of nbgrader.*db upgrade"):
        open_it(url)


def test_incompletely_created_gradebook_is_created_again(url):
    engine = create_engine(url)
    api.Base.metadata.create_all(bind=engine)
    gradebook.check_version(url)
    with Gradebook(url) as book:
        assert book.nbgrader.assignments == []
    gradebook.check_version(url)


def test_file_that_is_not_a_database_is_refused(tmp_path, url):
    (tmp_path / "gradebook.db").write_text("hello " * 500)
    with pytest.raises(GradebookError, match="cannot be read or written"):
        Gradebook(url)


@pytest.mark.parametrize("bad", ["no url", "oracle9://x/y", "sqlite:////no/such/folder/g.db"])
def test_invalid_database_address_is_refused(bad):
    with pytest.raises(GradebookError):
        Gradebook(bad)


def test_submission_time_is_read_from_nbgraders_file_or_refused(tmp_path):
    assert times.submission_time(tmp_path) is None
    (tmp_path / "timestamp.txt").write_text("2026-02-03 10:00:00 UTC\n")
    assert times.submission_time(tmp_path) == datetime(2026, 2, 3, 10)
    for nonsense in ("soon", "99999999999999999999", ""):
        (tmp_path / "timestamp.txt").write_text(nonsense)
        with pytest.raises(ValueError, match=r"timestamp\.txt: it holds no time"):
            times.submission_time(tmp_path)
    (tmp_path / "timestamp.txt").write_text("9999-12-31 23:00:00 UTC\n")
    with pytest.raises(ValueError, match=r"timestamp\.txt: its year is 9999"):
        times.submission_time(tmp_path)
    (tmp_path / "timestamp.txt").unlink()
    os.mkfifo(tmp_path / "timestamp.txt")
    with pytest.raises(ValueError, match="it holds no time"):
        times.submission_time(tmp_path)


def test_written_answers_without_a_time_count_as_handed_in(url):
    with Gradebook(url) as book:
        book.add_assignment(NAME, _release(cells=("why",)))
        assert book.enter([_entry()]) == [1]
        (score,) = book.scores()
    assert (score.handed_in, score.waiting) == (True, 1)


def test_assignment_created_by_nbgrader_is_adopted(url):
    with api.Gradebook(url, "cs101") as plain:
        plain.add_assignment(NAME, duedate="2026-02-03 12:00:00 UTC")
    with Gradebook(url) as book:
        book.add_assignment(NAME, _release())
        assert book.enter([_entry()]) == [1]
    with api.Gradebook(url, "cs101") as plain:
        assert plain.find_submission(NAME, "ann").duedate == datetime(2026, 2, 3, 12)


def test_marks_of_other_notebooks_are_kept(book, url):
    with api.Gradebook(url) as plain:
        plain.add_notebook("more", NAME)
        plain.add_grade_cell("own", "more", NAME, max_score=4, cell_type="code")
        plain.add_student("ann")
        plain.add_submission(NAME, "ann")
        plain.find_grade("own", "more", NAME, "ann").auto_score = 3.0
        plain.db.commit()
    assert book.enter([_entry()]) == [1]
    with api.Gradebook(url) as plain:
        assert plain.find_grade("own", "more", NAME, "ann").auto_score == 3.0
        assert plain.find_submission(NAME, "ann").score == 5.0


def test_exercise_named_like_a_column_does_not_replace_it(book, url, tmp_path):
    released = _release(cells=("scores",))
    released.cells[0].metadata.nbgrader.grade_id = "score"
    book.add_assignment("other", released)
    row = Row("ann", "other", "score", "PASS", 2, 2, None, "m")
    book.enter([Entry(Record("ann", "other", "d", "f", False, (row,), {}), {}, set(), set(), None)])
    with api.Gradebook(url) as plain:
        plain.find_grade("score", "other", "other", "ann").extra_credit = 1.5
        plain.find_submission("other", "ann").notebooks[0].late_submission_penalty = 1.0
        plain.db.commit()
    GradesCsv(to=str(tmp_path / "grades.csv"), assignment=["other"]).export(book.nbgrader)
    with (tmp_path / "grades.csv").open(newline="") as stream:
        (ann,) = csv.DictReader(stream)
    assert (ann["score"], ann["answer: score"]) == ("2.5", "3.5")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")
def test_gradebook_on_a_read_only_disk_is_reported(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    with api.Gradebook(url, "their_course"):  # the writer still has to add its own course
        pass
    mounts = ["--bind", "/", "/", "--ro-bind", tmp_path, tmp_path, "--dev", "/dev"]
    program = f"from autograder.nbgrader.gradebook import Gradebook; Gradebook({url!r})"
    command = ["bwrap", *mounts, "--proc", "/proc", sys.executable, "-c", program]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "gradebook.db: the gradebook is on a read-only disk" in process.stderr
    assert "Rolling back" not in process.stderr
