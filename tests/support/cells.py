"""Read the code of a page of the book as its reader sees it: open, folded or removed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("exercises/*/assignment.md"))
FENCE = re.compile(r"^```(?:\{code-block\} )?python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OBJECT = re.compile(r"^:pyobject: ([\w.]+)$", re.MULTILINE)

OPEN, FOLDED, REMOVED = "open", "folded", "removed"


@dataclass(frozen=True)
class Code:
    """A piece of a page's code. `figure` says whether a caption belongs to it."""

    source: str
    shown: str
    figure: bool = False
    teaches: bool = False

    @property
    def tree(self) -> ast.Module:
        return ast.parse(TransformerManager().transform_cell(self.source))


def code(text: str, folder: Path = BOOK) -> Iterator[Code]:
    """Yield all code of a page, given as MyST text; `folder` is the folder of the page."""
    for cell in jupytext.reads(text, fmt="md:myst").cells:
        if cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            shown = REMOVED if "remove-cell" in tags else FOLDED if "hide-input" in tags else OPEN
            figure = "figure" in cell.metadata.get("mystnb", {})
            yield Code(cell.source, shown, figure, "teaches" in tags)
        else:
            yield from (Code(source, OPEN) for source in FENCE.findall(cell.source))
            for name, options in INCLUDE.findall(cell.source):
                yield Code(included((folder / name).read_text(encoding="utf-8"), options), OPEN)


def included(source: str, options: str) -> str:
    """Return what a literalinclude with these options shows of a module."""
    match = OBJECT.search(options)
    if not match:
        return source
    node: ast.AST = ast.parse(source)
    for name in match[1].split("."):
        inner = (
            child for child in ast.iter_child_nodes(node) if getattr(child, "name", "") == name
        )
        node = next(inner)
    return textwrap.dedent(ast.get_source_segment(source, node, padded=True) or "")
