"""Run the notebook of a practise page outside a browser: in Pyodide, or in the tests' Python.

Steps of a notebook are `{"run": source, "cell": name}` and `{"check": exercise}`. A result is what
`book/_web/practise/notebook.py` returned for the step, with everything that was shown, and the
seconds that it took. Each session of steps runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.nbgrader.release import assignment_zip, release
from book._ext import browser_python

ROOT = Path(__file__).parents[2]
PYODIDE = browser_python.CORE
NUMPY = browser_python.wheel()
NOTEBOOK = ROOT / "book" / "_web" / "practise" / "notebook.py"
IN_NODE = ROOT / "tests" / "web" / "practise" / "headless.mjs"
IN_PYTHON = ROOT / "tests" / "support" / "headless_notebook.py"

Step = dict[str, str]
Session = dict[str, Any]
"""The output of both programs: the seconds until the notebook is `ready`, then the results."""

needs_pyodide = pytest.mark.skipif(
    not (PYODIDE / "pyodide.mjs").is_file() or not NUMPY.is_file(),
    reason=f"needs Pyodide in {PYODIDE} and {NUMPY}: `make site` fetches both",
)


def archive(assignment: str, folder: Path) -> Path:
    """Release an assignment as `make releases` does; return the path of its archive."""
    course = Course.create(folder / "course")
    release(course, [assignment])
    path = folder / f"{assignment}.zip"
    assignment_zip(course, assignment, path)
    return path


def in_node(packed: Path, steps: Sequence[Step]) -> Session:
    """Run the steps in Pyodide, in Node, on the assignment that is `packed`."""
    return _run(["node", str(IN_NODE)], packed, steps)


def in_python(packed: Path, steps: Sequence[Step]) -> Session:
    """Run the steps in the Python that runs the tests."""
    return _run([sys.executable, str(IN_PYTHON)], packed, steps)


def _run(program: list[str], packed: Path, steps: Sequence[Step]) -> Session:
    request = packed.with_suffix(".json")
    order = {
        "pyodide": str(PYODIDE),
        "numpy": str(NUMPY),
        "notebook": str(NOTEBOOK),
        "archive": str(packed),
        "assignment": packed.stem,
        "steps": steps,
    }
    request.write_text(json.dumps(order), encoding="utf-8")
    done = subprocess.run([*program, str(request)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]  # Node prints its whole script first
    session: Session = json.loads(done.stdout)
    return session
