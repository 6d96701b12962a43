"""The directive `mermaid`: diagrams written in Mermaid, which the site shows as pictures.

GitHub renders Mermaid itself. For the site, `python -m tests.support.mermaid_drawings` draws each
picture once, ahead of the build, and names it after the diagram's title (`accTitle: ...`). The
picture holds a digest of its source, so the build can warn about an outdated one. This way the site
need not load Mermaid, which is larger than a chapter.
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
    """Return the path of a diagram's picture. Raises ValueError if the diagram has no title."""
    title = TITLE.search(source)
    if not title:
        raise ValueError("a drawing needs a line `accTitle: ...`, which also names its picture.")
    return PICTURES / f"{re.sub(r'[^a-z0-9]+', '-', title[1].lower()).strip('-')}.svg"


def digest(source: str) -> str:
    """Return the digest of a diagram's source, which its picture carries."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def drawn(source: str) -> str:
    """Return the picture of a diagram as SVG.

    Raises ValueError if the picture is missing or was drawn from a different source.
    """
    picture = picture_of(source)
    svg = picture.read_text(encoding="utf-8") if picture.is_file() else ""
    if f'data-source="{digest(source)}"' not in svg:
        state = "was drawn from a different source" if svg else "is missing"
        raise ValueError(f"the picture {picture.name} of this drawing {state}. Type: {DRAW}")
    return svg


class Mermaid(SphinxDirective):
    """A diagram, shown as its picture."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            svg = drawn("\n".join(self.content))
        except ValueError as error:
            raise self.error(str(error)) from error
        figure = f'<div class="drawing figure-scroll">{svg}</div>'
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
