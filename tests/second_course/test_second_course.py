"""Another course, on another subject, from `init` to feedback: ours is not even importable."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OURS_IS_GONE = """
import sys
from importlib.abc import MetaPathFinder

class Gone(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("exercises", "solutions"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Gone())
"""
RIGHT = {
    "tomorrow": "def tomorrow(today, chances):\n    return np.dot(today, chances)",
    "in_the_long_run": (
        "def in_the_long_run(chances):\n"
        "    if abs(chances.sum(axis=1) - 1).max() > 1e-6:\n"
        "        raise ValueError('no chances')\n"
        "    return np.linalg.matrix_power(chances, 500)[0]"
    ),
}
WRONG = {
    **RIGHT,
    "tomorrow": "def tomorrow(today, chances):\n    return chances @ today",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python on these arguments in a folder, where our own course is nowhere."""
    blocked = tmp_path_factory.mktemp("blocked")
    (blocked / "sitecustomize.py").write_text(OURS_IS_GONE)
    path = os.pathsep.join(map(str, (blocked, HERE, ROOT)))

    def ran(*arguments, cwd=blocked):
        command = [sys.executable, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ran


@pytest.fixture(scope="module")
def course(run, tmp_path_factory):
    """The course, released."""
    root = tmp_path_factory.mktemp("class") / "course"
    run("-m", "autograder", "init", "--course-package", "weather", root)
    released = run("-m", "autograder", "release", "--course", root)
    assert "Warning" not in released
    return root


def hand_in(course, student, answers):
    notebook = nbformat.read(course / "release" / "chains" / "chains.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
    path = course / "submitted" / student / "chains" / "chains.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return notebook


def test_ours_is_not_importable(run):
    for name in ("exercises", "solutions"):
        code = f"try: import {name}\nexcept ImportError: print('gone')"
        assert run("-c", code).strip() == "gone"


def test_its_exercises_are_proved(run):
    printed = run("-m", "autograder", "prove", "--course-package", "weather")
    assert "chains.tomorrow: proved with 3 right answers and 4 wrong ones" in printed


def test_its_students_check_their_answers(run, course):
    folder = course / "release" / "chains"
    code = "\n".join(
        [
            "from autograder import check",
            WRONG["tomorrow"],
            "print(check(tomorrow))",
        ]
    )
    assert "What does a row hold?" in run("-c", code, cwd=folder)
    notebook = folder / "chains.ipynb"
    said = run("-m", "autograder", "check", "--course-package", "weather", notebook)
    assert said.startswith("tomorrow: not yet (MISSING)")


def test_its_class_is_graded_and_gets_feedback(run, course):
    hand_in(course, "ann", RIGHT)
    hand_in(course, "bob", WRONG)
    assert "2 judged" in run("-m", "autograder", "grade", "--course", course)
    rows = {
        (row["student"], row["exercise"]): row
        for row in json.loads((course / "grades.json").read_text())
    }
    assert {name: row["points"] for name, row in rows.items()} == {
        ("ann", "tomorrow"): 2,
        ("ann", "in_the_long_run"): 3,
        ("bob", "tomorrow"): 0,
        ("bob", "in_the_long_run"): 3,
    }
    assert rows["bob", "tomorrow"]["misconception"] == "columns for rows"
    run("-m", "autograder", "feedback", "--course", course)
    page = course / "feedback" / "bob" / "chains" / "chains.html"
    assert "columns for rows" in page.read_text()
    run("-m", "autograder", "export", "--course", course)
    table = list(csv.DictReader((course / "grades.csv").open()))
    assert {row["student"]: float(row["score"]) for row in table} == {
        "ann": 5,
        "bob": 3,
    }
