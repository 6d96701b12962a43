"""Figures: they follow the reader's theme, and every picture has alternative text.

A figure that was drawn after `solutions.drawing.theme.follow_theme()` is put into its page as SVG,
and its colours become CSS variables of the page: a picture in a separate file could not know the
theme. Every other picture is a file, as usual.

At the end of every build, all pages are checked as they were written: MyST-NB gives a figure
without alternative text the name of its file, which can only be seen in the result.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from figure_text import SVG, XLINK, parse, readable_width, set_text
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from solutions.drawing.colours import IDENTITY, VARIABLES

FILE_NAME = re.compile(r"\S*\.(png|svg|jpe?g|gif|webp)", re.IGNORECASE)
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
REFERENCE = re.compile(r"url\(#([^)]+)\)")

logger = logging.getLogger(__name__)


class PutIntoPage(SphinxPostTransform):
    """Replace each figure that follows the theme with its SVG."""

    default_priority = 50  # after MyST-NB has chosen among the forms of an output
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for number, image in enumerate(list(self.document.findall(nodes.image)), start=1):
            path = Path(self.env.srcdir, image["uri"])
            if path.suffix == ".svg" and path.is_file():
                figure = themed(path.read_text(encoding="utf-8"), f"f{number}-", image.get("alt"))
                if figure:
                    image.replace_self(nodes.raw("", figure, format="html"))


def themed(svg: str, prefix: str, alternative: str | None) -> str | None:
    """Return the SVG of a figure for a page, or None if the figure does not follow the theme.

    prefix: makes the figure's ids unique on the page.
    """
    root = parse(svg)
    if root.get("id") != IDENTITY:
        return None
    for unused in ("metadata", "defs/style"):
        *above, tag = (f"{{{SVG}}}{name}" for name in unused.split("/"))
        for parent in root.findall("/".join(above) or "."):
            for child in parent.findall(tag):
                parent.remove(child)
    set_text(root)
    for element in root.iter():
        adapt(element.attrib, prefix)
    root.attrib |= {"class": "course-figure", "role": "img", "aria-label": alternative or ""}
    root.attrib["style"] = f"--readable: {readable_width(root):.0f}px"
    root.attrib.pop("id")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    svg = ElementTree.tostring(root, encoding="unicode")
    return f'<div class="figure-scroll">{svg}</div>'


def adapt(attributes: dict[str, str], prefix: str) -> None:
    """Prefix the ids in an element's attributes, and replace its colours by CSS variables."""
    reference = f"{{{XLINK}}}href"
    if "id" in attributes:
        attributes["id"] = prefix + attributes["id"]
    if attributes.get(reference, "").startswith("#"):
        attributes[reference] = f"#{prefix}{attributes[reference][1:]}"
    for name in ("clip-path", "style"):
        if name in attributes:
            text = REFERENCE.sub(rf"url(#{prefix}\1)", attributes[name])
            attributes[name] = COLOUR.sub(lambda match: variable(match[0]), text)


def variable(colour: str, variables: Mapping[str, str] = VARIABLES) -> str:
    """Return the CSS variable of a named colour; any other colour as it is."""
    return f"var({variables[colour]})" if colour in variables else colour


class Pictures(HTMLParser):
    """A parser that collects (file, alternative text or None) of each picture in an article."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[tuple[str, str | None]] = []
        self._in_article = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "article":
            self._in_article = True
        elif tag == "img" and self._in_article:
            self.pictures.append((attributes.get("src") or "", attributes.get("alt")))
        elif tag == "svg" and attributes.get("class") == "course-figure":
            self.pictures.append((f"number {len(self.pictures) + 1}", attributes.get("aria-label")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._in_article = False


def without_alternative(page: str) -> list[str]:
    """Return the files of the pictures in `page` (HTML) that have no alternative text."""
    parser = Pictures()
    parser.feed(page)
    return [
        file
        for file, alternative in parser.pictures
        if not (alternative or "").strip() or FILE_NAME.fullmatch((alternative or "").strip())
    ]


def check_pages(app: Sphinx, exception: Exception | None) -> None:
    """Warn about each picture without alternative text, naming its page."""
    if exception is not None or app.builder.name != "html":
        return
    for name in sorted(app.env.found_docs):
        page = Path(app.outdir, app.builder.get_target_uri(name)).read_text(encoding="utf-8")
        for file in without_alternative(page):
            logger.warning(
                "the picture %s has no alternative text. Describe what it shows: "
                "`mystnb: {image: {alt: ...}}` in its cell, or `:alt:` in its directive.",
                file,
                location=(name, None),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(PutIntoPage)
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
