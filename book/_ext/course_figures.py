"""Warn at the end of a build about every picture that has no real alternative text.

The pages as written are looked at, all of them on every build: MyST-NB gives a figure without
alternative text the name of its file, which only shows in the result.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

FILE_NAME = re.compile(r"\S*\.(png|svg|jpe?g|gif|webp)", re.IGNORECASE)

logger = logging.getLogger(__name__)


class Pictures(HTMLParser):
    """Collect (file, alternative text or None) of each picture in the article of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self._in_article = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self._in_article = True
        elif tag == "img" and self._in_article:
            attributes = dict(attrs)
            self.found.append((attributes.get("src") or "", attributes.get("alt")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._in_article = False


def without_alternative(page: str) -> list[str]:
    """Return the files of the pictures in `page` (HTML) that no text stands for."""
    pictures = Pictures()
    pictures.feed(page)
    return [
        file
        for file, alternative in pictures.found
        if not (alternative or "").strip() or FILE_NAME.fullmatch(alternative.strip())
    ]


def check_pages(app: Sphinx, exception: Exception | None) -> None:
    """Warn about each picture without alternative text, naming its page."""
    if exception is not None or app.builder.name != "html":
        return
    for name in sorted(app.env.found_docs):
        page = Path(app.builder.get_outfilename(name)).read_text(encoding="utf-8")
        for file in without_alternative(page):
            logger.warning(
                "the picture %s has no alternative text. Say what one sees there: "
                "`mystnb: {image: {alt: ...}}` in its cell, or `:alt:` in its directive.",
                file,
                location=(name, None),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
