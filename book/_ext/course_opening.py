"""How a chapter opens: `opening` shows, at its top, the figure that the chapter is remembered by.

    ```{opening} fig-one-step
    The sentence below the figure.
    ```

The figure stands further down, where it is explained; here its drawing is shown once more, by an
SVG `use` element, which adds nothing to the page's weight. Where every figure of a page would give
a prediction away, a drawing of its own opens it: `name.svg` in `book/_web/pictures`, with the
option `alt`.

    ```{takes}
    About {minutes}`to read`.

    You need ...
    ```

The first paragraph is a quiet line; what follows is folded away.
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
    """The place of a figure at the top of a page; `figure` is its name. Children: the sentence."""


class Opening(SphinxDirective):
    """The figure of that name, with a sentence."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        name, drawing = self.arguments[0], ""
        if name.endswith(".svg"):
            if "alt" not in self.options:
                raise self.error(f"the picture {name} needs a text that stands for it: `:alt:`.")
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
    """What a chapter takes: a quiet line with its minutes, and a fold with the rest."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        line, *rest = self.parse_content_to_nodes()
        line["classes"].append("takes")
        return [line, Fold(TAKES, *rest)] if rest else [line]


class ShowOpening(SphinxPostTransform):
    """Put the drawing of the named figure into its place at the top of the page."""

    default_priority = 60  # after the figures have been put into the page as SVG, at 50

    def run(self, **kwargs: object) -> None:
        for place in list(self.document.findall(opening)):
            caption = nodes.container("", *place.children, classes=["opening-caption"])
            in_html = self.app.builder.format == "html"
            drawing = (place["drawing"] or self.again(place["figure"])) if in_html else None
            parts = [nodes.raw("", drawing, format="html")] if drawing else []
            place.replace_self(nodes.container("", *parts, caption, classes=["opening"]))

    def again(self, name: str) -> str | None:
        """Return an SVG that shows the figure `name` of this page again; None for no figure."""
        figures = (one for one in self.document.findall(nodes.figure) if name in one["names"])
        found = (raw for figure in figures for raw in figure.findall(nodes.raw))
        drawn = next((shown for raw in found if (shown := DRAWING.search(raw.astext()))), None)
        if drawn is None:
            logger.warning(
                "the opening shows %r, and no figure of that name stands on this page as an SVG "
                "that follows the theme.",
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
