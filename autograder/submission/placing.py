"""Match each cell of a submitted notebook to the released cell that it is or that it follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .marks import mark_of
from .reading import Cell

if TYPE_CHECKING:  # its import is slow, and only the type is needed here
    import nbformat


@dataclass(frozen=True)
class Placed:
    """A student's cell. `name` is its released cell, `after` the released cell that it follows."""

    cell: Cell
    name: str | None
    after: str | None

    @property
    def code(self) -> str | None:
        """The source if this is a code cell, else None."""
        return self.cell.source if self.cell.kind == "code" else None

    @property
    def text(self) -> str:
        """The source of a cell of any type; empty if it has only whitespace."""
        source = self.cell.source or ""
        return source if source.strip() else ""


def place(cells: Iterable[Cell], released: nbformat.NotebookNode) -> Iterator[Placed]:
    """Recognise released cells by their mark or, if a tool dropped it, by their id or text.

    Of several released cells with the same text, such as two written answers, take the next one.
    """
    order = [mark_of(cell) for cell in released.cells]
    ids = {cell.get("id"): mark_of(cell) for cell in released.cells}
    texts: dict[tuple[str, str | None], list[str]] = {}
    for released_cell in released.cells:
        text = (released_cell.cell_type, released_cell.source)
        texts.setdefault(text, []).append(mark_of(released_cell))
    after = None
    for cell in cells:
        name = cell.grade_id
        if name not in order:
            alike = texts.get((cell.kind, cell.source), [None])
            position = order.index(after) if after else -1
            later = (mark for mark in alike if mark and order.index(mark) > position)
            name = ids.get(cell.id) or next(later, alike[0])
        after = name or after
        yield Placed(cell, name, after)


def same_text(text: str, other: str) -> bool:
    """Return True if two cells differ at most in empty lines and trailing blanks."""
    lines, other_lines = (
        [line.rstrip() for line in source.splitlines() if line.strip()] for source in (text, other)
    )
    return lines == other_lines
