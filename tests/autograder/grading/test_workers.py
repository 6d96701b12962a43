"""Test worker processes: a dying worker loses no result; none outlives the coordinator."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import classroom
import psutil
import pytest
from classroom import MEAN_SUM, hand_in, make_course
from nbgrader import api

from autograder.course.course import Course
from autograder.grading.grade import grade
from autograder.grading.workers import LocalWorkers, WorkersLost

JUDGE = """
    import os, signal, time
    from autograder.grading import program
    real = program.judge_program
    def judge_program(cells, *arguments, **options):
        sources = " ".join(cell.source for cell in cells)
        if "ends its worker" in sources:
            os.kill(os.getpid(), signal.SIGKILL)
        {more}
        return real(cells, *arguments, **options)
    program.judge_program = judge_program
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    for number in range(6):
        hand_in(course, f"s{number}", mean=MEAN_SUM if number % 2 else classroom.RIGHT_MEAN)
    return course


def patch_judge(tmp_path, monkeypatch, more=""):
    """Make the judge kill its worker for some submissions, and run the code `more`."""
    text = JUDGE.format(more=more)
    folder = tmp_path / "judge"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(textwrap.dedent(text))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


def verdicts(course):
    rows = json.loads(course.grades.read_text())
    return {(row["student"], row["exercise"]): row["verdict"] for row in rows}


def graded_students(course):
    """Return the students in the journal, in the order of their results."""
    lines = map(json.loads, course.journal.read_bytes().splitlines())
    return [line["student"] for line in lines if line["kind"] == "graded"]


def descendants():
    """Return the ids of all descendant processes, such as workers and their sandboxes."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_workers_judge_and_the_coordinator_does_not_import_torch(course):
    program = """
        import sys
        from autograder.course.course import Course
        from autograder.grading.workers import LocalWorkers
        if __name__ == "__main__":
            with LocalWorkers("toy_course", 2) as workers:
                from autograder.grading.grade import grade
                report = grade(Course.open(sys.argv[1]), None, None, workers)
            print(report.judged, report.known, "torch" in sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(course.root)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert process.stdout == "6 0 False\n"
    assert len(verdicts(course)) == 12
    assert {verdicts(course)[f"s{number}", "row_mean"] for number in (0, 2, 4)} == {"PASS"}
    assert {verdicts(course)[f"s{number}", "row_mean"] for number in (1, 3, 5)} == {"WRONG_VALUE"}


def test_killed_worker_is_replaced_and_its_submissions_judged_again(course):
    before = descendants()

    def kill(done, total, file):
        if done in (1, 4):
            pids = [pid for pid in descendants() - before if "spawn_main" in _command(pid)]
            os.kill(pids[-1], signal.SIGKILL)

    with LocalWorkers("toy_course", 2) as workers:
        report = grade(course, None, None, workers, kill)
    assert (report.judged, report.known) == (6, 0)
    assert sorted(graded_students(course)) == [f"s{number}" for number in range(6)]
    assert set(verdicts(course).values()) == {"PASS", "WRONG_VALUE"}


def _command(pid):
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def test_submission_that_kills_its_worker_waits_for_a_person(course, tmp_path, monkeypatch):
    patch_judge(tmp_path, monkeypatch)
    hand_in(course, "eve", mean="# ends its worker")
    with LocalWorkers("toy_course", 2) as workers:
        report = grade(course, None, None, workers)
    assert verdicts(course)["eve", "scale"] == "GRADER_FAULT"
    assert {v for (name, _), v in verdicts(course).items() if name != "eve"} == {
        "PASS",
        "WRONG_VALUE",
    }
    assert {entry.student: entry.answers for entry in report.waiting}["eve"] == 3
    with api.Gradebook(course.gradebook_url) as book:
        comment = book.find_comment("scale", "toy", "toy", "eve").auto_comment
    assert "No points are lost" in comment
    assert "ended twice" in comment


def test_workers_that_cannot_start_give_a_clear_error(course, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with (
        LocalWorkers("toy_course", 1) as workers,
        pytest.raises(WorkersLost, match="before they judged anything"),
    ):
        grade(course, None, None, workers)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_an_interrupted_command(course, tmp_path, monkeypatch, how):
    """Ignore SIGINT from the start, as for a command in the background of a shell."""
    patch_judge(tmp_path, monkeypatch, more="time.sleep(0.3)")
    before = descendants()
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root)]
    run = subprocess.Popen(
        [*command, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert b"grading 1 of 6" in run.stderr.readline()
    below = descendants() - before
    assert len(below) > 2
    start = time.monotonic()
    run.send_signal(how)
    run.communicate(timeout=60)  # includes nbgrader's import, which cannot be interrupted
    assert run.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130}[how]
    while any(map(psutil.pid_exists, below)) and time.monotonic() - start < 60:
        time.sleep(0.05)
    assert [_command(pid) for pid in below if psutil.pid_exists(pid)] == []
    with LocalWorkers("toy_course", 2) as workers:
        report = grade(Course.open(course.root), None, None, workers)
    assert report.known >= 1
    assert sorted(graded_students(course)) == [f"s{number}" for number in range(6)]
