"""`make bench`: grading with this package beside nbgrader and otter-grader, on right answers.

A class hands in 64 copies of one right notebook, different in a byte each. Ours is graded by the
command as it comes, which takes one worker a core; nbgrader as it comes grades one after another,
and so does otter without its containers. Those two have the same notebooks, and as their tests the
self-check of each exercise: the public cases, once; ours takes the hidden ones besides, and each
twice. They grade a few of the 64, and their time for all is their start and so many times the
seconds of one. All seconds are the command's, with its start.
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
    """A course in a folder of its own, of one assignment, and the notebook of all its students."""

    course: Course
    assignment: Assignment
    right: dict[str, Any]

    @property
    def released(self) -> nbformat.NotebookNode:
        """The notebook as the students got it."""
        return read_released(self.course, self.assignment.name)

    @property
    def points(self) -> int:
        """What every student has earned."""
        return sum(one.points for one in self.assignment.exercises)


def main() -> None:
    """Measure, write what the page reads and `_build/bench.json`, and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=ROOT / "_build" / "rivals")
    home = parser.parse_args().environments.absolute()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is missing. On Debian: sudo apt-get install bubblewrap")
    load = round(os.getloadavg()[0], 1)  # what else the machine has to do
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
    """The figures by which grading is judged: of the assignment with torch, and the large class."""
    found, large = result["assignments"][TORCH], result["large_class"]
    return {
        "assignment": TORCH,
        "speedup_vs_nbgrader": speedup(found, "nbgrader"),
        "speedup_vs_otter": speedup(found, "otter"),
        "overhead_ms_median": found["milliseconds"]["overhead"],
        "worker_rss_mib": found["worker_mib"],
        "seconds_first": found["seconds_first"],
        f"seconds_{CLASS}": found["seconds"],
        f"seconds_{LARGE[-1]}": large["seconds"][str(LARGE[-1])],
        f"rss_{LARGE[-1]}_mib": large["mib"][str(LARGE[-1])],
    }


def speedup(found: dict[str, Any], peer: str) -> float | None:
    """How many times as long a peer takes for the class; None for one that failed."""
    if "failed" in found[peer]:
        return None
    return round(float(found[peer]["seconds"]) / float(found["seconds"]), 1)


def _measured(name: str, home: Path) -> dict[str, Any]:
    """One assignment: the class, the submissions one by one, and the peers."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        one = _class(Path(folder) / "ours", name, CLASS)
        ours = _ours(one)
        _say(f"{name}: {CLASS} in {ours.seconds:.1f} s, the first after {ours.first:.1f} s")
        by_part = parts(one.course, one.assignment, one.released, SOME + 1)
        milliseconds = {part: median(by_part, part) for part in PARTS}
        _say(f"{name}: milliseconds of one submission {milliseconds}")
        found = {
            "seconds": round(ours.seconds, 2),
            "seconds_first": round(ours.first, 2),
            "worker_mib": round(ours.worker),
            "exercises": len(one.assignment.exercises),
            "milliseconds": milliseconds,
        }
        for peer, grade in PEERS.items():
            place = Path(folder) / peer
            found[peer] = _tried(partial(grade, one, place, _environment(home, peer)))
            _say(f"{name}: {peer} {found[peer]}")
    return found


def _environment(home: Path, peer: str) -> Path:
    return peers.environment(home / peer, PINS[peer])


def _large_class() -> dict[str, Any]:
    """A class of the assignment without torch: seconds and memory at several sizes."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        found = _ours(_class(Path(folder), NUMPY, LARGE[-1]))
    found.seconds_at[LARGE[-1]] = found.seconds  # with what comes after the last grade
    large = {
        "assignment": NUMPY,
        "seconds": {str(size): round(found.seconds_at[size], 1) for size in LARGE},
        "mib": {str(size): round(found.at[size]) for size in LARGE},
    }
    _say(f"{large}")
    return large


def _class(root: Path, name: str, size: int) -> Class:
    """A course in which so many students hand in the right notebook."""
    course = Course.create(root)
    assignment = COURSE[name]
    _run("release", name, "--course", root)
    text = notebook_text(sample_class([assignment])[0], read_released(course, name))
    found = Class(course, assignment, json.loads(text))
    for number in range(size):
        path = course.submitted / _student(number) / name / f"{name}.ipynb"
        replace_text(path, json.dumps(_copy(found.right, number)))
    return found


def _student(number: int) -> str:
    return f"s{number:04}"


def _copy(content: dict[str, Any], number: int) -> dict[str, Any]:
    """The notebook with a number in it: to a grader it is another submission."""
    copied = copy.deepcopy(content)
    copied["metadata"]["copy"] = number
    for cell in copied["cells"]:
        cell["source"] = "".join(cell["source"])
    return copied


def _ours(one: Class) -> Graded:
    """Our command on the whole class; ends with a message if a right answer lost a point."""
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(one.course.root)]
    found = graded(command, one.course.root, LARGE)
    points: dict[str, int] = {}
    for row in json.loads(one.course.grades.read_text(encoding="utf-8")):
        points[row["student"]] = points.get(row["student"], 0) + row["points"]
    if wrong := {name: sum_ for name, sum_ in points.items() if sum_ != one.points}:
        sys.exit(f"right answers lost points: {wrong}")
    return found


def _tried(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a peer took, or that it failed and how."""
    try:
        return measure()
    except PeerFailed as error:
        return {"failed": str(error)}


def _tests(one: Class) -> dict[str, PeerTest]:
    """The self-check of each exercise, as an assert."""
    return {
        exercise.name: PeerTest(
            exercise.points, f"assert check({exercise.name}).judgement.passed, '{exercise.name}'"
        )
        for exercise in one.assignment.exercises
    }


def _nbgrader(one: Class, root: Path, home: Path) -> dict[str, Any]:
    """A few students graded by `nbgrader autograde`, and its start: a run with nothing to do."""
    name, tests = one.assignment.name, _tests(one)
    shutil.copytree(one.course.release / name, root / "source" / name)
    (root / "nbgrader_config.py").write_text(PATIENT)
    blank = json.loads(nbformat.writes(one.released))
    source = peers.for_nbgrader(_copy(blank, 0), list(tests), tests)
    (root / "source" / name / f"{name}.ipynb").write_text(json.dumps(source))
    peers.run(home, root, "nbgrader", "generate_assignment", name)
    for number in range(SOME):
        path = root / "submitted" / _student(number) / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps(peers.for_nbgrader(_copy(one.right, number), list(tests), tests))
        )
    grade = partial(peers.run, home, root, "nbgrader", "autograde", name)
    both, start = _seconds(grade), _seconds(grade)
    with api.Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        points = [
            sum(grade.auto_score or 0 for notebook in found.notebooks for grade in notebook.grades)
            for found in book.assignment_submissions(name)
        ]
    return _of_peer(one, points, start, (both - start) / SOME)


def _otter(one: Class, root: Path, home: Path) -> dict[str, Any]:
    """A few students graded by `otter run`, a run for each."""
    name, tests = one.assignment.name, _tests(one)
    released = one.course.release / name
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
        path.write_text(json.dumps(peers.for_otter(_copy(one.right, number))))
        run = ["otter", "run", path, "-a", root / "tests.zip", "-o", folder]
        seconds += _seconds(partial(peers.run, home, folder, *run, beside=released))
        found = peers.otter_points(folder / "results.json", list(tests))
        points.append(sum(found.values()))
    return _of_peer(one, points, 0.0, seconds / SOME)


def _of_peer(one: Class, points: list[float], start: float, each: float) -> dict[str, Any]:
    if points != [one.points] * SOME:
        raise PeerFailed(f"other points for right answers: {points}, where {one.points} are earned")
    return {
        "seconds": round(start + CLASS * each, 1),
        "seconds_each": round(each, 2),
        "seconds_start": round(start, 2),
    }


def _seconds(run: Callable[[], None]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


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
