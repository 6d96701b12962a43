"""Which released cell each cell of a submitted notebook is, or stands behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .marks import mark_of
from .reading import Cell

if TYPE_CHECKING:  # its import takes long, and nothing here needs it to run
    import nbformat


@dataclass(frozen=True)
class Placed:
    """A student's cell, the released cell that it is, and the released cell it stands after."""

    cell: Cell
    name: str | None
    after: str | None

    @property
    def code(self) -> str | None:
        """The source, if this is a code cell."""
        return self.cell.source if self.cell.kind == "code" else None

    @property
    def text(self) -> str:
        """What is written in it, of whatever kind it is; empty where there is nothing."""
        source = self.cell.source or ""
        return source if source.strip() else ""


def place(cells: Iterable[Cell], released: nbformat.NotebookNode) -> Iterator[Placed]:
    """Recognise released cells by their mark; where a tool dropped it, by id or text.

    Of several with the same text, such as the places of two written answers, it is the next one.
    """
    order = [mark_of(cell) for cell in released.cells]
    ids = {cell.get("id"): mark_of(cell) for cell in released.cells}
    texts: dict[tuple[str, str | None], list[str]] = {}
    for one in released.cells:
        texts.setdefault((one.cell_type, one.source), []).append(mark_of(one))
    after = None
    for cell in cells:
        name = cell.grade_id
        if name not in order:
            alike = texts.get((cell.kind, cell.source), [None])
            place = order.index(after) if after else -1
            behind = (one for one in alike if one and order.index(one) > place)
            name = ids.get(cell.id) or next(behind, alike[0])
        after = name or after
        yield Placed(cell, name, after)


def same_text(one: str, other: str) -> bool:
    """True if two cells differ in empty lines and in the blanks at the ends of lines at most."""
    first, second = (
        [line.rstrip() for line in text.splitlines() if line.strip()] for text in (one, other)
    )
    return first == second
