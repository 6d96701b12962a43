"""Test that the next run completes a disturbed run: each submission once, the same results."""

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
"""Number of kills and of students; `make fuzz` uses the larger numbers."""

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


def graded_students(course):
    """Return the students in the journal, sorted, each as often as it was graded."""
    lines = map(json.loads, course.journal.read_bytes().splitlines())
    return sorted(line["student"] for line in lines if line["kind"] == "graded")


def results(course):
    """Return what a run writes: rows, scores, and the students with an autograded notebook."""
    with api.Gradebook(course.gradebook_url) as book:
        entered = {
            (submission.student.id, grade.cell.name): (grade.auto_score, grade.needs_manual_grade)
            for submission in book.assignment_submissions("toy")
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
    notebooks = {path.parts[-3]: path.read_text() for path in course.autograded.glob("*/*/*.ipynb")}
    return json.loads(course.grades.read_text()), entered, notebooks.keys()


def undisturbed_run(tmp_path, size, sandbox):
    """Return the course key, which decides the hidden cases, and the undisturbed results."""
    course = make_class(tmp_path / "undisturbed", size)
    grade(course, None, None, InProcess(sandbox, 2))
    return course.root.joinpath("course.key").read_bytes(), results(course)


def test_random_kills_do_not_change_the_results(tmp_path, monkeypatch, sandbox):
    classroom.known_everywhere(monkeypatch)
    key, undisturbed = undisturbed_run(tmp_path, SIZE, sandbox)
    course = make_class(tmp_path / "course", SIZE)
    course.root.joinpath("course.key").write_bytes(key)
    rng = random.Random(os.environ.get("FUZZ", "chaos"))
    command = [sys.executable, "-c", textwrap.dedent(COORDINATOR), str(course.root)]
    for victim in [("coordinator", "worker", "sandbox")[n % 3] for n in range(ROUNDS)]:
        run = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        wait_for_progress(course, run)
        time.sleep(rng.uniform(0, 0.3))
        kill(run, victim, rng)
        run.wait(600)
    with LocalWorkers("toy_course", 2) as workers:
        grade(type(course).open(course.root), None, None, workers)
    assert results(course) == undisturbed
    assert graded_students(course) == [f"s{number:03}" for number in range(SIZE)]


def wait_for_progress(course, run, seconds=600):
    """Wait until `run` has graded another submission, or has ended."""
    before, deadline = size(course), time.monotonic() + seconds
    while run.poll() is None and size(course) == before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def size(course):
    return course.journal.stat().st_size if course.journal.exists() else 0


def kill(run, victim, rng):
    """Kill the coordinator, one of its workers, or one process of a sandbox."""
    try:
        below = psutil.Process(run.pid).children(recursive=True)
        workers = [process for process in below if "spawn_main" in " ".join(process.cmdline())]
        sandboxes = [process for process in below if process not in workers]
        candidates = {"coordinator": [], "worker": workers, "sandbox": sandboxes}[victim]
        os.kill(rng.choice(candidates).pid if candidates else run.pid, signal.SIGKILL)
    except (psutil.Error, ProcessLookupError):
        pass  # the process has already ended


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "the disk")


def check_next_run_completes(course, sandbox):
    """Check that a later run grades the rest and that all outputs are complete."""
    grade(course, None, None, InProcess(sandbox, 2))
    assert graded_students(course) == [f"s{number:03}" for number in range(4)]
    rows, entered, shown = results(course)
    assert len(rows) == 8
    assert len(entered) == 12
    assert len(shown) == 4


def test_run_recovers_from_a_full_disk_for_the_journal(course, sandbox):
    real = os.fsync

    def failing(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}") == str(course.journal):
            full()
        real(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(JournalError, match=r"journal\.jsonl: .*No space left.*run the same"):
            grade(course, None, None, InProcess(sandbox, 2))
    check_next_run_completes(course, sandbox)


def test_run_recovers_from_a_full_disk_for_the_notebooks(course, sandbox, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograded, "replace_text", full)
        with pytest.raises(OSError, match="No space left"):
            grade(course, None, None, InProcess(sandbox, 2))
    check_next_run_completes(course, sandbox)


def test_run_recovers_from_a_full_disk_for_the_gradebook(course, sandbox):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradebook, "write_entries", _disk_full)
        with pytest.raises(GradebookError, match=r"disk is full.*Nothing is lost"):
            grade(course, None, None, InProcess(sandbox, 2))
    assert len(graded_students(course)) == 4
    check_next_run_completes(course, sandbox)


def _disk_full(connection, entries):
    raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))


def test_run_recovers_if_the_gradebook_is_removed_in_mid_run(course, sandbox, monkeypatch):
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
    check_next_run_completes(course, sandbox)


def test_second_run_waits_for_the_journal_and_then_gives_up(course, sandbox, monkeypatch):
    monkeypatch.setattr("autograder.course.journal.LOCK_WAIT", 0.3)
    with Journal(course.journal), pytest.raises(JournalError, match="another run is grading"):
        grade(course, None, None, InProcess(sandbox))
    check_next_run_completes(course, sandbox)


def test_clock_jumping_backwards_does_not_change_the_results(course, sandbox, monkeypatch):
    now = [time.time()]

    def jumping():
        now[0] -= 3600
        return now[0]

    monkeypatch.setattr(time, "time", jumping)
    check_next_run_completes(course, sandbox)
    monkeypatch.undo()
    classroom.known_everywhere(monkeypatch)
    assert grade(course, None, None, InProcess(sandbox)).judged == 0
