"""The outline of an assignment: its names, points and kinds without its code, slow to import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model import Assignment, Kind

if TYPE_CHECKING:  # importing it is slow, and workers do not read notebooks
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Part:
    """An exercise, or a written question, whose kind is None."""

    name: str
    points: int
    kind: Kind | None = None


@dataclass(frozen=True)
class Outline:
    """The data about an assignment that reading and writing a submission needs.

    It is passed between processes. Exercises and written questions are in the order of the
    notebook. `dropped` are exercises of a release that the course package no longer has, and which
    therefore cannot be judged.
    """

    name: str
    exercises: tuple[Part, ...]
    written: tuple[Part, ...]
    dropped: tuple[Part, ...] = ()


def outline(assignment: Assignment) -> Outline:
    """Return the outline of `assignment`."""
    exercises = tuple(Part(each.name, each.points, each.kind) for each in assignment.exercises)
    written = tuple(Part(question.name, question.points) for question in assignment.written)
    return Outline(assignment.name, exercises, written)


def asked_by(declared: Outline, released: NotebookNode) -> Outline:
    """Return the outline of the notebook `released`, whose package now has the outline `declared`.

    A submission is judged against the release that it was made from, even if exercises or points
    of the package have changed since.
    """
    kinds = {part.name: part.kind for part in declared.exercises}
    exercises: list[Part] = []
    written: list[Part] = []
    dropped: list[Part] = []
    for cell in released.cells:
        mark = cell.metadata.get("nbgrader", {})
        if not mark.get("grade"):
            continue
        part = Part(mark["grade_id"], mark["points"], kinds.get(mark["grade_id"]))
        if cell.cell_type != "code":
            written.append(part)
        else:
            (exercises if part.name in kinds else dropped).append(part)
    return Outline(declared.name, tuple(exercises), tuple(written), tuple(dropped))


def differences(declared: Outline, release: Outline) -> Iterator[str]:
    """Yield a sentence for each exercise in which a release differs from the course package."""
    points = {part.name: part.points for part in declared.exercises}
    for part in release.exercises:
        if points[part.name] != part.points:
            yield (
                f"{release.name}: {part.name} is worth {part.points:g} points in the release and "
                f"{points[part.name]:g} in the course package. The release counts."
            )
    for name in points.keys() - {part.name for part in release.exercises}:
        yield (
            f"{release.name}: the course package has {name}, which the release does not ask. No "
            "student loses points for it."
        )
    for part in release.dropped:
        yield (
            f"{release.name}: the release asks {part.name}, which the course package no longer "
            "has. Earlier verdicts stay as they are."
        )
