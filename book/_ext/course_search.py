"""What can be found: one entry for each section of the book, in `_static/search.json`.

An entry holds the section's title, its chapter, the terms that it defines, and its prose; no code,
formula, answer key or reference. A term is a few words in bold; the first section in which it
stands so, in reading order, is the one that defines it. `search.mjs` looks into these entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course_contents import Entry, parts_of
from course_folds import Fold
from course_quiz import quiz_key
from docutils import nodes
from page_words import said
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.nodes import bibliography

UNREAD = (Fold, quiz_key, bibliography, nodes.literal_block, nodes.citation)
"""What no entry holds a word of."""

TEXTS = (nodes.paragraph, nodes.caption, nodes.term)
MOST_WORDS = 4
"""The length of a term. A longer text in bold is a claim."""


@dataclass
class Section:
    """A section of a page. anchor: "" for the page's own beginning. terms: the texts in bold."""

    anchor: str
    title: str
    terms: list[str] = field(default_factory=list)
    text: str = ""


def collect(app: Sphinx, document: nodes.document) -> None:
    """Keep the sections of a page that was read."""
    found = {id(one): section(one) for one in document.findall(nodes.section)}
    for text in document.findall(lambda node: isinstance(node, TEXTS)):
        home = home_of(text)
        if home is not None:
            entry = found[id(home)]
            entry.text += f"{said(text)} "
            if not isinstance(text, nodes.caption):
                entry.terms += terms(text)
    sections = [one for one in found.values() if one.text.strip()]
    if sections:
        sections[0].anchor = ""
    kept(app.env)[app.env.docname] = sections


def kept(env: BuildEnvironment) -> dict[str, list[Section]]:
    """Return the sections of all pages."""
    if not hasattr(env, "course_sections"):
        env.course_sections = {}
    return env.course_sections


def section(node: nodes.section) -> Section:
    """Return the entry of a section, still without its text."""
    return Section(node["ids"][0], said(node[0]))


def home_of(node: nodes.Node) -> nodes.section | None:
    """Return the section that a text stands in; None for a text that is not to be found."""
    above = node.parent
    while above is not None and not isinstance(above, nodes.section):
        if isinstance(above, UNREAD):
            return None
        above = above.parent
    return above


def terms(node: nodes.Element) -> list[str]:
    """Return the few words in bold of a line, as they are."""
    bold = (said(one).strip(" ,.:;?") for one in node.findall(nodes.strong))
    return [one for one in bold if one and len(one.split()) <= MOST_WORDS]


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget the sections of a page that is read anew, or has gone."""
    kept(env).pop(page, None)


def entries(env: BuildEnvironment, suffix: str) -> list[dict[str, object]]:
    """Return the entries of all sections, in reading order, each term with the first of them."""
    defined: set[str] = set()
    found = []
    for name, chapter in pages(env):
        for number, one in enumerate(kept(env).get(name, [])):
            new = [term for term in dict.fromkeys(one.terms) if term.lower() not in defined]
            defined.update(term.lower() for term in new)
            address = f"{name}{suffix}" + (f"#{one.anchor}" if one.anchor else "")
            found.append(
                {"id": len(found), "address": address, "chapter": chapter, "first": number == 0}
                | {key: value for key, value in asdict(one).items() if key != "anchor"}
                | {"terms": new}
            )
    return found


def pages(env: BuildEnvironment) -> Iterator[tuple[str, str]]:
    """Yield the name of each page and what its sections say that they belong to."""
    for part in parts_of(env):
        for entry in part.entries:
            yield entry.name, label(entry)
            for below in entry.below:
                yield below.name, f"{label(entry)}, appendix" if entry.number else below.title


def label(entry: Entry) -> str:
    """Return `Chapter 4` or the title of a page that is no chapter."""
    return f"Chapter {entry.number}" if entry.number else entry.title


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the entries beside the scripts."""
    if exception is None and app.builder.name == "html":
        found = entries(app.env, app.builder.link_suffix)
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", "search.json").write_text(text, encoding="utf-8")


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the page that searches, in place of Sphinx's own."""
    said = {"title": "Search", "description": "Find the section of the book that defines a word."}
    yield "search", said, "search.html"


def leave_out_the_stock_index(app: Sphinx) -> None:
    """Let Sphinx write neither its own index nor its own page."""
    app.builder.search = False


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("builder-inited", leave_out_the_stock_index)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("html-collect-pages", page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": 1}
