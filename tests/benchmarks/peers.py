"""Run nbgrader and otter-grader: make an environment for each, and convert our notebooks.

The caller chooses the code of the tests: `rivals` uses asserts, `grading` the self-check.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINS = {
    "nbgrader": ["nbgrader==0.9.6", "ipykernel==IPYKERNEL", "numpy==NUMPY"],
    "otter": ["otter-grader==7.0.0", "ipykernel==IPYKERNEL", "numpy==NUMPY"],
}

NBGRADER_CONFIG = """\
from pathlib import Path

c = get_config()
c.CourseDirectory.root = str(Path(__file__).absolute().parent)
c.ClearSolutions.enforce_metadata = False
c.IncludeHeaderFooter.header = ""
c.Execute.startup_timeout = 600
c.Execute.iopub_timeout = 30
"""
"""The default settings, but with a longer wait for a kernel, since the machine may be busy."""

LATE_PATH = """\
import sys

sys.path.append(PATH)
"""


@dataclass(frozen=True)
class PeerTest:
    """The test of an exercise for another grader: code that raises if the answer is wrong."""

    points: int
    source: str


class PeerFailed(Exception):
    """Raised if another grader fails. The message has the last line of its output."""


def environment(home: Path, pins: Sequence[str]) -> Path:
    """Return a virtual environment with exactly the pinned packages, and create it if missing."""
    if pins and not (home / "ready").exists():
        venv.create(home, clear=True, with_pip=True)
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *map(_pinned_here, pins)], check=True)
        (home / "ready").touch()
    return home


def _pinned_here(pin: str) -> str:
    """Return the pin with the placeholders replaced by the versions that this course uses."""
    for name in ("ipykernel", "numpy"):
        pin = pin.replace(name.upper(), importlib.metadata.version(name))
    return pin


def version(name: str) -> str:
    """Return the pinned version of `nbgrader` or `otter`."""
    return PINS[name][0].partition("==")[2]


def run(home: Path, folder: Path, *words: str | Path, beside: Path | None = None) -> None:
    """Run a program of the environment `home` in `folder`. Raises PeerFailed.

    Packages that the environment lacks, such as torch, are imported from the course's environment.
    `beside` is a folder of modules that takes precedence over both.
    """
    late = home / "late"
    late.mkdir(exist_ok=True)
    here = repr(sysconfig.get_path("purelib"))
    (late / "sitecustomize.py").write_text(LATE_PATH.replace("PATH", here))
    places = [str(place) for place in (late, beside) if place is not None]
    program, *rest = words
    done = subprocess.run(
        [home / "bin" / program, *rest],
        cwd=folder,
        env=os.environ
        | {
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",  # it calls alembic by name
            "PYTHONPATH": os.pathsep.join(places),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        output = f"{done.stdout}\n{done.stderr}".strip().splitlines()
        raise PeerFailed(f"{Path(program).name}, exit code {done.returncode}: {output[-1:]}")


def for_nbgrader(
    content: dict[str, Any], answers: Sequence[str], tests: Mapping[str, PeerTest]
) -> dict[str, Any]:
    """Give our notebook nbgrader's metadata: an answer is a solution, a test has the points."""
    for cell in content["cells"]:
        marks = cell["metadata"].get("nbgrader")
        name = marks["grade_id"] if marks else ""
        if name in answers:
            marks |= {"grade": False, "solution": True}
            marks.pop("points", None)
        tested = tests.get(name.removesuffix("-check"))
        if name.endswith("-check"):
            cell["source"] = "pass" if tested is None else tested.source
        if name.endswith("-check") and tested is not None:
            marks |= {"grade": True, "solution": False, "points": tested.points}
    return content


def for_otter(content: dict[str, Any]) -> dict[str, Any]:
    """Remove the self-checks from our notebook, since otter has its tests in separate files."""
    for cell in content["cells"]:
        marks = cell["metadata"].get("nbgrader")
        if marks and marks["grade_id"].endswith("-check"):
            cell["source"] = "pass"
    return content


def otter_test(name: str, test: PeerTest, before: str) -> str:
    """Return the test file of an exercise, in otter's exception-based format."""
    body = test.source.replace("\n", "\n    ")
    return (
        f"{before}\nfrom otter.test_files import test_case\n\n"
        f"OK_FORMAT = False\nname = '{name}'\npoints = {test.points}\n\n\n"
        f"@test_case(points={test.points})\ndef test_{name}({name}):\n    {body}\n"
    )


def otter_points(results: Path, names: Sequence[str]) -> dict[str, float]:
    """Return the points by exercise from otter's results in Gradescope's format."""
    try:
        content = json.loads(results.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    points: dict[str, float] = {}
    for test in content["tests"]:
        candidates = [name for name in names if test["name"].startswith(name)]
        if candidates and "score" in test:
            name = max(candidates, key=len)  # the name of one exercise may be a prefix of another
            points[name] = points.get(name, 0) + test["score"]
    return points
