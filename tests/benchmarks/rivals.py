"""The hostile corpus, graded by two other graders.

`PYTHONPATH=tests/support python -m tests.benchmarks.rivals` runs it.

Stock nbgrader and otter-grader get the same submissions, with tests that are equal for both: each
calls the function on the public and the hidden cases, and asserts type, shape, numbers to seven
digits, and an unchanged argument. nbgrader has them in the released notebook, the hidden ones
between its marks for hidden tests; otter has them in test files. Both are set as they come:
nbgrader grades in a kernel with the limits of its configuration, otter by `otter run`, which it
calls non-containerized. Otter's own isolation is a container; for that a Docker engine is needed.

Each runs inside bubblewrap, since a case may harm the machine: without a network, with a process
namespace of its own, with SECONDS of a processor or of doing nothing, so that a busy machine wrongs
nobody; for the same reason nbgrader waits longer for a kernel than it does as it comes.
A course has the case and an honest student, who comes after it. What cannot be compared is left
out, with the reason.

What came of a case is kept beside the environments until all cases are measured, so that an
interrupted run goes on where it was. The groups come in the order of ORDER; what has not begun
when the minutes are over is left out, and `--complete` measures it another day: the rest then
stands as it was measured, but for the runs that another limit had ended.
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
"""When a run is ended: late for nbgrader, which ends each cell itself; otter has no such limit."""

MEMORY = 4 * 2**30
LEFT_OUT = {
    "secrets": "what it may read depends on how a grader is installed",
    "tools": "it attacks the pages that are made of a grade",
}
"""Groups of cases that say nothing of another grader's grades."""

ORDER = ("scores", "robust", "answers", "process", "files", "resources", "secrets", "tools")
NO_TIME = "there was no time for it"
UNASKED = {
    "dtype_longdouble": "the tests here ask for the kind of number, not for its size",
    "imports_the_reference": "what it may read depends on how a grader is installed",
    "same_array_every_time": "the tests here look at each result once",
    "other_in_the_sandbox": "it is wrong only where it finds the sandbox of this grader",
}
"""Cases of which a grade of another grader says nothing, and why."""

WITHIN_LIMITS = ("resources", "files")
"""Groups whose answers may be right: here they get nothing since they passed a limit of ours, or
stand in a file of another kind. That another grader gives them their points is no fault of it."""

OURS = "it attacks a part of this grader that another does not have"
NAMES = "it is in the name of a student, which another grader gets from somewhere else"
OTHER_TESTS = "it needs an exercise that the tests here leave out"
LATE = "Kernel didn't respond"
"""What Jupyter says when the machine was too busy to start a kernel: such a run is repeated."""

ENDED = "the whole run"
"""The limit that is not the grader's own."""

HERE_LIMITS = ("TIMEOUT", "MEMORY", "OUTPUT")

TIMED_OUT = ("Timeout waiting for execute reply", "A cell timed out")
"""What nbgrader says of a cell that it has ended."""

QUESTIONS = ("unearned", "lost", "hurt", "stuck", "silent")
"""What is asked of each case: points that were not earned, points of a right answer that were lost,
points of the honest student that were lost, a run that did not end, no points at all."""

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
    """Grade every case by every rival, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=ROOT / "_build" / "rivals")
    parser.add_argument("--case", action="append", help="only this case")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no case after them")
    parser.add_argument(
        "--rival", action="append", choices=("nbgrader", "otter", "here"), help="only this grader"
    )
    parser.add_argument("--complete", action="store_true", help="measure what the result lacks")
    arguments = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is missing. On Debian: sudo apt-get install bubblewrap")
    cases = [one for one in hostile.corpus() if not arguments.case or one.name in arguments.case]
    cases.sort(key=lambda case: (ORDER.index(case.group), case.in_class, case.name))
    names = arguments.rival or list(RIVALS)
    end = [time.monotonic() + 60 * arguments.minutes] * len(names)
    with ThreadPoolExecutor(len(names)) as pool:
        homes = [(arguments.environments / name).absolute() for name in names]
        for name, home in zip(names, homes, strict=True):
            environment(home, PINS.get(name, []))  # before anything is put there
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
    found = [one for rival in rivals.values() for one in rival["cases"].values()]
    for home in homes if {"left_out": NO_TIME} not in found else ():
        shutil.rmtree(home / "cases")


def _machine() -> str:
    return f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"


def _take_over(homes: Sequence[Path]) -> list[str]:
    """Keep what RESULT has of each case that ran and ended; return its dates."""
    before = json.loads(RESULT.read_text(encoding="utf-8"))
    if (before["machine"], before["python"]) != (_machine(), platform.python_version()):
        sys.exit(f"{RESULT.name} is of another machine, or another Python: begin anew.")
    for home in homes:
        (home / "cases").mkdir(parents=True, exist_ok=True)
        rival = before["rivals"][home.name]
        other = rival["seconds"] != SECONDS.get(home.name)
        for name, found in rival["cases"].items():
            kept = home / "cases" / f"{name}.json"
            ended = other and found.get("limit") == ENDED
            if not (kept.exists() or "left_out" in found or ended):
                kept.write_text(json.dumps(found))
    dates: str = before["date"]
    return dates.split(" and ")


def _rival(name: str, home: Path, cases: Sequence[Case], end: float) -> dict[str, Any]:
    """What one rival makes of all cases that begin before `end`."""
    rival: Any = RIVALS[name](environment(home, PINS.get(name, [])))
    (home / "cases").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1 if isinstance(rival, Here) else 2) as pool:  # a class is graded once
        files = [home / "cases" / f"{case.name}.json" for case in cases]
        measured = pool.map(_kept, files, [rival] * len(cases), cases, [end] * len(cases))
        found = {case.name: one for case, one in zip(cases, measured, strict=True)}
    print(name, _summary(found.values()), flush=True)
    return {
        "version": version(name) if name in PINS else "",
        "isolation": rival.isolation,
        "seconds": SECONDS.get(name),
        "cases": found,
    }


def _summary(found: Any) -> dict[str, int]:
    ran = [one for one in found if "left_out" not in one]
    return {"ran": len(ran)} | {what: sum(one[what] for one in ran) for what in QUESTIONS}


def _kept(file: Path, rival: Any, case: Case, end: float) -> dict[str, Any]:
    """What came of one case, now or in a run that was interrupted."""
    if not file.exists() and time.monotonic() > end:
        return {"left_out": left_out(case) or NO_TIME}
    if not file.exists():
        part = file.with_suffix(".part")
        part.write_text(json.dumps(_measured(rival, case)))
        part.replace(file)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def left_out(case: Case) -> str | None:
    """Why a case is not given to the rivals, or None."""
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
    """What came of one case: five questions, the points, and the seconds."""
    reason = left_out(case)
    if reason is not None:
        return {"left_out": reason}
    with tempfile.TemporaryDirectory(prefix="rival-", ignore_cleanup_errors=True) as folder:
        begun = time.monotonic()
        found = rival.grade(Path(folder), case)
        seconds = round(time.monotonic() - begun, 1)
    expected = case.expect.get("softmax")
    earned = 2 if expected is None else expected.points
    points = found["points"]
    print(f"{type(rival).__name__:9} {case.name:40} {points} {found} {seconds}", flush=True)
    return {
        "unearned": case.group not in WITHIN_LIMITS and points is not None and points > earned,
        "lost": case.group == "robust" and points != earned,
        "hurt": found["honest"] not in (None, sum(one.points for one in _exercises())),
        "stuck": found["limit"] == ENDED,
        "silent": points is None,
        "limit": found["limit"],
        "points": points,
        "earned": earned,
        "seconds": seconds,
    }


def confined(command: Sequence[str], folder: Path, home: Path, seconds: float) -> str:
    """Run `command` where it can harm nothing but `folder`; the limit that ended it, if one did."""
    said = folder / "said"
    for _ in range(3):
        ended = _confined(command, folder, home, seconds)
        text = said.read_text(errors="replace")
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
        stdout=(folder / "said").open("wb"),
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
    """Seconds of a processor that a process and its descendants used, or in which none of them ran.

    Time in which others had the processor is not in it.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._used: dict[int, float] = {}
        self._idle = 0.0
        self._looked = time.monotonic()

    def seconds(self) -> float:
        """The time now; what a process used is remembered when it has ended."""
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
    """The asserts of one exercise, as an instructor writes them."""
    cases = public_cases(exercise)
    if hidden:
        cases = tuple(exercise.hidden(np.random.default_rng(1)))
    lines = []
    for case in cases:
        expected = exercise.reference(*copy.deepcopy(case.arguments), **case.keywords)
        given = ", ".join(map(_literal, case.arguments))
        lines.append(f"same({exercise.name}, ({given},), {case.keywords!r}, {_literal(expected)})")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, dtype='{value.dtype}')"
    return repr(value)


def _exercises() -> list[Exercise]:
    return [hostile.assignment(ASSIGNMENT).exercise(name) for name in TESTED]


class Nbgrader:
    """Stock nbgrader, as it comes."""

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
            sys.exit((self.course / "said").read_text())

    def blank(self) -> dict[str, Any]:
        """The notebook with the stubs."""
        content: dict[str, Any] = json.loads(json.dumps(hostile.released(ASSIGNMENT)))
        return content

    def adapted(self, content: dict[str, Any], hidden: bool = False) -> dict[str, Any]:
        """Our notebook as theirs, with the hidden tests between their marks if it is the source."""
        for cell in content["cells"]:
            if cell["source"].startswith("import numpy") and cell["metadata"].get("nbgrader"):
                cell["source"] = f"import copy\n\nimport numpy as np\n\n{TEST}"
        tests = {}
        for one in _exercises():
            source = tests_of(one, False)
            if hidden:
                secret = tests_of(one, True)
                source += f"\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"
            tests[one.name] = PeerTest(one.points, source)
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
            for one in book.assignment_submissions(ASSIGNMENT):
                if one.student.id in ("case", "honest"):
                    graded = (folder / "autograded" / one.student.id / ASSIGNMENT).exists()
                    found = {
                        grade.cell.name: grade.auto_score
                        for notebook in one.notebooks
                        for grade in notebook.grades
                        if grade.cell.name.endswith("-check")
                    }
                    scores[one.student.id] = found if graded else {}
        honest_points = sum(score or 0 for score in scores.get("honest", {}).values())
        points = scores.get("case", {}).get("softmax-check")
        return {"points": points, "honest": honest_points, "limit": limit}

    def _nbgrader(self, folder: Path, *words: str) -> str:
        command = [str(self.home / "bin" / "nbgrader"), *words]
        return confined(command, folder, self.home, SECONDS["nbgrader"])


class Otter:
    """otter-grader, by its command that needs no container."""

    isolation = "none: `otter run`; its containers were not measured, for want of a Docker engine"

    def __init__(self, home: Path) -> None:
        self.home = home
        self.zip = home / "autograder.zip"
        with tempfile.TemporaryDirectory() as folder:
            tests = Path(folder) / "tests"
            tests.mkdir()
            for one in _exercises():
                both = f"{tests_of(one, False)}\n{tests_of(one, True)}"
                before = f"import copy\n\nimport numpy as np\n\n{TEST}"
                test = otter_test(one.name, PeerTest(one.points, both), before)
                (tests / f"{one.name}.py").write_text(test)
            self.zip.unlink(missing_ok=True)
            command: list[Any] = [home / "bin" / "otter", "generate", "-t", tests, "-o", self.zip]
            subprocess.run([*command, "--no-environment"], cwd=folder, check=True)

    def adapted(self, content: dict[str, Any]) -> dict[str, Any]:
        """Our notebook without what needs our package."""
        for cell in content["cells"]:
            if cell["source"].startswith("import numpy") and cell["metadata"].get("nbgrader"):
                cell["source"] = "import numpy as np"
        return for_otter(content)

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Grade the case. An honest student has a run of their own, which it cannot hurt."""
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
    """This grader, in its warm sandbox, as the tests of the corpus run it."""

    isolation = "namespaces, system calls and limits of its own for each submission"

    def __init__(self, home: Path) -> None:
        """It needs no environment of its own."""

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """What came of the case in the class in which the tests have it."""
        found = hostile_class.graded(case.in_class, WARM)
        row = found.rows.get(case.name, {}).get("softmax")
        hurt = any("honest was hurt" in fault for fault in found.faults)
        limit = row.verdict if row and row.verdict in HERE_LIMITS else ""
        if any("did not end" in fault for fault in found.faults):
            limit = ENDED
        return {
            "points": row.points if row else None,
            "honest": 0 if hurt else None,
            "limit": limit,
        }


RIVALS = {"nbgrader": Nbgrader, "otter": Otter, "here": Here}


def hostile_names() -> list[str]:
    """The names of all exercises of the assignment."""
    return [one.name for one in hostile.assignment(ASSIGNMENT).exercises]


def hand_in(folder: Path, case: Case, adapted: Any) -> None:
    """Put the case where the rival looks for a submission, as `hostile.hand_in` does for us."""
    path = folder / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True)
    hostile.write(case, adapted(hostile.with_sources(case)), path)


if __name__ == "__main__":
    main()
