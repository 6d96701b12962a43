"""Page descriptions: as many of the first paragraph's sentences as fit.

The description is for search engines and link previews, and is shown below the page's title where
another page announces it as the next. `description` in a page's front matter replaces it.

Only a published book has an address, `html_baseurl`. Previews and the page for missing pages need
it for their full addresses. A preview has a picture if `book/_web/pictures/previews` has one for
the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlparse

from docutils import nodes
from page_words import plain_text
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MOST = 160
"""The maximum length of a description; search engines and previews show no more."""

END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!][”\"]))\s+(?=[A-Z“\"])")


def describe(app: Sphinx, document: nodes.document) -> None:
    """Store the description of a page that was read."""
    beginning = next(paragraphs(document), None)
    if beginning is not None:
        descriptions(app.env)[app.env.docname] = shorten(plain_text(beginning))


def paragraphs(document: nodes.document) -> Iterator[nodes.paragraph]:
    """Yield the paragraphs of a page's running text."""
    for node in document.findall(nodes.paragraph):
        running = isinstance(node.parent, nodes.section | nodes.document)
        if running and "takes" not in node["classes"]:
            yield node


def shorten(text: str) -> str:
    """Return as many of the first sentences as fit into MOST characters, but at least one."""
    result, *others = END.split(text)
    for sentence in others:
        if len(result) + len(sentence) + 1 > MOST:
            break
        result = f"{result} {sentence}"
    return result


def descriptions(env: BuildEnvironment) -> dict[str, str]:
    """Return the description of each page."""
    stored: dict[str, str] = vars(env).setdefault("course_descriptions", {})
    return stored


def description(env: BuildEnvironment, page: str) -> str:
    """Return the description of a page; "" if it has none."""
    return str(env.metadata[page].get("description", "") or descriptions(env).get(page, ""))


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that has been removed or will be read again."""
    descriptions(env).pop(page, None)


def add_description(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates the description, and the full address of the preview picture."""
    if page in app.env.all_docs:
        context["description"] = description(app.env, page)
    picture = Path(app.srcdir, "_web", "pictures", "previews", f"{page}.png")
    base = app.config.html_baseurl
    shown = bool(base) and picture.exists()
    context["preview"] = urljoin(base, f"_static/previews/{page}.png") if shown else ""


def lost(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the page that a server shows for an address that does not exist."""
    base = urlparse(app.config.html_baseurl).path or "/"
    page_context = {
        "title": "This page does not exist",
        "description": "A page that does not exist.",
    }
    context = {"base": base, "html_baseurl": app.config.html_baseurl}
    yield "404", page_context | context, "404.html"


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("doctree-read", describe)
    app.connect("env-purge-doc", forget)
    app.connect("html-page-context", add_description)
    app.connect("html-collect-pages", lost)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": 2}
