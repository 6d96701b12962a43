"""The marks of a released notebook's cells, which identify them again in a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # its import is slow, and only the type is needed here
    import nbformat


def mark_of(cell: nbformat.NotebookNode) -> str:
    """Return the mark of a released cell; every released cell has one."""
    return str(cell.metadata.nbgrader.grade_id)


def self_check_id(exercise: str) -> str:
    """Return the mark of an exercise's self-check cell, which is not part of a program."""
    return exercise + _SELF_CHECK


def is_self_check(name: str) -> bool:
    """Return True for the mark of a self-check cell."""
    return name.endswith(_SELF_CHECK)


_SELF_CHECK = "-check"
