"""Drawings in the language of Mermaid, which GitHub draws by itself: the site shows a picture.

A picture is drawn once, ahead, by `python -m tests.support.mermaid_drawings`, and is named after
the drawing's title (`accTitle: ...`). It holds a digest of what it was drawn from, so one that has
fallen behind is a warning. The site does without Mermaid, which weighs more than a chapter.
"""

import hashlib
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PICTURES = Path(__file__).parents[1] / "_web" / "pictures"
DRAW = "python -m tests.support.mermaid_drawings"
TITLE = re.compile(r"^\s*accTitle: *(.+?) *$", re.MULTILINE)


def picture_of(source: str) -> Path:
    """Return where the picture of a drawing is kept. ValueError: the drawing has no title."""
    title = TITLE.search(source)
    if not title:
        raise ValueError("a drawing needs a line `accTitle: ...`, which also names its picture.")
    return PICTURES / f"{re.sub(r'[^a-z0-9]+', '-', title[1].lower()).strip('-')}.svg"


def digest(source: str) -> str:
    """Return what a picture says of the source that it was drawn from."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def drawn(source: str) -> str:
    """Return the picture of a drawing, as SVG. ValueError: there is none, or it is another's."""
    picture = picture_of(source)
    svg = picture.read_text(encoding="utf-8") if picture.is_file() else ""
    if f'data-source="{digest(source)}"' not in svg:
        state = "was drawn from another text" if svg else "is missing"
        raise ValueError(f"the picture {picture.name} of this drawing {state}. Type: {DRAW}")
    return svg


class Mermaid(SphinxDirective):
    """The picture of a drawing, in its place."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            svg = drawn("\n".join(self.content))
        except ValueError as fault:
            raise self.error(str(fault)) from fault
        figure = f'<div class="drawing figure-scroll">{svg}</div>'
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
