"""`make bench`: grading with this package beside stock nbgrader, on the same right answers.

Both grade the same class of copies of one right notebook, one after another, each in a course of
its own; the ratio is of seconds a submission, without each program's own start.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder import checks
from autograder.classroom.course import Course
from autograder.classroom.files import replace_text
from autograder.grading.grade import read_released
from autograder.grading.sample import notebook_text, sample_class

STOCK_CONFIG = """\
from pathlib import Path

c = get_config()
c.CourseDirectory.root = str(Path(__file__).absolute().parent)
c.ClearSolutions.enforce_metadata = False
"""


def main() -> None:
    """Measure, and print a table with versions, machine and date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--class-size", type=int, default=8, help="submissions besides the first")
    size = parser.parse_args().class_size
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("nbgrader", "numpy")]
    print(f"{datetime.date.today()}, {platform.platform()}, {os.cpu_count()} cores, ", end="")
    print(f"Python {platform.python_version()}, {', '.join(versions)}")
    for assignment in checks.assignments().values():
        with tempfile.TemporaryDirectory() as folder:
            ours = _course(Path(folder) / "ours", assignment.name, size)
            stock = _stock_copy(ours, Path(folder) / "stock", assignment.name)
            grade = ["autograder", "grade", assignment.name, "--jobs", "1"]
            mine = _seconds_each(grade, ours, size)
            theirs = _seconds_each(["nbgrader", "autograde", assignment.name], stock, size)
        print(f"{assignment.name}: {mine:.2f} s a submission here, ", end="")
        print(f"{theirs:.2f} s with stock nbgrader, {theirs / mine:.1f} times as long")


def _course(root: Path, name: str, size: int) -> Course:
    """A course with `size` + 1 copies of one right notebook."""
    course = Course.create(root)
    _run(["autograder", "release", name, "--course", str(root)], root)
    assignment = checks.assignments()[name]
    sample = sample_class([assignment])[0]
    text = notebook_text(sample, read_released(course, name))
    for number in range(size + 1):
        # A comment each, so that no two submissions are the same bytes and the journal knows none.
        mine = text.replace('"nbformat": 4', f'"nbformat": 4, "copy": {number}', 1)
        replace_text(course.submitted / f"s{number}" / name / f"{name}.ipynb", mine)
    return course


def _stock_copy(ours: Course, root: Path, name: str) -> Path:
    """The same course as stock nbgrader has it, with the assignment in its gradebook."""
    shutil.copytree(ours.root, root, ignore=shutil.ignore_patterns("*.db", "release"))
    (root / "nbgrader_config.py").write_text(STOCK_CONFIG, encoding="utf-8")
    _run(["nbgrader", "generate_assignment", name], root)
    return root


def _seconds_each(command: list[str], course: Course | Path, size: int) -> float:
    """Seconds a submission: the whole class after the first, less the time for one more start."""
    root = course.root if isinstance(course, Course) else course
    one = ["--student", "s0"]
    _run([*command, *one], root)
    start = time.perf_counter()
    _run([*command, *one], root)  # known already: what is left is the program's own start
    idle = time.perf_counter() - start
    start = time.perf_counter()
    _run(command, root)
    return (time.perf_counter() - start - idle) / size


def _run(command: list[str], root: Path) -> None:
    folder = Path(sys.executable).parent
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic by its name
    done = subprocess.run(
        [folder / command[0], *command[1:]],
        cwd=root,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")


if __name__ == "__main__":
    main()
