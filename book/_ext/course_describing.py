"""What a page is about, in a sentence or two: its first paragraph, as far as it is short enough.

It is the page's description for search engines and previews of links, and stands below the title
where a page is said to come next. `description` in a page's front matter takes its place.

Only a published book has an address: `html_baseurl`, from which the full addresses in previews, and
those of the page for a missing page, are made. A preview has a picture if there is one for the page
in `book/_web/pictures/previews`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlparse

from docutils import nodes
from page_words import said
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MOST = 160
"""The length of a description: what is shown of it elsewhere is no longer."""

END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!][”\"]))\s+(?=[A-Z“\"])")


def describe(app: Sphinx, document: nodes.document) -> None:
    """Keep the beginning of a page that was read."""
    beginning = next(paragraphs(document), None)
    if beginning is not None:
        kept(app.env)[app.env.docname] = shortened(said(beginning))


def paragraphs(document: nodes.document) -> Iterator[nodes.paragraph]:
    """Yield the paragraphs of a page's running text."""
    for one in document.findall(nodes.paragraph):
        if "takes" not in one["classes"] and isinstance(one.parent, nodes.section | nodes.document):
            yield one


def shortened(text: str) -> str:
    """Return as many sentences as are short enough together, but one at least."""
    first, *others = END.split(text)
    for one in others:
        if len(first) + len(one) + 1 > MOST:
            break
        first = f"{first} {one}"
    return first


def kept(env: BuildEnvironment) -> dict[str, str]:
    """Return the description of each page."""
    if not hasattr(env, "course_descriptions"):
        env.course_descriptions = {}
    return env.course_descriptions


def description(env: BuildEnvironment, page: str) -> str:
    """Return what a page is about; "" for one of which nothing is known."""
    return str(env.metadata[page].get("description", "") or kept(env).get(page, ""))


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that is read anew, or has gone."""
    kept(env).pop(page, None)


def add_description(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Give the templates the description, and the full address of the preview picture."""
    if page in app.env.all_docs:
        context["description"] = description(app.env, page)
    picture = Path(app.srcdir, "_web", "pictures", "previews", f"{page}.png")
    base = app.config.html_baseurl
    shown = bool(base) and picture.exists()
    context["preview"] = urljoin(base, f"_static/previews/{page}.png") if shown else ""


def lost(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the page that a server shows at an address which does not exist."""
    base = urlparse(app.config.html_baseurl).path or "/"
    said = {"title": "This page does not exist", "description": "A page that does not exist."}
    context = {"base": base, "html_baseurl": app.config.html_baseurl}
    yield "404", said | context, "404.html"


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("doctree-read", describe)
    app.connect("env-purge-doc", forget)
    app.connect("html-page-context", add_description)
    app.connect("html-collect-pages", lost)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": 2}
