"""`make bench`: compare the grading of right answers with that of nbgrader and otter-grader.

A class hands in 64 copies of a right notebook, which differ in one byte. Our command runs with its
default settings, which means one worker per core. nbgrader by default grades one submission after
another, and so does otter without containers. Both get the same notebooks, and as tests the
self-check of each exercise, which runs the public cases once; ours also runs the hidden cases, and
each case twice. They grade only a few of the 64 submissions: their time for the class is their
start-up time plus 64 times the time of one submission. All times include the start of the command.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import api

from autograder.course.course import Course
from autograder.course.files import replace_text
from autograder.exercise.model import Assignment
from autograder.grading.grade import read_released
from autograder.grading.sample import notebook_text, sample_class
from exercises import COURSE
from tests.benchmarks import peers
from tests.benchmarks.bench_file import record
from tests.benchmarks.measuring import Graded, graded, median, parts
from tests.benchmarks.peers import PINS, PeerFailed, PeerTest

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "book" / "measured" / "grading.json"
TORCH, NUMPY = "transformer_block", "self_attention"
CLASS, SOME, LARGE = 64, 8, (250, 500, 1000)
PARTS = ("whole", "own", "overhead", "reading", "rooms", "runs", "watching", "judging")
PATIENT = f"{peers.NBGRADER_CONFIG}c.Execute.timeout = 600\n"


@dataclass(frozen=True)
class Class:
    """A course with one assignment, in a separate folder, and the notebook of all its students."""

    course: Course
    assignment: Assignment
    right: dict[str, Any]

    @property
    def released(self) -> nbformat.NotebookNode:
        """Read the notebook that was released to the students."""
        return read_released(self.course, self.assignment.name)

    @property
    def points(self) -> int:
        """Return the points that every student has earned."""
        return sum(exercise.points for exercise in self.assignment.exercises)


def main() -> None:
    """Measure, write the file that the page reads and `_build/bench.json`, and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=ROOT / "_build" / "rivals")
    home = parser.parse_args().environments.absolute()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is missing. On Debian: sudo apt-get install bubblewrap")
    load = round(os.getloadavg()[0], 1)  # of other programs, since ours has not started
    measured = {name: _measured(name, home) for name in (TORCH, NUMPY)}
    names = ("numpy", "torch", "nbformat")
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in names}
        | {name: peers.version(name) for name in PINS},
        "command": "make bench",
        "load": load,
        "priority": os.nice(0),
        "submissions": CLASS,
        "by_the_peers": SOME,
        "assignments": measured,
        "large_class": _large_class(),
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    record(summary(result) | result)
    print(json.dumps(summary(result), indent=1))


def summary(result: dict[str, Any]) -> dict[str, Any]:
    """Return the key figures of grading: those of the torch assignment, and of the large class."""
    measured, large = result["assignments"][TORCH], result["large_class"]
    return {
        "assignment": TORCH,
        "speedup_vs_nbgrader": speedup(measured, "nbgrader"),
        "speedup_vs_otter": speedup(measured, "otter"),
        "overhead_ms_median": measured["milliseconds"]["overhead"],
        "worker_rss_mib": measured["worker_mib"],
        "seconds_first": measured["seconds_first"],
        f"seconds_{CLASS}": measured["seconds"],
        f"seconds_{LARGE[-1]}": large["seconds"][str(LARGE[-1])],
        f"rss_{LARGE[-1]}_mib": large["mib"][str(LARGE[-1])],
    }


def speedup(measured: dict[str, Any], peer: str) -> float | None:
    """Return the ratio of a peer's time for the class to ours, or None if the peer failed."""
    if "failed" in measured[peer]:
        return None
    return round(float(measured[peer]["seconds"]) / float(measured["seconds"]), 1)


def _measured(name: str, home: Path) -> dict[str, Any]:
    """Measure an assignment: the whole class, single submissions, and the peers."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        class_ = _class(Path(folder) / "ours", name, CLASS)
        ours = _ours(class_)
        _say(f"{name}: {CLASS} in {ours.seconds:.1f} s, the first after {ours.first:.1f} s")
        by_part = parts(class_.course, class_.assignment, class_.released, SOME + 1)
        milliseconds = {part: median(by_part, part) for part in PARTS}
        _say(f"{name}: milliseconds of one submission {milliseconds}")
        measured = {
            "seconds": round(ours.seconds, 2),
            "seconds_first": round(ours.first, 2),
            "worker_mib": round(ours.worker),
            "exercises": len(class_.assignment.exercises),
            "milliseconds": milliseconds,
        }
        for peer, grade in PEERS.items():
            place = Path(folder) / peer
            measured[peer] = _tried(partial(grade, class_, place, _environment(home, peer)))
            _say(f"{name}: {peer} {measured[peer]}")
    return measured


def _environment(home: Path, peer: str) -> Path:
    return peers.environment(home / peer, PINS[peer])


def _large_class() -> dict[str, Any]:
    """Grade a large class of the assignment without torch; return time and memory at some sizes."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        ours = _ours(_class(Path(folder), NUMPY, LARGE[-1]))
    ours.seconds_at[LARGE[-1]] = ours.seconds  # includes the work after the last grade
    large = {
        "assignment": NUMPY,
        "seconds": {str(size): round(ours.seconds_at[size], 1) for size in LARGE},
        "mib": {str(size): round(ours.mib_at[size]) for size in LARGE},
    }
    _say(f"{large}")
    return large


def _class(root: Path, name: str, size: int) -> Class:
    """Make a course in which `size` students hand in the right notebook."""
    course = Course.create(root)
    assignment = COURSE[name]
    _run("release", name, "--course", root)
    text = notebook_text(sample_class([assignment])[0], read_released(course, name))
    class_ = Class(course, assignment, json.loads(text))
    for number in range(size):
        path = course.submitted / _student(number) / name / f"{name}.ipynb"
        replace_text(path, json.dumps(_copy(class_.right, number)))
    return class_


def _student(number: int) -> str:
    return f"s{number:04}"


def _copy(content: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the notebook with a number in it, so that graders see a different submission."""
    copied = copy.deepcopy(content)
    copied["metadata"]["copy"] = number
    for cell in copied["cells"]:
        cell["source"] = "".join(cell["source"])
    return copied


def _ours(class_: Class) -> Graded:
    """Grade the whole class with our command; exit with a message if a right answer lost points."""
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(class_.course.root)]
    measured = graded(command, class_.course.root, LARGE)
    points: dict[str, int] = {}
    for row in json.loads(class_.course.grades.read_text(encoding="utf-8")):
        points[row["student"]] = points.get(row["student"], 0) + row["points"]
    if wrong := {name: sum_ for name, sum_ in points.items() if sum_ != class_.points}:
        sys.exit(f"right answers lost points: {wrong}")
    return measured


def _tried(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the measurement of a peer, or the reason why the peer failed."""
    try:
        return measure()
    except PeerFailed as error:
        return {"failed": str(error)}


def _tests(class_: Class) -> dict[str, PeerTest]:
    """Return the self-check of each exercise, as an assert."""
    return {
        exercise.name: PeerTest(
            exercise.points, f"assert check({exercise.name}).judgement.passed, '{exercise.name}'"
        )
        for exercise in class_.assignment.exercises
    }


def _nbgrader(class_: Class, root: Path, home: Path) -> dict[str, Any]:
    """Time `nbgrader autograde` on a few students, and then its start: a run with nothing to do."""
    name, tests = class_.assignment.name, _tests(class_)
    shutil.copytree(class_.course.release / name, root / "source" / name)
    (root / "nbgrader_config.py").write_text(PATIENT)
    blank = json.loads(nbformat.writes(class_.released))
    source = peers.for_nbgrader(_copy(blank, 0), list(tests), tests)
    (root / "source" / name / f"{name}.ipynb").write_text(json.dumps(source))
    peers.run(home, root, "nbgrader", "generate_assignment", name)
    for number in range(SOME):
        path = root / "submitted" / _student(number) / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps(peers.for_nbgrader(_copy(class_.right, number), list(tests), tests))
        )
    grade = partial(peers.run, home, root, "nbgrader", "autograde", name)
    both, start = _seconds(grade), _seconds(grade)
    with api.Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        points = [
            sum(grade.auto_score or 0 for notebook in graded.notebooks for grade in notebook.grades)
            for graded in book.assignment_submissions(name)
        ]
    return _of_peer(class_, points, start, (both - start) / SOME)


def _otter(class_: Class, root: Path, home: Path) -> dict[str, Any]:
    """Time `otter run` on a few students, one run for each."""
    name, tests = class_.assignment.name, _tests(class_)
    released = class_.course.release / name
    (root / "tests").mkdir(parents=True)
    for exercise, test in tests.items():
        before = "from autograder import check"
        (root / "tests" / f"{exercise}.py").write_text(peers.otter_test(exercise, test, before))
    command = ["otter", "generate", "-t", "tests", "-o", "tests.zip", "--no-environment"]
    cases = shutil.copy(released / f"{name}.cases", root)
    peers.run(home, root, *command, Path(cases).name)
    points, seconds = [], 0.0
    for number in range(SOME):
        folder = root / _student(number)
        folder.mkdir()
        path = folder / f"{name}.ipynb"
        path.write_text(json.dumps(peers.for_otter(_copy(class_.right, number))))
        run = ["otter", "run", path, "-a", root / "tests.zip", "-o", folder]
        seconds += _seconds(partial(peers.run, home, folder, *run, beside=released))
        earned = peers.otter_points(folder / "results.json", list(tests))
        points.append(sum(earned.values()))
    return _of_peer(class_, points, 0.0, seconds / SOME)


def _of_peer(class_: Class, points: list[float], start: float, each: float) -> dict[str, Any]:
    if points != [class_.points] * SOME:
        raise PeerFailed(f"right answers got {points} points instead of {class_.points}")
    return {
        "seconds": round(start + CLASS * each, 1),
        "seconds_each": round(each, 2),
        "seconds_start": round(start, 2),
    }


def _seconds(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _run(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autograder", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"autograder {words[0]}: {done.stderr}")


def _say(words: str) -> None:
    print(f"{datetime.datetime.now():%H:%M:%S} {words}", flush=True)


PEERS = {"nbgrader": _nbgrader, "otter": _otter}


if __name__ == "__main__":
    main()
