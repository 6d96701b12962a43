"""What can be found: one entry for each section of the book, in `_static/search.json`.

An entry holds the section's title, its chapter, the terms that it defines, and its prose; no code,
answer key or reference. A term is a few words in bold; the first section in which it stands so, in
reading order, is the one that defines it, unless the glossary names another. The other names that
the glossary gives to a term count as the term does, and lead to the paragraph in which it stands;
what the glossary alone explains has an entry of its own. `search.mjs` looks into these entries.

The sections of a page are kept in the build's folder when it is written, with its links and
citations named; the next build has them, though it writes other pages only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course_contents import Entry, parts_of
from course_folds import Fold
from course_glossary import PAGE, place_of, plain, terms_in
from course_glossary import terms as glossary
from course_quiz import quiz_key
from docutils import nodes
from page_words import said
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.nodes import bibliography

UNREAD = (Fold, quiz_key, bibliography, nodes.literal_block, nodes.citation)
"""What no entry holds a word of."""

ASIDE = {"takes", "computed", "predict-was", "glossary", "your-turn", "practise-back"}
"""Lines on what a chapter takes, when a page was computed, which choice it was, and what the
glossary repeats: nor of these."""

STOCK = ("searchindex.js", "_static/searchtools.js")
"""Sphinx's own index, where it was built before, and its script, which comes with its theme."""

TEXTS = (nodes.paragraph, nodes.caption, nodes.term)


@dataclass
class Section:
    """A section of a page. anchor: "" for the page's own beginning. terms: the texts in bold."""

    anchor: str
    title: str
    terms: list[str] = field(default_factory=list)
    text: str = ""


def collect(app: Sphinx, document: nodes.document, page: str) -> None:
    """Keep the sections of a page that is being written."""
    if app.builder.name != "html":
        return
    path = kept(app, page)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sections_in(document)), encoding="utf-8")


def sections_in(document: nodes.document) -> list[dict[str, object]]:
    """Return the sections of a page that say something, in their order."""
    found = {id(one): section(one) for one in document.findall(nodes.section)}
    for text in document.findall(lambda node: isinstance(node, TEXTS)):
        home = home_of(text)
        if home is not None:
            entry = found[id(home)]
            entry.text += f"{said(text)} "
            if not isinstance(text, nodes.caption):
                entry.terms += terms_in(text)
    return [asdict(one) for one in found.values() if one.text.strip()]


def kept(app: Sphinx, page: str) -> Path:
    """Return the file in which the sections of a page are kept."""
    return Path(app.doctreedir, "search", f"{page}.json")


def section(node: nodes.section) -> Section:
    """Return the entry of a section, still without its text."""
    anchor = "" if isinstance(node.parent, nodes.document) else node["ids"][0]
    return Section(anchor, said(node[0]))


def home_of(node: nodes.Node) -> nodes.section | None:
    """Return the section that a text stands in; None for a text that is not to be found."""
    while node is not None and not isinstance(node, nodes.section):
        if isinstance(node, UNREAD) or ASIDE.intersection(node.get("classes", ())):
            return None
        node = node.parent
    return node


def entries(app: Sphinx) -> list[dict[str, object]]:
    """Return the entries of all sections, in reading order, each term with the first of them.

    `places` of an entry leads from a term, in small letters, to the paragraph that defines it.
    """
    named = names_in_glossary(app.env)
    defined = {name for names in named.values() for name in names}
    found: list[dict[str, object]] = []
    for name, chapter in pages(app.env):
        page = app.builder.get_target_uri(name)
        for one in json.loads(kept(app, name).read_text(encoding="utf-8")):
            anchor = one.pop("anchor")
            new = [term for term in dict.fromkeys(one["terms"]) if term.lower() not in defined]
            defined.update(term.lower() for term in new)
            address = f"{page}#{anchor}" if anchor else page
            places = {term: f"{page}#{at}" for term, at in named.get((name, anchor), {}).items()}
            where = {"id": len(found), "address": address, "chapter": chapter}
            found.append(where | one | {"terms": [*new, *places], "places": places})
    return found + [one | {"id": len(found) + at} for at, one in enumerate(only_in_glossary(app))]


def names_in_glossary(env: BuildEnvironment) -> dict[tuple[str, str], dict[str, str]]:
    """Return for each page and section the names of its terms, each with its paragraph's anchor."""
    named: dict[tuple[str, str], dict[str, str]] = {}
    for term in glossary(env):
        where = place_of(env, term)
        if where is not None:
            names = named.setdefault((term.page, where.section), {})
            names.update((plain(name), where.place) for name in term.names)
    return named


def only_in_glossary(app: Sphinx) -> Iterator[dict[str, object]]:
    """Yield the entry of each term that no chapter defines."""
    page = app.builder.get_target_uri(PAGE)
    for term in glossary(app.env):
        if not term.page:
            address = f"{page}#{term.anchor}"
            text = said(nodes.paragraph("", "", *(one.deepcopy() for one in term.text)))
            yield {
                **{"address": address, "chapter": app.env.titles[PAGE].astext()},
                **{"title": term.names[0], "terms": term.names, "text": text, "places": {}},
            }


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
    """Write the entries beside the scripts, and leave nothing of Sphinx's own search."""
    if exception is None and app.builder.name == "html":
        text = json.dumps(entries(app), ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", "search.json").write_text(text, encoding="utf-8")
        for name in STOCK:
            Path(app.outdir, name).unlink(missing_ok=True)


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the page that searches, in place of Sphinx's own."""
    said = {"title": "Search", "description": "Find the section of the book that defines a word."}
    yield "search", said, "search.html"


def leave_out_the_stock_index(app: Sphinx) -> None:
    """Let Sphinx write neither its own index nor its own page."""
    app.builder.search = False


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", leave_out_the_stock_index)
    app.connect("doctree-resolved", collect)
    app.connect("html-collect-pages", page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
