"""Whatever happens to a run, the next one completes it: each submission once, the same results."""

import errno
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time

import classroom
import psutil
import pytest
from classroom import MEAN_SUM, hand_in, make_course
from inprocess import InProcess
from nbgrader import api
from sqlalchemy.exc import OperationalError

from autograder.course.journal import Journal, JournalError
from autograder.grading.grade import grade
from autograder.grading.workers import LocalWorkers
from autograder.nbgrader import autograded, gradebook, writer
from autograder.nbgrader.database import GradebookError

ROUNDS, SIZE = (40, 200) if os.environ.get("FUZZ") else (3, 16)
"""So many kills over a class of so many; `make fuzz` does the more."""

CELLS = [
    {},
    {"mean": MEAN_SUM},
    {"scale": "def scale(X, factor=2.0):\n    X *= factor\n    return X"},
    {"mean": "def row_mean(X):\n    raise ValueError(X.shape)"},
]
COORDINATOR = """
    import sys
    from autograder.course.course import Course
    from autograder.grading.grade import grade
    from autograder.grading.workers import LocalWorkers
    if __name__ == "__main__":
        with LocalWorkers("toy_course", 2) as workers:
            grade(Course.open(sys.argv[1]), None, None, workers)
"""


def make_class(root, size):
    course = make_course(root)
    for number in range(size):
        hand_in(course, f"s{number:03}", **CELLS[number % len(CELLS)])
    return course


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    return make_class(tmp_path / "course", 4)


def graded(course):
    """The students of the journal's results, sorted; each as often as it was graded."""
    lines = map(json.loads, course.journal.read_bytes().splitlines())
    return sorted(line["student"] for line in lines if line["kind"] == "graded")


def results(course):
    """All that a run leaves: rows, scores and comments, and the notebooks that people see."""
    with api.Gradebook(course.gradebook_url) as book:
        entered = {
            (submission.student.id, grade.cell.name): (grade.auto_score, grade.needs_manual_grade)
            for submission in book.assignment_submissions("toy")
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
    shown = {path.parts[-3]: path.read_text() for path in course.autograded.glob("*/*/*.ipynb")}
    return json.loads(course.grades.read_text()), entered, shown.keys()


def expected(tmp_path, size, sandbox):
    """The results of a run that nothing disturbs; the key decides the hidden cases."""
    course = make_class(tmp_path / "undisturbed", size)
    grade(course, None, None, InProcess(sandbox, 2))
    return course.root.joinpath("course.key").read_bytes(), results(course)


def test_kills_at_random_moments_change_no_result(tmp_path, monkeypatch, sandbox):
    classroom.known_everywhere(monkeypatch)
    key, undisturbed = expected(tmp_path, SIZE, sandbox)
    course = make_class(tmp_path / "course", SIZE)
    course.root.joinpath("course.key").write_bytes(key)
    rng = random.Random(os.environ.get("FUZZ", "chaos"))
    command = [sys.executable, "-c", textwrap.dedent(COORDINATOR), str(course.root)]
    for victim in [("coordinator", "worker", "sandbox")[n % 3] for n in range(ROUNDS)]:
        run = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        wait_for_one_more(course, run)
        time.sleep(rng.uniform(0, 0.3))
        kill(run, victim, rng)
        run.wait(600)
    with LocalWorkers("toy_course", 2) as workers:
        grade(type(course).open(course.root), None, None, workers)
    assert results(course) == undisturbed
    assert graded(course) == [f"s{number:03}" for number in range(SIZE)]


def wait_for_one_more(course, run, seconds=600):
    """Wait until `run` has graded another submission, or has ended."""
    before, deadline = size(course), time.monotonic() + seconds
    while run.poll() is None and size(course) == before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def size(course):
    return course.journal.stat().st_size if course.journal.exists() else 0


def kill(run, victim, rng):
    """Kill the coordinator, or one of its workers, or one process of a sandbox."""
    try:
        below = psutil.Process(run.pid).children(recursive=True)
        workers = [one for one in below if "spawn_main" in " ".join(one.cmdline())]
        inside = [one for one in below if one not in workers]
        among = {"coordinator": [], "worker": workers, "sandbox": inside}[victim]
        os.kill(rng.choice(among).pid if among else run.pid, signal.SIGKILL)
    except (psutil.Error, ProcessLookupError):
        pass  # it has ended by itself


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "the disk")


def completes(course, sandbox):
    """A later run grades what is left, and everything stands everywhere."""
    grade(course, None, None, InProcess(sandbox, 2))
    assert graded(course) == [f"s{number:03}" for number in range(4)]
    rows, entered, shown = results(course)
    assert len(rows) == 8
    assert len(entered) == 12
    assert len(shown) == 4


def test_a_disk_that_is_full_for_the_journal(course, sandbox):
    real = os.fsync

    def failing(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}") == str(course.journal):
            full()
        real(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(JournalError, match=r"journal\.jsonl: .*No space left.*run the same"):
            grade(course, None, None, InProcess(sandbox, 2))
    completes(course, sandbox)


def test_a_disk_that_is_full_for_the_notebooks(course, sandbox, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograded, "replace_text", full)
        with pytest.raises(OSError, match="No space left"):
            grade(course, None, None, InProcess(sandbox, 2))
    completes(course, sandbox)


def test_a_disk_that_is_full_for_the_gradebook(course, sandbox):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradebook, "write_entries", _disk_full)
        with pytest.raises(GradebookError, match=r"disk is full.*Nothing is lost"):
            grade(course, None, None, InProcess(sandbox, 2))
    assert len(graded(course)) == 4
    completes(course, sandbox)


def _disk_full(connection, entries):
    raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))


def test_a_gradebook_that_is_removed_in_mid_run(course, sandbox, monkeypatch):
    monkeypatch.setattr(writer, "BATCH", 1)
    grade(course, None, ["s000"], InProcess(sandbox))
    real = gradebook.write_entries

    def removing(connection, entries):
        course.root.joinpath("gradebook.db").unlink(missing_ok=True)
        return real(connection, entries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradebook, "write_entries", removing)
        with pytest.raises(GradebookError, match=r"gradebook\.db: the gradebook was removed"):
            grade(course, None, None, InProcess(sandbox))
    completes(course, sandbox)


def test_two_runs_at_once_one_waits_and_then_says_so(course, sandbox, monkeypatch):
    monkeypatch.setattr("autograder.course.journal.LOCK_WAIT", 0.3)
    with Journal(course.journal), pytest.raises(JournalError, match="another run is grading"):
        grade(course, None, None, InProcess(sandbox))
    completes(course, sandbox)


def test_a_clock_that_jumps_backwards_changes_nothing(course, sandbox, monkeypatch):
    now = [time.time()]

    def jumping():
        now[0] -= 3600
        return now[0]

    monkeypatch.setattr(time, "time", jumping)
    completes(course, sandbox)
    monkeypatch.undo()
    classroom.known_everywhere(monkeypatch)
    assert grade(course, None, None, InProcess(sandbox)).judged == 0
