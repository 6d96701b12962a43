"""What is taught: the assignments of a course, as a Python package that declares them.

    COURSE = CoursePackage(__name__, assignments=("rows", "columns"), uses=("solutions",))

stands in the `__init__.py` of the package, and in each assignment's package an `ASSIGNMENT`. The
engine knows no more of a course than this value, which a course directory names.
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
    """What should declare a course does not; the message says what, where and what to do."""


@dataclass(frozen=True)
class CoursePackage(Mapping[str, Assignment]):
    """The assignments of a course by name, in the order in which they are taught.

    `name` is that of the package as Python imports it. In `with_torch` stand those assignments that
    need PyTorch. `uses` are other packages that decide verdicts: those of the references. An
    assignment is imported when it is asked for. Raises CoursePackageError if there are no
    assignments, or two of one name.
    """

    name: str
    assignments: tuple[str, ...]
    with_torch: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no course."""
        if not self.assignments:
            raise CoursePackageError(f"{self.name}: the course package has no assignments.")
        _all_different(self.assignments, f"{self.name}: the course package names an assignment")
        for name in self.with_torch:
            if name not in self.assignments:
                raise CoursePackageError(f"{self.name}: {name}, which needs torch, is not in it.")

    @classmethod
    def find(cls, name: str) -> CoursePackage:
        """The course that the package `name` declares; CoursePackageError if it does not."""
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
                f"{name}: the course package cannot be imported ({type(error).__name__}: {error})."
            ) from error
        found = vars(module).get("COURSE")
        if not isinstance(found, cls):
            raise CoursePackageError(
                f"{name}: no course package, since it has no COURSE. Name another as "
                "`c.CoursePackage.name` in the course's nbgrader_config.py."
            )
        return found

    @property
    def packages(self) -> tuple[str, ...]:
        """The Python packages that decide verdicts, by their names."""
        return (self.name, *self.uses)

    @property
    def folder(self) -> Path:
        """Where the package lies."""
        return Path(str(importlib.import_module(self.name).__file__)).parent

    def page(self, name: str) -> Path:
        """The text that asks the exercises of an assignment."""
        return self.folder / name / "assignment.md"

    def __getitem__(self, name: str) -> Assignment:
        """The assignment `name`; KeyError if there is none. Raises CoursePackageError."""
        if name not in self.assignments:
            raise KeyError(name)
        return _imported(self, name)

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self.assignments)

    def __len__(self) -> int:
        """How many assignments there are."""
        return len(self.assignments)

    def __contains__(self, name: object) -> bool:
        """Whether an assignment has this name; none is imported."""
        return name in self.assignments


@cache
def _imported(course: CoursePackage, name: str) -> Assignment:
    where = f"{course.name}.{name}"
    try:
        assignment: Assignment = importlib.import_module(where).ASSIGNMENT
    except ModuleNotFoundError as error:
        if not f"{error.name}.".startswith(f"{course.name}."):
            raise  # the command says how to install it
        raise CoursePackageError(f"{where}: there is no such assignment ({error}).") from error
    except Exception as error:
        raise CoursePackageError(
            f"{where}: the assignment cannot be imported ({type(error).__name__}: {error})."
        ) from error
    _all_different([one.name for one in assignment.exercises], f"{where}: names an exercise")
    return replace(assignment, torch=name in course.with_torch)


def _all_different(names: Sequence[str], what: str) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise CoursePackageError(f"{what} twice: {name}.")
