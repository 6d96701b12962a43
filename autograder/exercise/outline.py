"""The names, points and kinds of an assignment, without its code, which may take long to import."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Assignment, Kind


@dataclass(frozen=True)
class Part:
    """An exercise, or a written question, which has no kind."""

    name: str
    points: int
    kind: Kind | None = None


@dataclass(frozen=True)
class Outline:
    """What reading and writing a submission needs of its assignment; it travels between processes.

    Exercises and written questions stand in the order in which the notebook asks them.
    """

    name: str
    exercises: tuple[Part, ...]
    written: tuple[Part, ...]


def outline(assignment: Assignment) -> Outline:
    """The outline of `assignment`."""
    exercises = tuple(Part(one.name, one.points, one.kind) for one in assignment.exercises)
    written = tuple(Part(one.name, one.points) for one in assignment.written)
    return Outline(assignment.name, exercises, written)
