"""Lines of tables without frames, which look the same in a log and on any terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from .plaintext import printable


@dataclass(frozen=True)
class Line:
    """A name and its cells; a name too long for its column gets a separate line."""

    name: str
    column: int
    cells: str
    indent: str = ""
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, at the width of the console."""
        name = printable(self.name)
        room = options.max_width - len(self.indent) - len(self.cells)
        if room < 0:  # the console is narrower than the numbers
            yield Paragraph(self.indent, " ".join((name, *self.cells.split())), self.style)
            return
        column = min(self.column, room)
        if cell_len(name) > column:
            yield Paragraph(self.indent, name)
            name = ""
        line = f"{self.indent}{set_cell_size(name, column)}{self.cells}"
        yield Text(line.rstrip(), self.style)


@dataclass(frozen=True)
class Paragraph:
    """A label and a text; further lines of the text are indented a little more."""

    label: str
    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, at the width of the console."""
        indent = len(self.label) + 2 * bool(self.label)
        text = Text(printable(self.text), self.style)
        width = max(options.max_width - indent, 2)  # enough for a double-width character
        for number, line in enumerate(text.wrap(console, width, overflow="fold")):
            line.rstrip()
            yield Text.assemble(" " * indent if number else self.label, line)
