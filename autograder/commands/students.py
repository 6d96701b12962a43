"""Commands for a student who leaves: `remove` and `erase`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..course.plaintext import printable
from ..terminal import clear_errors, confirmed, fail, say
from .options import CourseOption


def remove(student: str, course: CourseOption = Path()) -> None:
    """Remove a student who has left the course from every output, and archive their work."""
    with clear_errors():
        from ..course.course import Course
        from ..nbgrader.leaving import exports
        from ..nbgrader.leaving import remove as remove_student

        opened = Course.open(course)
        archive = remove_student(opened, student)
        say(f"{student}: removed. Their submissions and results are now in {archive}")
        for path in exports(opened):
            say(f"{path}: it may still name {student}. Make it again, or delete it.")


def erase(
    student: str,
    course: CourseOption = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
) -> None:
    """Permanently delete everything that the course holds about a student."""
    with clear_errors():
        from ..course.course import Course
        from ..nbgrader.leaving import erase as erase_student
        from ..nbgrader.leaving import exports, require_student

        opened = Course.open(course)
        require_student(opened, student)
        question = f"Permanently delete all data about {printable(student)} in {opened.root}?"
        if not (yes or confirmed(question)):
            fail(f"nothing was erased for {student}. To erase without being asked, add --yes.")
        for line in erase_student(opened, student):
            say(f"erased: {line}")
        for path in exports(opened):
            say(f"{path}: it may still name {student}. Make it again, or delete it.")
        say(
            "Copies elsewhere are not erased: backups, exported tables, feedback already sent, and "
            "data on the learning platform."
        )
