"""nbgrader and otter-grader: an environment for each, and our notebooks in their form.

Their tests hold whatever code they are given: asserts by `rivals`, the self-check by `grading`.
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
"""As it comes, but that it waits longer for a kernel on a busy machine."""

LATE_PATH = """\
import sys

sys.path.append(PATH)
"""


@dataclass(frozen=True)
class PeerTest:
    """What another grader runs for one exercise: code that raises where the answer is wrong."""

    points: int
    source: str


class PeerFailed(Exception):
    """Another grader did not do what it was asked; the last line that it said."""


def environment(home: Path, pins: Sequence[str]) -> Path:
    """A virtual environment with exactly what is pinned, made if it is not there."""
    if pins and not (home / "ready").exists():
        venv.create(home, clear=True, with_pip=True)
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *map(_pinned_here, pins)], check=True)
        (home / "ready").touch()
    return home


def _pinned_here(pin: str) -> str:
    """A pin with the versions that this course itself has."""
    for name in ("ipykernel", "numpy"):
        pin = pin.replace(name.upper(), importlib.metadata.version(name))
    return pin


def version(name: str) -> str:
    """The version that is pinned of `nbgrader` or `otter`."""
    return PINS[name][0].partition("==")[2]


def run(home: Path, folder: Path, *words: str | Path, beside: Path | None = None) -> None:
    """Run a program of the environment `home` in `folder`. Raises PeerFailed.

    What the environment has not (torch) comes from the course's own; `beside` is a folder of
    modules that comes before both.
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
        said = f"{done.stdout}\n{done.stderr}".strip().splitlines()
        raise PeerFailed(f"{Path(program).name}, exit code {done.returncode}: {said[-1:]}")


def for_nbgrader(
    content: dict[str, Any], answers: Sequence[str], tests: Mapping[str, PeerTest]
) -> dict[str, Any]:
    """Our notebook with the marks of theirs: an answer is a solution, a test has the points."""
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
    """Our notebook without its self-checks: otter has the tests in files of their own."""
    for cell in content["cells"]:
        marks = cell["metadata"].get("nbgrader")
        if marks and marks["grade_id"].endswith("-check"):
            cell["source"] = "pass"
    return content


def otter_test(name: str, test: PeerTest, before: str) -> str:
    """The test file of one exercise, in otter's format for exceptions."""
    body = test.source.replace("\n", "\n    ")
    return (
        f"{before}\nfrom otter.test_files import test_case\n\n"
        f"OK_FORMAT = False\nname = '{name}'\npoints = {test.points}\n\n\n"
        f"@test_case(points={test.points})\ndef test_{name}({name}):\n    {body}\n"
    )


def otter_points(results: Path, names: Sequence[str]) -> dict[str, float]:
    """The points by exercise, as otter's results for a site that shows them have it."""
    try:
        found = json.loads(results.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    points: dict[str, float] = {}
    for test in found["tests"]:
        known = [name for name in names if test["name"].startswith(name)]
        if known and "score" in test:
            name = max(known, key=len)  # the names of some exercises begin with another's
            points[name] = points.get(name, 0) + test["score"]
    return points
