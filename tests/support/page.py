"""The page that asks the toy assignment, and copies of it that are changed."""

from pathlib import Path

import toy_course
from toy import WRITTEN_TOY as ASSIGNMENT

__all__ = ["ASSIGNMENT", "PAGE", "WHY", "write"]

(WHY,) = ASSIGNMENT.written

PAGE = toy_course.COURSE.page("toy").read_text(encoding="utf-8")


def write(folder: Path, text: str = PAGE) -> Path:
    """The page, or `text` in its place, in a file of this folder."""
    path = folder / "toy.md"
    path.write_text(text, encoding="utf-8")
    return path
