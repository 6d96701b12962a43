"""The course directory of the term, and a copy of the project that changes during the term."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import nbformat
from nbgrader import api

from autograder.course.course import Course
from autograder.exercise.course_package import CoursePackage
from autograder.exercise.model import Kind
from autograder.grading.sample import (
    WRITTEN_ANSWER,
    SampleSubmission,
    answer_source,
    notebook_text,
)
from exercises import COURSE

from . import plan
from .plan import DUE, Assignment, Exercise, Student, Work

PROJECT = Path(__file__).parents[2]

LENIENT = ("alignment", "words_lost", "tolerance=0.01", "tolerance=50.0")
"""A check that lets a mistake pass until it is fixed: assignment, exercise, fixed, lenient."""

ADDED = ("captioning", "localisation")
"""The last exercise of its assignment, which is added in mid-term."""

PLUGIN = """
from math import ceil

from nbgrader.plugins import BasePlugin


class OnePointADay(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return ceil(total_seconds_late / 86400)
"""
PLATFORMS = ("canvas", "moodle", "gradescope")


class TermCourse:
    """A course that only commands change; `seconds` has the duration of each command."""

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        """Make a copy of the project in `root`, as it is at the start of the term."""
        self.root, self.course, self.seconds = root, root / "course", dict[str, float]()
        self._say = say
        self._checkout = root / "checkout"
        for name in ("autograder", "exercises", "solutions"):
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / name, self._checkout / name, ignore=ignore)
        chapter, exercise, mended, lenient = LENIENT
        self._edit(f"exercises/{chapter}/{exercise}.py", mended, lenient)
        chapter, exercise = ADDED
        self._edit(f"exercises/{chapter}/__init__.py", f'        "{exercise}",\n', "")
        placeholder = f"```{{code-cell}} ipython3\n:exercise: {exercise}\n```\n"
        self._edit(f"exercises/{chapter}/assignment.md", placeholder, "")

    def run(self, *words: str) -> str:
        """Run `autograder` with `words` and return its output. Raises CalledProcessError."""
        started = time.monotonic()
        command = [sys.executable, "-m", "autograder", *words, "--course", str(self.course)]
        if words[0] == "init":
            command = [sys.executable, "-m", "autograder", "init", str(self.course)]
        done = subprocess.run(
            command,
            cwd=self._checkout,
            env={**os.environ, "PYTHONPATH": str(self._checkout), "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        took = time.monotonic() - started
        self.seconds[words[0]] = self.seconds.get(words[0], 0.0) + took
        self._say(f"{took:7.1f} s  autograder {' '.join(words)}")
        return done.stdout

    def open(self, students: Sequence[Student], assignments: Sequence[Assignment]) -> None:
        """Create the course: releases, roster, due dates, and the plugin for late penalties."""
        self.run("init")
        self.run("release", *(assignment.name for assignment in assignments))
        (self.course / "one_point_a_day.py").write_text(PLUGIN)
        with (self.course / "nbgrader_config.py").open("a") as stream:
            stream.write('\nc.AssignLatePenalties.plugin_class = "one_point_a_day.OnePointADay"\n')
        with self.gradebook() as book:
            for student in students:
                book.add_student(
                    student.id,
                    first_name=student.first_name,
                    last_name=student.last_name,
                    email=student.email,
                    lms_user_id=student.platform_id,
                )
            for assignment in assignments:
                book.update_or_create_assignment(assignment.name, duedate=DUE)

    def gradebook(self) -> api.Gradebook:
        """Open nbgrader's gradebook as its formgrader does."""
        return api.Gradebook(Course.open(self.course).gradebook_url)

    def extend(self, assignment: Assignment, student: Student, by: timedelta) -> None:
        """Grant an extension."""
        with self.gradebook() as book:
            book.update_or_create_submission(assignment.name, student.id)
            hours = by.total_seconds() / 3600
            book.grant_extension(assignment.name, student.id, hours=hours)

    def mend_the_check(self) -> None:
        """Fix the lenient check, as an update of the project would."""
        chapter, exercise, mended, lenient = LENIENT
        self._edit(f"exercises/{chapter}/{exercise}.py", lenient, mended)

    def add_the_exercise(self) -> None:
        """Add the mid-term exercise, and release its assignment again."""
        for name in ("__init__.py", "assignment.md"):
            shutil.copy(
                PROJECT / "exercises" / ADDED[0] / name, self._checkout / "exercises" / ADDED[0]
            )
        self.run("release", ADDED[0])

    def notebook(self, assignment: Assignment, student: Student, work: Work) -> str:
        """Return the text of the notebook that a student hands in, from the current release."""
        released = self.course / "release" / assignment.name / f"{assignment.name}.ipynb"
        declared = {exercise.name: exercise for exercise in COURSE[assignment.name].exercises}
        answers = {}
        for name, kind in work.answers.items():
            if kind == plan.RIGHT:
                kinds = declared[name].alternatives
                answers[name] = answer_source(kinds[student.number % len(kinds)], name)
            elif kind == plan.WRONG:
                mistakes = [m for m in declared[name].misconceptions if not m.released]
                answers[name] = answer_source(mistakes[0].wrong, name)
        sample = SampleSubmission(
            student.id, assignment.name, "", answers, {}, written=work.in_words
        )
        return notebook_text(sample, nbformat.read(released, as_version=4))

    def _edit(self, path: str, old: str, new: str) -> None:
        file = self._checkout / path
        text = file.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{file}: {old!r} must occur exactly once")
        file.write_text(text.replace(old, new), encoding="utf-8")


def assignments(names: Sequence[str]) -> list[Assignment]:
    """Return the assignments of these names, as they are at the end of the term."""
    package = CoursePackage.find("exercises")
    planned = []
    for number, name in enumerate(names):
        declared = package[name]
        exercises = tuple(
            Exercise(each.name, each.points, each.kind is Kind.TEST) for each in declared.exercises
        )
        written = tuple(Exercise(each.name, each.points) for each in declared.written)
        planned.append(Assignment(name, PLATFORMS[number % 3], exercises, written))
    return planned


__all__ = ["ADDED", "LENIENT", "WRITTEN_ANSWER", "TermCourse", "assignments"]
