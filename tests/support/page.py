"""Write the page that asks the toy assignment, or a changed copy of it."""

from pathlib import Path

import toy_course
from toy import WRITTEN_TOY as ASSIGNMENT

__all__ = ["ASSIGNMENT", "PAGE", "WHY", "write"]

(WHY,) = ASSIGNMENT.written

PAGE = toy_course.COURSE.page("toy").read_text(encoding="utf-8")


def write(folder: Path, text: str = PAGE) -> Path:
    """Write the page, or `text` instead, to a file of this folder and return its path."""
    path = folder / "toy.md"
    path.write_text(text, encoding="utf-8")
    return path
