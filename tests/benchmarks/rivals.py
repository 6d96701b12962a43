"""Grade the hostile corpus with two other graders, nbgrader and otter-grader, and with this one.

Run it with `PYTHONPATH=tests/support python -m tests.benchmarks.rivals`.

Stock nbgrader and otter-grader get the same submissions and the same tests. A test calls the
function on the public and the hidden cases, and asserts the type, the shape, the numbers, and that
the arguments are unchanged. nbgrader has the tests in the released notebook, the hidden ones
between its marks for hidden tests; otter has them in test files. Both have their default settings:
nbgrader grades in a kernel with the limits of its configuration, and otter grades by `otter run`,
which it calls non-containerized. Otter can isolate a submission in a container, but that needs a
Docker engine.

A case may harm the machine, so each grader runs inside bubblewrap, without a network and in a
separate process namespace. The limit SECONDS counts processor time and idle time, so a busy machine
does not end a run early. For the same reason nbgrader waits longer for a kernel than by default.
A course has the case and an honest student, who is graded after it. Cases that cannot be compared
are left out, and the reason is recorded.

The result of each case is saved next to the environments until all cases are measured, so an
interrupted run continues where it stopped. The groups are measured in the order of ORDER. Cases
that have not started when the `--minutes` are over are left out, and `--complete` measures them on
another day. It keeps the earlier results, except those of runs that a different limit had ended.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import datetime
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hostile
import hostile_class
import numpy as np
from hostile import Case
from nbgrader import api

from autograder.exercise.model import Exercise, public_cases
from autograder.probe.supervisor import WARM
from tests.benchmarks.peers import (
    NBGRADER_CONFIG,
    PINS,
    PeerTest,
    environment,
    for_nbgrader,
    for_otter,
    otter_points,
    otter_test,
    version,
)

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "book" / "measured" / "rivals.json"
ASSIGNMENT = "self_attention"
TESTED = ("dot_product_scores", "softmax")
SECONDS = {"nbgrader": 300, "otter": 120}
"""The time limit of a run. It is longer for nbgrader, which has a limit for each cell."""

MEMORY = 4 * 2**30
LEFT_OUT = {
    "secrets": "what it may read depends on how a grader is installed",
    "tools": "it attacks the pages that are made of a grade",
}
"""Groups of cases that do not test the grades of another grader, and why."""

ORDER = ("scores", "robust", "answers", "process", "files", "resources", "secrets", "tools")
NO_TIME = "there was no time for it"
UNASKED = {
    "dtype_longdouble": "the tests here ask for the kind of number, not for its size",
    "imports_the_reference": "what it may read depends on how a grader is installed",
    "same_array_every_time": "the tests here look at each result once",
    "other_in_the_sandbox": "it is wrong only where it finds the sandbox of this grader",
}
"""Cases for which the grade of another grader means nothing, and why."""

WITHIN_LIMITS = ("resources", "files")
"""Groups whose answers may be right. Ours gives them no points since they exceed one of its limits,
or are in a file of the wrong kind. Another grader may give them points without being at fault."""

OURS = "it attacks a part of this grader that another does not have"
NAMES = "it is in the name of a student, which another grader gets from somewhere else"
OTHER_TESTS = "it needs an exercise that the tests here leave out"
LATE = "Kernel didn't respond"
"""Jupyter's message if the machine was too busy to start a kernel. Such a run is repeated."""

ENDED = "the whole run"
"""The limit of this benchmark, as opposed to the limits of the grader."""

HERE_LIMITS = ("TIMEOUT", "MEMORY", "OUTPUT")

TIMED_OUT = ("Timeout waiting for execute reply", "A cell timed out")
"""The messages of nbgrader for a cell that reached its time limit."""

QUESTIONS = ("unearned", "lost", "hurt", "stuck", "silent")
"""The faults that are looked for in each case: the student got unearned points, a right answer lost
points, the honest student lost points, the run did not end, or the grader gave no points at all."""

TEST = """\
def same(answer, arguments, keywords, expected):
    given = copy.deepcopy(arguments)
    result = answer(*arguments, **keywords)
    assert type(result) is np.ndarray
    assert result.shape == expected.shape
    assert result.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-7)
    for before, after in zip(given, arguments):
        np.testing.assert_array_equal(before, after)
"""


def main() -> None:
    """Grade every case with every rival, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=ROOT / "_build" / "rivals")
    parser.add_argument("--case", action="append", help="only this case")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no case after them")
    parser.add_argument(
        "--rival", action="append", choices=("nbgrader", "otter", "here"), help="only this grader"
    )
    parser.add_argument("--complete", action="store_true", help="measure what the result lacks")
    arguments = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is missing. On Debian: sudo apt-get install bubblewrap")
    cases = [case for case in hostile.corpus() if not arguments.case or case.name in arguments.case]
    cases.sort(key=lambda case: (ORDER.index(case.group), case.in_class, case.name))
    names = arguments.rival or list(RIVALS)
    end = [time.monotonic() + 60 * arguments.minutes] * len(names)
    with ThreadPoolExecutor(len(names)) as pool:
        homes = [(arguments.environments / name).absolute() for name in names]
        for name, home in zip(names, homes, strict=True):
            environment(home, PINS.get(name, []))  # clears the folder if it is new
        dates = [*(_take_over(homes) if arguments.complete else ()), str(datetime.date.today())]
        rivals = dict(
            zip(names, pool.map(_rival, names, homes, [cases] * len(names), end), strict=True)
        )
    if arguments.case or arguments.rival:
        return
    measured = {
        "date": " and ".join(dict.fromkeys(dates)),
        "machine": _machine(),
        "python": platform.python_version(),
        "command": "PYTHONPATH=tests/support python -m tests.benchmarks.rivals",
        "cases": {
            case.name: {"group": case.group, "attacks": case.attacks, "open": case.open}
            for case in sorted(cases, key=lambda case: case.name)
        },
        "rivals": rivals,
    }
    RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    results = [result for rival in rivals.values() for result in rival["cases"].values()]
    for home in homes if {"left_out": NO_TIME} not in results else ():
        shutil.rmtree(home / "cases")


def _machine() -> str:
    return f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"


def _take_over(homes: Sequence[Path]) -> list[str]:
    """Copy the result of each case that ran and ended from RESULT; return the dates of RESULT."""
    before = json.loads(RESULT.read_text(encoding="utf-8"))
    if (before["machine"], before["python"]) != (_machine(), platform.python_version()):
        sys.exit(f"{RESULT.name} is from another machine or Python. Measure without --complete.")
    for home in homes:
        (home / "cases").mkdir(parents=True, exist_ok=True)
        rival = before["rivals"][home.name]
        limit_changed = rival["seconds"] != SECONDS.get(home.name)
        for name, result in rival["cases"].items():
            file = home / "cases" / f"{name}.json"
            outdated = limit_changed and result.get("limit") == ENDED
            if not (file.exists() or "left_out" in result or outdated):
                file.write_text(json.dumps(result))
    dates: str = before["date"]
    return dates.split(" and ")


def _rival(name: str, home: Path, cases: Sequence[Case], end: float) -> dict[str, Any]:
    """Return the results of a rival. Cases that would start after `end` are left out."""
    rival: Any = RIVALS[name](environment(home, PINS.get(name, [])))
    (home / "cases").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1 if isinstance(rival, Here) else 2) as pool:  # a class is graded once
        files = [home / "cases" / f"{case.name}.json" for case in cases]
        measured = pool.map(_result_of, files, [rival] * len(cases), cases, [end] * len(cases))
        results = {case.name: result for case, result in zip(cases, measured, strict=True)}
    print(name, _summary(results.values()), flush=True)
    return {
        "version": version(name) if name in PINS else "",
        "isolation": rival.isolation,
        "seconds": SECONDS.get(name),
        "cases": results,
    }


def _summary(results: Any) -> dict[str, int]:
    ran = [result for result in results if "left_out" not in result]
    counts = {question: sum(result[question] for result in ran) for question in QUESTIONS}
    return {"ran": len(ran)} | counts


def _result_of(file: Path, rival: Any, case: Case, end: float) -> dict[str, Any]:
    """Return the result of a case, from `file` if an interrupted run has measured it."""
    if not file.exists() and time.monotonic() > end:
        return {"left_out": left_out(case) or NO_TIME}
    if not file.exists():
        part = file.with_suffix(".part")
        part.write_text(json.dumps(_measured(rival, case)))
        part.replace(file)
    result: dict[str, Any] = json.loads(file.read_text())
    return result


def left_out(case: Case) -> str | None:
    """Return the reason for which the rivals do not get a case, or None if they get it."""
    if case.student:
        return NAMES
    if case.name in UNASKED:
        return UNASKED[case.name]
    notebook = [case.notebook.read_text()] if case.notebook else []
    sources = " ".join([*case.answers.values(), *case.cells, *notebook])
    if case.group in LEFT_OUT:
        return LEFT_OUT[case.group]
    if case.assignment != ASSIGNMENT or (case.expect and "softmax" not in case.expect):
        return OTHER_TESTS
    if "probe" in sources or "syscall" in sources or "partial_credit" in case.name:
        return OURS
    return None


def _measured(rival: Any, case: Case) -> dict[str, Any]:
    """Grade a case and return the answers to QUESTIONS, the points, and the seconds."""
    reason = left_out(case)
    if reason is not None:
        return {"left_out": reason}
    with tempfile.TemporaryDirectory(prefix="rival-", ignore_cleanup_errors=True) as folder:
        started = time.monotonic()
        graded = rival.grade(Path(folder), case)
        seconds = round(time.monotonic() - started, 1)
    expected = case.expect.get("softmax")
    earned = 2 if expected is None else expected.points
    points = graded["points"]
    print(f"{type(rival).__name__:9} {case.name:40} {points} {graded} {seconds}", flush=True)
    return {
        "unearned": case.group not in WITHIN_LIMITS and points is not None and points > earned,
        "lost": case.group == "robust" and points != earned,
        "hurt": graded["honest"] not in (None, sum(each.points for each in _exercises())),
        "stuck": graded["limit"] == ENDED,
        "silent": points is None,
        "limit": graded["limit"],
        "points": points,
        "earned": earned,
        "seconds": seconds,
    }


def confined(command: Sequence[str], folder: Path, home: Path, seconds: float) -> str:
    """Run `command` where it can only harm `folder`; return the limit that ended it, or ""."""
    output = folder / "output"
    for _ in range(3):
        ended = _confined(command, folder, home, seconds)
        text = output.read_text(errors="replace")
        if ended or LATE not in text:
            break
    return ended or ("a cell" if any(words in text for words in TIMED_OUT) else "")


def _confined(command: Sequence[str], folder: Path, home: Path, seconds: float) -> str:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
    options += ["--dev", "/dev", "--proc", "/proc", "--size", str(2**30), "--tmpfs", "/tmp"]
    options += ["--ro-bind", str(home), str(home)]
    options += ["--bind", str(folder), str(folder), "--chdir", str(folder)]
    options += ["--unsetenv", "PYTHONPATH"]
    options += ["--setenv", "PATH", f"{home / 'bin'}:/usr/bin:/bin", "--setenv", "HOME", "/tmp"]
    limits = ["prlimit", f"--as={MEMORY}", f"--fsize={2**30}", "--core=0", "--nofile=4096"]
    process = subprocess.Popen(
        ["bwrap", *options, "--", *limits, *command],
        stdin=subprocess.DEVNULL,
        stdout=(folder / "output").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    clock = Clock(process.pid)
    while True:
        try:
            process.wait(1)
            return ""
        except subprocess.TimeoutExpired:
            if clock.seconds() < seconds:
                continue
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return ENDED


class Clock:
    """The processor time of a process and its descendants, plus the time in which none of them ran.

    It does not include the time in which they waited for a processor that other programs used.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._used: dict[int, float] = {}
        self._idle = 0.0
        self._looked = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds so far. A process counts even after it has ended."""
        runs = False
        for pid in [self._pid, *hostile_class.descendants(self._pid)]:
            with contextlib.suppress(OSError):
                for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
                    runs = runs or stat.read_text(errors="replace").rpartition(")")[2][1] == "R"
                fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2]
                self._used[pid] = sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")
        now = time.monotonic()
        self._idle += 0.0 if runs else now - self._looked
        self._looked = now
        return sum(self._used.values()) + self._idle


def tests_of(exercise: Exercise, hidden: bool) -> str:
    """Return the asserts of an exercise, as an instructor would write them."""
    cases = public_cases(exercise)
    if hidden:
        cases = tuple(exercise.hidden(np.random.default_rng(1)))
    lines = []
    for case in cases:
        expected = exercise.reference(*copy.deepcopy(case.arguments), **case.keywords)
        values = ", ".join(map(_literal, case.arguments))
        lines.append(f"same({exercise.name}, ({values},), {case.keywords!r}, {_literal(expected)})")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, dtype='{value.dtype}')"
    return repr(value)


def _exercises() -> list[Exercise]:
    return [hostile.assignment(ASSIGNMENT).exercise(name) for name in TESTED]


class Nbgrader:
    """Stock nbgrader with its default settings."""

    isolation = "none; a kernel, with 30 s for a cell"

    def __init__(self, home: Path) -> None:
        self.home = home
        self.course = home / "course"
        shutil.rmtree(self.course, ignore_errors=True)
        source = self.course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        source.parent.mkdir(parents=True)
        (self.course / "nbgrader_config.py").write_text(NBGRADER_CONFIG)
        source.write_text(json.dumps(self.adapted(self.blank(), hidden=True)))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.course, folder, dirs_exist_ok=True)
            self._nbgrader(Path(folder), "generate_assignment", ASSIGNMENT)
            shutil.copytree(folder, self.course, dirs_exist_ok=True)
        if not (self.course / "release").exists():
            sys.exit((self.course / "output").read_text())

    def blank(self) -> dict[str, Any]:
        """Return the released notebook, which has the stubs."""
        content: dict[str, Any] = json.loads(json.dumps(hostile.released(ASSIGNMENT)))
        return content

    def adapted(self, content: dict[str, Any], hidden: bool = False) -> dict[str, Any]:
        """Convert our notebook to nbgrader's; with `hidden`, add its marked hidden tests."""
        for cell in content["cells"]:
            if cell["source"].startswith("import numpy") and cell["metadata"].get("nbgrader"):
                cell["source"] = f"import copy\n\nimport numpy as np\n\n{TEST}"
        tests = {}
        for exercise in _exercises():
            source = tests_of(exercise, False)
            if hidden:
                secret = tests_of(exercise, True)
                source += f"\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"
            tests[exercise.name] = PeerTest(exercise.points, source)
        return for_nbgrader(content, hostile_names(), tests)

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Grade the case, and an honest student after it."""
        shutil.copytree(self.course, folder, dirs_exist_ok=True)
        hand_in(folder / "submitted" / "case", case, self.adapted)
        right = self.adapted(hostile.right_notebook(ASSIGNMENT))
        honest = folder / "submitted" / "honest" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        honest.parent.mkdir(parents=True)
        honest.write_text(json.dumps(right))
        limit = self._nbgrader(folder, "autograde", ASSIGNMENT)
        scores: dict[str, dict[str, float]] = {}
        with api.Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
            for submission in book.assignment_submissions(ASSIGNMENT):
                student = submission.student.id
                if student in ("case", "honest"):
                    graded = (folder / "autograded" / student / ASSIGNMENT).exists()
                    by_check = {
                        grade.cell.name: grade.auto_score
                        for notebook in submission.notebooks
                        for grade in notebook.grades
                        if grade.cell.name.endswith("-check")
                    }
                    scores[student] = by_check if graded else {}
        honest_points = sum(score or 0 for score in scores.get("honest", {}).values())
        points = scores.get("case", {}).get("softmax-check")
        return {"points": points, "honest": honest_points, "limit": limit}

    def _nbgrader(self, folder: Path, *words: str) -> str:
        command = [str(self.home / "bin" / "nbgrader"), *words]
        return confined(command, folder, self.home, SECONDS["nbgrader"])


class Otter:
    """otter-grader, run by the command that needs no container."""

    isolation = "none: `otter run`; its containers were not measured, for want of a Docker engine"

    def __init__(self, home: Path) -> None:
        self.home = home
        self.zip = home / "autograder.zip"
        with tempfile.TemporaryDirectory() as folder:
            tests = Path(folder) / "tests"
            tests.mkdir()
            for exercise in _exercises():
                both = f"{tests_of(exercise, False)}\n{tests_of(exercise, True)}"
                before = f"import copy\n\nimport numpy as np\n\n{TEST}"
                test = otter_test(exercise.name, PeerTest(exercise.points, both), before)
                (tests / f"{exercise.name}.py").write_text(test)
            self.zip.unlink(missing_ok=True)
            command: list[Any] = [home / "bin" / "otter", "generate", "-t", tests, "-o", self.zip]
            subprocess.run([*command, "--no-environment"], cwd=folder, check=True)

    def adapted(self, content: dict[str, Any]) -> dict[str, Any]:
        """Remove everything that needs our package from our notebook."""
        for cell in content["cells"]:
            if cell["source"].startswith("import numpy") and cell["metadata"].get("nbgrader"):
                cell["source"] = "import numpy as np"
        return for_otter(content)

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Grade the case. An honest student would have a separate run, so it cannot be hurt."""
        hand_in(folder / "case", case, self.adapted)
        limit = self._run(folder, "case")
        points = otter_points(folder / "out" / "case" / "results.json", TESTED).get("softmax")
        return {"points": points, "honest": None, "limit": limit}

    def _run(self, folder: Path, student: str) -> str:
        (folder / "out" / student).mkdir(parents=True)
        notebook = folder / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        command = [str(self.home / "bin" / "otter"), "run", str(notebook)]
        command += ["-a", str(self.zip), "-o", str(folder / "out" / student)]
        return confined(command, folder, self.home, SECONDS["otter"])


class Here:
    """This grader with its warm sandbox, run in the same way as by the tests of the corpus."""

    isolation = "namespaces, system calls and limits of its own for each submission"

    def __init__(self, home: Path) -> None:
        """Do nothing: this grader needs no separate environment."""

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Return the result of the case in the class to which the tests assign it."""
        graded = hostile_class.graded(case.in_class, WARM)
        row = graded.rows.get(case.name, {}).get("softmax")
        hurt = any("honest was hurt" in fault for fault in graded.faults)
        limit = row.verdict if row and row.verdict in HERE_LIMITS else ""
        if any("did not end" in fault for fault in graded.faults):
            limit = ENDED
        return {
            "points": row.points if row else None,
            "honest": 0 if hurt else None,
            "limit": limit,
        }


RIVALS = {"nbgrader": Nbgrader, "otter": Otter, "here": Here}


def hostile_names() -> list[str]:
    """Return the names of all exercises of the assignment."""
    return [exercise.name for exercise in hostile.assignment(ASSIGNMENT).exercises]


def hand_in(folder: Path, case: Case, adapted: Any) -> None:
    """Write the case where the rival looks for a submission; `hostile.hand_in` does so for ours."""
    path = folder / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True)
    hostile.write(case, adapted(hostile.with_sources(case)), path)


if __name__ == "__main__":
    main()
