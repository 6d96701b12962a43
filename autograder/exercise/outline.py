"""The names, points and kinds of an assignment, without its code, which may take long to import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model import Assignment, Kind

if TYPE_CHECKING:  # its import takes long, and no worker reads a notebook
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Part:
    """An exercise, or a written question, which has no kind."""

    name: str
    points: int
    kind: Kind | None = None


@dataclass(frozen=True)
class Outline:
    """What reading and writing a submission needs of its assignment; it travels between processes.

    Exercises and written questions stand in the order in which the notebook asks them. `dropped`
    are the exercises of a release that the course package no longer has: nobody can judge them.
    """

    name: str
    exercises: tuple[Part, ...]
    written: tuple[Part, ...]
    dropped: tuple[Part, ...] = ()


def outline(assignment: Assignment) -> Outline:
    """The outline of `assignment`."""
    exercises = tuple(Part(one.name, one.points, one.kind) for one in assignment.exercises)
    written = tuple(Part(one.name, one.points) for one in assignment.written)
    return Outline(assignment.name, exercises, written)


def asked_by(declared: Outline, released: NotebookNode) -> Outline:
    """Return what the notebook `released` asks, with its points, of what the package `declared`.

    A submission is judged against the release that it was made from, whatever the package has
    gained, lost or given other points since.
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


def differences(declared: Outline, asked: Outline) -> Iterator[str]:
    """Say in which exercises a release differs from the course package, a sentence each."""
    points = {part.name: part.points for part in declared.exercises}
    for part in asked.exercises:
        if points[part.name] != part.points:
            yield (
                f"{asked.name}: {part.name} is worth {part.points:g} points in the release and "
                f"{points[part.name]:g} in the course package. The release counts."
            )
    for name in points.keys() - {part.name for part in asked.exercises}:
        yield (
            f"{asked.name}: the course package has {name}, which the release does not ask. It "
            "costs nobody points."
        )
    for part in asked.dropped:
        yield (
            f"{asked.name}: the release asks {part.name}, which the course package no longer has. "
            "Earlier verdicts stay as they are."
        )
