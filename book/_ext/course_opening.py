"""The top of a chapter: `opening` shows the figure that readers should remember the chapter by.

    ```{opening} fig-one-step
    The caption.
    ```

The figure itself comes further down, where it is explained. The opening repeats its drawing with an
SVG `use` element, which adds hardly any bytes to the page. If every figure of a page would give a
prediction away, a separate drawing opens the page: `name.svg` in `book/_web/pictures`, with the
option `alt`.

    ```{takes}
    About {minutes}`to read`.

    You need ...
    ```

The first paragraph becomes a quiet line; the rest is in a fold.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar
from xml.sax.saxutils import quoteattr

from course_folds import Fold
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

PICTURES = Path(__file__).parents[1] / "_web" / "pictures"
TAKES = "What you need, and what you will be able to do"

logger = logging.getLogger(__name__)

DRAWING = re.compile(
    r'<svg [^>]*?(?P<size>width="[^"]+" height="[^"]+" viewBox="[^"]+")[^>]*?'
    r'(?P<label>aria-label="[^"]*") (?P<style>style="[^"]*")[^>]*>.*?'
    r'<g id="(?P<identity>[^"]*figure_1)"',
    re.DOTALL,
)


class opening(nodes.General, nodes.Element):
    """A placeholder for the figure at the top of a page, named `figure`. Children: the caption."""


class Opening(SphinxDirective):
    """The figure of that name, with a caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        name, drawing = self.arguments[0], ""
        if name.endswith(".svg"):
            if "alt" not in self.options:
                raise self.error(f"the picture {name} needs alternative text, in `:alt:`.")
            svg = (PICTURES / name).read_text(encoding="utf-8")
            attributes = (
                f'class="course-figure" role="img" aria-label={quoteattr(self.options["alt"])}'
            )
            drawing = svg.replace("<svg ", f"<svg {attributes} ", 1)
            self.env.note_dependency(str(PICTURES / name))
        place = opening(figure=name, drawing=drawing)
        self.set_source_info(place)
        self.state.nested_parse(self.content, self.content_offset, place)
        return [place]


class Takes(SphinxDirective):
    """The time and knowledge that a chapter takes: a line with its minutes, and a fold."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        line, *rest = self.parse_content_to_nodes()
        line["classes"].append("takes")
        return [line, Fold(TAKES, *rest)] if rest else [line]


class ShowOpening(SphinxPostTransform):
    """Show the drawing of the named figure at the top of the page."""

    default_priority = 60  # after priority 50, at which figures become SVG in the page

    def run(self, **kwargs: object) -> None:
        for place in list(self.document.findall(opening)):
            caption = nodes.container("", *place.children, classes=["opening-caption"])
            in_html = self.app.builder.format == "html"
            drawing = (place["drawing"] or self.again(place["figure"])) if in_html else None
            parts = [nodes.raw("", drawing, format="html")] if drawing else []
            place.replace_self(nodes.container("", *parts, caption, classes=["opening"]))

    def again(self, name: str) -> str | None:
        """Return an SVG that repeats the figure `name` of this page; warn if it does not exist."""
        figures = (node for node in self.document.findall(nodes.figure) if name in node["names"])
        raws = (raw for figure in figures for raw in figure.findall(nodes.raw))
        drawn = next((match for raw in raws if (match := DRAWING.search(raw.astext()))), None)
        if drawn is None:
            logger.warning(
                "the opening shows %r, but this page has no figure of that name that is an SVG "
                "and follows the theme. Give a figure of the page this name.",
                name,
                location=(self.env.docname, None),
            )
            return None
        return (
            f'<div class="figure-scroll"><svg {drawn["size"]} class="course-figure" role="img"'
            f' {drawn["label"]} {drawn["style"]}><use href="#{drawn["identity"]}"/></svg></div>'
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("opening", Opening)
    app.add_directive("takes", Takes)
    app.add_node(opening)
    app.add_post_transform(ShowOpening)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
