"""Write the page that asks the toy assignment, or a changed copy of it."""

from pathlib import Path

import toy_course
from toy import WRITTEN_TOY as ASSIGNMENT

__all__ = ["ASSIGNMENT", "PAGE", "WHY", "with_module", "write"]

(WHY,) = ASSIGNMENT.written

PAGE = toy_course.COURSE.page("toy").read_text(encoding="utf-8")


def with_module(folder: Path, text: str) -> Path:
    """Write the page with a cell that imports FACTOR from a given module with this `text`."""
    (folder / "factors.py").write_text(text, encoding="utf-8")
    cell = "```{code-cell} ipython3\n:module: factors\nfrom factors import FACTOR\n```"
    return write(folder, PAGE.replace("Now scale.", cell))


def write(folder: Path, text: str = PAGE) -> Path:
    """Write the page, or `text` instead, to a file of this folder and return its path."""
    path = folder / "toy.md"
    path.write_text(text, encoding="utf-8")
    return path
