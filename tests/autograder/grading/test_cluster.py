"""Test grading on a cluster: a real scheduler, real workers on this machine, and failures."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import classroom
import pytest
from classroom import MEAN_SUM, hand_in, make_course
from nightly import some
from typer.testing import CliRunner

from autograder import cli
from autograder.grading import cluster
from autograder.grading.cluster import Cluster
from autograder.grading.grade import grade
from autograder.grading.jobs import Installed
from autograder.grading.workers import LocalWorkers, WorkersLost

ROOT = Path(__file__).parents[3]


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    for number in range(8):
        hand_in(course, f"s{number}", mean=MEAN_SUM if number % 2 else classroom.RIGHT_MEAN)
    return course


@pytest.fixture
def scheduler(tmp_path):
    """Start a scheduler; yield its address and a function that starts a worker."""
    file = tmp_path / "scheduler.json"
    running = []

    def start(module, *options, **environment):
        command = [sys.executable, "-m", f"distributed.cli.dask_{module}", *options]
        running.append(
            subprocess.Popen(
                [*command, "--scheduler-file", str(file), "--no-dashboard"],
                cwd=tmp_path,
                env=os.environ | environment,
                stderr=subprocess.DEVNULL,
            )
        )
        return running[-1]

    process = start("scheduler", "--host", "127.0.0.1", "--port", "0")
    while not file.exists() or not file.read_text().endswith("}"):
        assert process.poll() is None
        time.sleep(0.05)
    yield (
        json.loads(file.read_text())["address"],
        lambda **environment: start("worker", "--nthreads", "1", "--no-nanny", **environment),
    )
    for child in reversed(running):
        child.kill()
        child.wait()


def rows(course):
    return course.grades.read_text()


def graded_students(course):
    lines = map(json.loads, course.journal.read_bytes().splitlines())
    return sorted(line["student"] for line in lines if line["kind"] == "graded")


def environment_running(tmp_path, text):
    """Return environment variables that make Python run `text` at its start."""
    folder = tmp_path / "startup"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(textwrap.dedent(text))
    return {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}"}


def test_cluster_matches_local_grading_even_if_a_worker_is_killed(course, scheduler):
    with LocalWorkers("toy_course", 2) as workers:
        grade(course, None, None, workers)
    expected = rows(course)
    for path in (course.journal, course.grades, course.root / "gradebook.db"):
        path.unlink()
    address, start = scheduler
    first, _ = start(), start()

    def kill(done, total, file):
        if done == 2:
            first.kill()

    with Cluster(address) as workers:
        workers._client.wait_for_workers(2, timeout=60)
        report = grade(course, None, None, workers, kill)
    assert (report.judged, report.known) == (8, 0)
    assert rows(course) == expected
    assert graded_students(course) == [f"s{number}" for number in range(8)]


def test_late_worker_takes_over_from_a_lost_one(course, scheduler):
    address, start = scheduler
    first = start()

    def kill(done, total, file):
        if done == 2:
            first.kill()
            start()

    with Cluster(address) as workers:
        report = grade(course, None, None, workers, kill)
    assert (report.judged, report.known) == (8, 0)
    assert graded_students(course) == [f"s{number}" for number in range(8)]


OLD_NUMPY = """
    import numpy
    numpy.__version__ = "1.0.0"
"""
OTHER_JUDGE = """
    from autograder.grading import jobs
    jobs.fingerprint = lambda *_: "another"
"""
NO_SANDBOX = """
    import os
    os.environ["PATH"] = "/nowhere"
"""
NO_PACKAGE = """
    import sys
    sys.modules["autograder.grading"] = None
"""


REFUSED = {
    "package": (NO_PACKAGE, "tcp://127.*: this worker lacks this package"),
    "numpy": (OLD_NUMPY, r"this worker has NumPy 1\.0\.0, but this machine has 2"),
    "judge": (OTHER_JUDGE, "this worker has another version of this package"),
    "sandbox": (NO_SANDBOX, "this worker has no sandbox.*bubblewrap is missing"),
}


@pytest.mark.parametrize(("text", "message"), some(REFUSED.values()), ids=some(REFUSED))
def test_worker_with_another_environment_is_refused(course, scheduler, tmp_path, text, message):
    address, start = scheduler
    start(**environment_running(tmp_path, text))
    with Cluster(address) as workers, pytest.raises(WorkersLost, match=message):
        grade(course, None, None, workers)
    assert course.journal.read_bytes() == b""


@pytest.mark.parametrize(
    ("difference", "beginning"),
    [
        ({}, ""),
        (
            {"versions": {"NumPy": "1.0.0"}},
            "this worker has NumPy 1.0.0, but this machine has 2.0.0",
        ),
        ({"fingerprints": {"toy": "b"}}, "this worker has another version of this package"),
        ({"sandbox": "It is missing."}, "this worker has no sandbox. It is missing."),
    ],
)
def test_installation_of_a_worker_must_match_the_local_one(difference, beginning):
    local = Installed({"NumPy": "2.0.0"}, {"toy": "a"}, None)
    message = cluster._fault(replace(local, **difference), local) or ""
    assert message.startswith(beginning)
    assert bool(message) == bool(beginning)


def test_late_worker_with_another_environment_gets_no_job(course, scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "ALONE_WAIT", 8)
    address, start = scheduler
    first = start()

    def exchange(done, total, file):
        if done == 2:
            first.kill()
            start(**environment_running(tmp_path, OTHER_JUDGE))

    with Cluster(address) as workers, pytest.raises(WorkersLost, match="has had no worker for 8 s"):
        grade(course, None, None, workers, exchange)
    assert 2 <= len(graded_students(course)) < 8
    with LocalWorkers("toy_course", 2) as workers:
        grade(course, None, None, workers)
    assert graded_students(course) == [f"s{number}" for number in range(8)]


def error_line(course, *options):
    result = CliRunner().invoke(cli.app, ["grade", "--course", str(course.root), *options])
    assert result.exit_code == 1, result.output
    *progress, line = result.stderr.strip().splitlines()
    assert all(text.startswith("grading ") for text in progress)
    return line


def test_unreachable_scheduler_gives_a_one_line_error(course):
    start = time.monotonic()
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root)]
    command += ["--scheduler", "tcp://127.0.0.1:9"]
    process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert process.returncode == 1
    assert re.fullmatch("autograder: tcp://127.0.0.1:9: no scheduler answers.*\n", process.stderr)
    assert time.monotonic() - start < 30
    assert not course.journal.exists()


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:9", "tcp://127.0.0.1:port", ""])
def test_invalid_scheduler_address_gives_a_one_line_error(course, address):
    line = error_line(course, "--scheduler", address)
    assert line.startswith(f"autograder: {address}: not a scheduler address")


def test_scheduler_without_workers_gives_a_one_line_error(course, scheduler, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_WAIT", 1.0)
    assert "the scheduler has no worker (waited 1 s)" in error_line(
        course, "--scheduler", scheduler[0]
    )


def test_lost_scheduler_is_reported_and_no_result_is_lost(course, scheduler, monkeypatch):
    address, start = scheduler
    worker = start()

    def stop(done, total, file):
        if done == 2:
            os.kill(int(scheduler_pid), signal.SIGKILL)

    with Cluster(address) as workers:
        scheduler_pid = workers._client.run_on_scheduler(os.getpid)
        with pytest.raises(WorkersLost, match=r"gone|lost"):
            grade(course, None, None, workers, stop)
    worker.kill()
    with LocalWorkers("toy_course", 2) as workers:
        report = grade(course, None, None, workers)
    assert report.known >= 2
    assert graded_students(course) == [f"s{number}" for number in range(8)]


def test_jobs_and_scheduler_are_mutually_exclusive(course):
    options = ["--scheduler", "tcp://127.0.0.1:9", "--jobs", "2"]
    result = CliRunner().invoke(cli.app, ["grade", "--course", str(course.root), *options])
    assert result.exit_code == 2
