"""The marks of a released notebook's cells, by which they are known again when it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # its import takes long, and nothing here needs it to run
    import nbformat


def mark_of(cell: nbformat.NotebookNode) -> str:
    """The mark of a released cell; the release gives one to every cell."""
    return str(cell.metadata.nbgrader.grade_id)


def self_check_id(exercise: str) -> str:
    """The mark of the self-check cell of an exercise; such cells are not part of a program."""
    return exercise + _SELF_CHECK


def is_self_check(name: str) -> bool:
    """True for the mark of a self-check cell."""
    return name.endswith(_SELF_CHECK)


_SELF_CHECK = "-check"
