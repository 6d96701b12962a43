"""`python -m tests.benchmarks.rivals`: the hostile corpus, graded by two other graders.

Stock nbgrader and otter-grader get the same submissions, with tests that are equal for both: each
calls the function on the public and the hidden cases, and asserts type, shape, numbers to seven
digits, and an unchanged argument. nbgrader has them in the released notebook, the hidden ones
between its marks for hidden tests; otter has them in test files. Both are set as they come:
nbgrader grades in a kernel with the limits of its configuration, otter by `otter run`, which it
calls non-containerized. Otter's own isolation is a container; for that a Docker engine is needed.

Each runs inside bubblewrap, since a case may harm the machine: without a network, with a process
namespace of its own, with WALL seconds. A course has the case and an honest student, who comes
after it. What cannot be compared is left out, with the reason.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hostile
import hostile_class
import numpy as np
from hostile import Case
from nbgrader import api

from autograder.judging.exercise import Exercise
from autograder.judging.judge import public_cases
from autograder.sandbox.untrusted.supervisor import WARM

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "book" / "measured" / "rivals.json"
ASSIGNMENT = "self_attention"
TESTED = ("dot_product_scores", "softmax")
WALL = 120
PINS = {
    "nbgrader": ["nbgrader==0.9.6", "ipykernel==IPYKERNEL", "numpy==NUMPY"],
    "otter": ["otter-grader==7.0.0", "ipykernel==IPYKERNEL", "numpy==NUMPY"],
    "here": [],
}

LEFT_OUT = {
    "secrets": "what it may read depends on how a grader is installed",
    "tools": "it attacks the pages that are made of a grade",
}
"""Groups of cases that say nothing of another grader's grades."""

OURS = "it attacks a part of this grader that another does not have"
OTHER_TESTS = "it needs an exercise that the tests here leave out"

NBGRADER_CONFIG = """\
from pathlib import Path

c = get_config()
c.CourseDirectory.root = str(Path(__file__).absolute().parent)
c.ClearSolutions.enforce_metadata = False
c.IncludeHeaderFooter.header = ""
"""

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
    arguments = parser.parse_args()
    cases = [one for one in hostile.corpus() if not arguments.case or one.name in arguments.case]
    with ThreadPoolExecutor(len(PINS)) as pool:
        homes = [arguments.environments / name for name in PINS]
        rivals = dict(zip(PINS, pool.map(_rival, PINS, homes, [cases] * len(PINS)), strict=True))
    measured = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "command": "python -m tests.benchmarks.rivals",
        "wall": WALL,
        "cases": {case.name: {"group": case.group, "attacks": case.attacks} for case in cases},
        "rivals": rivals,
    }
    RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _rival(name: str, home: Path, cases: Sequence[Case]) -> dict[str, Any]:
    """What one rival makes of all cases."""
    rival = RIVALS[name](_environment(home.absolute(), PINS[name]))
    with ThreadPoolExecutor(1 if isinstance(rival, Here) else 2) as pool:  # a class is graded once
        measured = pool.map(_measured, [rival] * len(cases), cases)
        found = {case.name: one for case, one in zip(cases, measured, strict=True)}
    print(name, _summary(found.values()), flush=True)
    version = PINS[name][0].partition("==")[2] if PINS[name] else ""
    return {"version": version, "isolation": rival.isolation, "cases": found}


def _summary(found: Any) -> dict[str, int]:
    ran = [one for one in found if "left_out" not in one]
    return {"ran": len(ran)} | {what: sum(one[what] for one in ran) for what in QUESTIONS}


def left_out(case: Case) -> str | None:
    """Why a case is not given to the rivals, or None."""
    sources = " ".join(file.read_text() for file in case.folder.glob("*.py"))
    if case.group in LEFT_OUT:
        return LEFT_OUT[case.group]
    if case.assignment != ASSIGNMENT or (set(case.expect) - {"softmax"} and len(case.expect) == 1):
        return OTHER_TESTS
    if "untrusted" in sources or "syscall" in sources or "partial_credit" in case.name:
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
        "unearned": points is not None and points > earned,
        "lost": case.group == "robust" and points != earned,
        "hurt": found["honest"] not in (None, sum(one.points for one in _exercises())),
        "stuck": found["stuck"],
        "silent": points is None,
        "points": points,
        "earned": earned,
        "seconds": seconds,
    }


def _environment(home: Path, pins: Sequence[str]) -> Path:
    """A virtual environment with exactly what is pinned, made if it is not there."""
    if pins and not (home / "ready").exists():
        venv.create(home, clear=True, with_pip=True)
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *map(_pinned_here, pins)], check=True)
        (home / "ready").touch()
    return home


def _pinned_here(pin: str) -> str:
    """A pin with the versions that this course itself has."""
    import importlib.metadata

    for name in ("ipykernel", "numpy"):
        pin = pin.replace(name.upper(), importlib.metadata.version(name))
    return pin


def confined(command: Sequence[str], folder: Path, home: Path) -> bool:
    """Run `command` where it can harm nothing but `folder`; False if it did not end in time."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
    options += ["--dev", "/dev", "--proc", "/proc", "--size", str(2**30), "--tmpfs", "/tmp"]
    options += ["--ro-bind", str(home), str(home)]
    options += ["--bind", str(folder), str(folder), "--chdir", str(folder)]
    options += ["--setenv", "PATH", f"{home / 'bin'}:/usr/bin:/bin", "--setenv", "HOME", "/tmp"]
    limits = ["prlimit", f"--as={8 * 2**30}", f"--fsize={2**30}", "--core=0", "--nofile=4096"]
    process = subprocess.Popen(
        ["bwrap", *options, "--", *limits, *command],
        stdin=subprocess.DEVNULL,
        stdout=(folder / "said").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        process.wait(WALL)
        return True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


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
        """Our notebook with the marks of theirs: an answer is a solution, a test has the points."""
        exercises = {one.name: one for one in _exercises()}
        for cell in content["cells"]:
            marks = cell["metadata"].get("nbgrader")
            name = marks["grade_id"] if marks else ""
            if name in hostile_names():
                marks |= {"grade": False, "solution": True}
                marks.pop("points", None)
            tested = exercises.get(name.removesuffix("-check"))
            if name.endswith("-check"):
                cell["source"] = "pass"
            if name.endswith("-check") and tested is not None:
                marks |= {"grade": True, "solution": False, "points": tested.points}
                tests = tests_of(tested, False)
                if hidden:
                    secret = tests_of(tested, True)
                    tests += f"\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"
                cell["source"] = tests
            if cell["source"].startswith("import numpy") and marks:
                cell["source"] = f"import copy\n\nimport numpy as np\n\n{TEST}"
        return content

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Grade the case, and an honest student after it."""
        shutil.copytree(self.course, folder, dirs_exist_ok=True)
        hand_in(folder / "submitted" / "case", case, self.adapted)
        right = self.adapted(hostile.right_notebook(ASSIGNMENT))
        honest = folder / "submitted" / "honest" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        honest.parent.mkdir(parents=True)
        honest.write_text(json.dumps(right))
        ended = self._nbgrader(folder, "autograde", ASSIGNMENT)
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
        return {"points": points, "honest": honest_points, "stuck": not ended}

    def _nbgrader(self, folder: Path, *words: str) -> bool:
        return confined([str(self.home / "bin" / "nbgrader"), *words], folder, self.home)


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
                (tests / f"{one.name}.py").write_text(otter_test(one))
            self.zip.unlink(missing_ok=True)
            command = [home / "bin" / "otter", "generate", "-t", tests, "-o", self.zip]
            subprocess.run([*command, "--no-environment"], cwd=folder, check=True)

    def adapted(self, content: dict[str, Any]) -> dict[str, Any]:
        """Our notebook without what needs our package."""
        for cell in content["cells"]:
            marks = cell["metadata"].get("nbgrader")
            if marks and marks["grade_id"].endswith("-check"):
                cell["source"] = "pass"
            if cell["source"].startswith("import numpy") and marks:
                cell["source"] = "import numpy as np"
        return content

    def grade(self, folder: Path, case: Case) -> dict[str, Any]:
        """Grade the case. An honest student has a run of their own, which it cannot hurt."""
        hand_in(folder / "case", case, self.adapted)
        ended = self._run(folder, "case")
        points = self._points(folder, "case").get("softmax")
        return {"points": points, "honest": None, "stuck": not ended}

    def _run(self, folder: Path, student: str) -> bool:
        (folder / "out" / student).mkdir(parents=True)
        notebook = folder / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        command = [str(self.home / "bin" / "otter"), "run", str(notebook)]
        command += ["-a", str(self.zip), "-o", str(folder / "out" / student)]
        return confined(command, folder, self.home)

    def _points(self, folder: Path, student: str) -> dict[str, float]:
        """The points by exercise, as otter's results for a site that shows them have it."""
        try:
            results = json.loads((folder / "out" / student / "results.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        points: dict[str, float] = {}
        for test in results["tests"]:
            for name in TESTED:
                if test["name"].startswith(name) and "score" in test:
                    points[name] = points.get(name, 0) + test["score"]
        return points


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
        return {
            "points": row.points if row else None,
            "honest": 0 if hurt else None,
            "stuck": any("did not end" in fault for fault in found.faults),
        }


RIVALS = {"nbgrader": Nbgrader, "otter": Otter, "here": Here}


def otter_test(exercise: Exercise) -> str:
    """The test file of one exercise, in otter's format for exceptions."""
    body = f"{tests_of(exercise, False)}\n{tests_of(exercise, True)}".replace("\n", "\n    ")
    return (
        "import copy\n\nimport numpy as np\nfrom otter.test_files import test_case\n\n"
        f"OK_FORMAT = False\nname = '{exercise.name}'\npoints = {exercise.points}\n\n\n{TEST}\n\n"
        f"@test_case(points={exercise.points})\n"
        f"def test_{exercise.name}({exercise.name}):\n    {body}\n"
    )


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
