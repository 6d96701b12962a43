"""The course package: a Python package that declares the assignments of a course.

Its `__init__.py` contains

    COURSE = CoursePackage(__name__, assignments=("rows", "columns"), uses=("solutions",))

and the package of each assignment defines an `ASSIGNMENT`. This value, which a course directory
names, is all that the engine knows about a course.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from .model import Assignment

__all__ = ["CoursePackage", "CoursePackageError"]


class CoursePackageError(Exception):
    """Raised if a package does not declare a course; the message says why and what to do."""


@dataclass(frozen=True)
class CoursePackage(Mapping[str, Assignment]):
    """The assignments of a course by name, in the order in which they are taught.

    `name` is the name under which Python imports the package. `with_torch` lists the assignments
    that need PyTorch. `uses` lists other packages that decide verdicts: those of the references. An
    assignment is imported when it is first used. Raises CoursePackageError if there are no
    assignments, or two with the same name.
    """

    name: str
    assignments: tuple[str, ...]
    with_torch: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise CoursePackageError if the assignments are not valid."""
        if not self.assignments:
            raise CoursePackageError(f"{self.name}: the course package has no assignments.")
        _check_unique(self.assignments, f"{self.name}: the course package names an assignment")
        for name in self.with_torch:
            if name not in self.assignments:
                raise CoursePackageError(
                    f"{self.name}: {name} is in `with_torch`, but not in `assignments`."
                )

    @classmethod
    def find(cls, name: str) -> CoursePackage:
        """Return the course that the package `name` declares.

        Raises CoursePackageError if there is no such package, or if it declares no course.
        """
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise CoursePackageError(
                f"{name}: no course package of this name is installed. Install it here, or name "
                "another as `c.CoursePackage.name` in the course's nbgrader_config.py."
            ) from error
        except CoursePackageError:
            raise
        except Exception as error:
            raise CoursePackageError(
                f"{name}: the course package cannot be imported ({type(error).__name__}: {error}). "
                f"Run `python -c 'import {name}'` to see where."
            ) from error
        course = vars(module).get("COURSE")
        if not isinstance(course, cls):
            raise CoursePackageError(
                f"{name}: not a course package, because it has no COURSE. Name another as "
                "`c.CoursePackage.name` in the course's nbgrader_config.py."
            )
        return course

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the names of the Python packages that decide verdicts."""
        return (self.name, *self.uses)

    @property
    def folder(self) -> Path:
        """Return the folder of the package."""
        return Path(str(importlib.import_module(self.name).__file__)).parent

    def page(self, name: str) -> Path:
        """Return the path of the text of an assignment."""
        return self.folder / name / "assignment.md"

    def __getitem__(self, name: str) -> Assignment:
        """Import and return the assignment `name`.

        Raises KeyError if there is none, and CoursePackageError if it cannot be imported.
        """
        if name not in self.assignments:
            raise KeyError(name)
        return _import_assignment(self, name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in order."""
        return iter(self.assignments)

    def __len__(self) -> int:
        """Return the number of assignments."""
        return len(self.assignments)

    def __contains__(self, name: object) -> bool:
        """Return True if an assignment has this name, without importing it."""
        return name in self.assignments


@cache
def _import_assignment(course: CoursePackage, name: str) -> Assignment:
    where = f"{course.name}.{name}"
    try:
        assignment: Assignment = importlib.import_module(where).ASSIGNMENT
    except ModuleNotFoundError as error:
        if not f"{error.name}.".startswith(f"{course.name}."):
            raise  # the command line says how to install a missing module
        raise CoursePackageError(f"{where}: there is no such assignment ({error}).") from error
    except Exception as error:
        raise CoursePackageError(
            f"{where}: the assignment cannot be imported ({type(error).__name__}: {error})."
        ) from error
    names = [exercise.name for exercise in assignment.exercises]
    _check_unique(names, f"{where}: names an exercise")
    return replace(assignment, torch=name in course.with_torch)


def _check_unique(names: Sequence[str], subject: str) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise CoursePackageError(f"{subject} twice: {name}.")
