"""Commands for assignments and their exercises: `release`, `prove` and `check`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..exercise import PACKAGE
from ..terminal import clear_errors, fail, progress, say
from .options import Assignments, CourseOption, Package

if TYPE_CHECKING:
    from ..exercise.course_package import CoursePackage
    from ..exercise.model import Assignment, Exercise

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]")]


def release(assignments: Assignments = None, course: CourseOption = Path()) -> None:
    """Make the students' versions of the assignments, of all assignments by default."""
    use_one_thread()
    with clear_errors():
        from ..course.course import Course
        from ..nbgrader.release import release as make_release

        opened = Course.open(course)
        for path in make_release(opened, assignments or None):
            say(f"{path}: released.")
            warn_of_unproved(opened.package[path.stem], opened.package)


def check(notebook: Path, course_package: Package = PACKAGE) -> None:
    """Check a notebook against the public cases, as `check` does in the notebook."""
    with clear_errors():
        from ..exercise.course_package import CoursePackage
        from ..grading.checker import check_notebook

        for line in check_notebook(notebook, CoursePackage.find(course_package)):
            say(line)


def prove(names: Names = None, course_package: Package = PACKAGE) -> None:
    """Prove exercises, all by default: right answers pass, wrong ones are rejected and named.

    NAME is an assignment, an exercise, or both as assignment.exercise. What is missing is printed,
    and the exit code is then 1. Small changes of the reference that pass are listed, too: add a
    case that rejects them, unless they change no result.
    """
    use_one_thread()
    with clear_errors():
        from ..exercise.course_package import CoursePackage
        from ..proving.prove import problems, try_changes

        package = CoursePackage.find(course_package)
        wanted = list(_wanted(package, names))
        unproved = 0
        with progress("proving") as advance:
            for done, (assignment, exercise) in enumerate(wanted):
                name = f"{assignment.name}.{exercise.name}"
                advance(done, len(wanted), name)
                missing = problems(exercise)
                unproved += bool(missing)
                for problem in missing:
                    say(f"{name}: {problem}")
                if missing:
                    continue
                changes = try_changes(exercise)
                caught = changes.tried - len(changes.passed)
                tried = f"; {caught} of {changes.tried} changes rejected" if changes.tried else ""
                say(
                    f"{name}: proved with {len(exercise.alternatives)} right answers and "
                    f"{len(exercise.misconceptions)} wrong ones{tried}."
                )
                for change in changes.passed:
                    say(f"    This change passes: {change}")
            advance(len(wanted), len(wanted), "done")
    if unproved:
        fail(f"{unproved} of {len(wanted)} exercises are not proved; see above.")


def use_one_thread() -> None:
    """Have torch compute on one thread; call this before it is imported.

    The tensors of a case are small, and on a busy machine threads mostly wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def warn_of_unproved(assignment: Assignment, package: CoursePackage) -> None:
    """Print a warning for each exercise of which the public cases already show that it is wrong."""
    from ..proving.prove import obvious_problems

    for exercise in assignment.exercises:
        missing = obvious_problems(exercise)
        if missing:
            more = f" ({len(missing) - 1} more)" if len(missing) > 1 else ""
            option = "" if package.name == PACKAGE else f" --course-package {package.name}"
            say(
                f"Warning: {assignment.name}.{exercise.name} is not proved: {missing[0]}{more} "
                f"Type: autograder prove {assignment.name}.{exercise.name}{option}"
            )


def _wanted(
    package: CoursePackage, names: Sequence[str] | None
) -> Iterator[tuple[Assignment, Exercise]]:
    """Yield the exercises of these names, in the order of the course; fail for an unknown name."""
    exercises = [
        (assignment, exercise)
        for assignment in package.values()
        for exercise in assignment.exercises
    ]
    known = [
        {assignment.name, exercise.name, f"{assignment.name}.{exercise.name}"}
        for assignment, exercise in exercises
    ]
    for name in names or ():
        if not any(name in aliases for aliases in known):
            fail(
                f"{name}: no assignment and no exercise of {package.name} has this name. The "
                f"assignments are: {', '.join(package)}."
            )
    for pair, aliases in zip(exercises, known, strict=True):
        if not names or aliases & set(names):
            yield pair
