"""The search index: an entry for each section of the book, in `_static/search.json`.

An entry holds the section's title, its chapter, the terms that it defines, and its prose, but no
code, answer keys or references. A term is a few words in bold. It is defined by the first section
in reading order that has it in bold, unless the glossary names another section. The glossary's
synonyms for a term count as the term does and lead to the paragraph that defines it. A term that
only the glossary explains gets a separate entry. `search.mjs` searches these entries.

When a page is written, its sections are stored in the build's folder, with the text of its links
and citations. The next build reuses them for the pages that it does not write again.
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
from page_words import plain_text
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.nodes import bibliography

UNREAD = (Fold, quiz_key, bibliography, nodes.literal_block, nodes.citation)
"""Nodes whose words no entry holds."""

ASIDE = {"takes", "computed", "predict-was", "glossary", "your-turn", "practise-back"}
"""Classes of lines that no entry holds either: how long a chapter takes, when a page was computed,
which choice was right, and what the glossary repeats."""

STOCK = ("searchindex.js", "_static/searchtools.js")
"""Sphinx's index, if an earlier build wrote it, and its script, which comes with its theme."""

TEXTS = (nodes.paragraph, nodes.caption, nodes.term)


@dataclass
class Section:
    """A section of a page. anchor: "" for the page's own beginning. terms: the texts in bold."""

    anchor: str
    title: str
    terms: list[str] = field(default_factory=list)
    text: str = ""


def collect(app: Sphinx, document: nodes.document, page: str) -> None:
    """Store the sections of a page that is being written."""
    if app.builder.name != "html":
        return
    path = file_of(app, page)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sections_in(document)), encoding="utf-8")


def sections_in(document: nodes.document) -> list[dict[str, object]]:
    """Return the sections of a page that have a text, in their order."""
    by_node = {id(node): section(node) for node in document.findall(nodes.section)}
    for text in document.findall(lambda node: isinstance(node, TEXTS)):
        home = home_of(text)
        if home is not None:
            entry = by_node[id(home)]
            entry.text += f"{plain_text(text)} "
            if not isinstance(text, nodes.caption):
                entry.terms += terms_in(text)
    return [asdict(entry) for entry in by_node.values() if entry.text.strip()]


def file_of(app: Sphinx, page: str) -> Path:
    """Return the file in which the sections of a page are stored."""
    return Path(app.doctreedir, "search", f"{page}.json")


def section(node: nodes.section) -> Section:
    """Return the entry of a section, still without its text."""
    anchor = "" if isinstance(node.parent, nodes.document) else node["ids"][0]
    return Section(anchor, plain_text(node[0]))


def home_of(node: nodes.Node) -> nodes.section | None:
    """Return the section that contains a text; None if the search leaves the text out."""
    while node is not None and not isinstance(node, nodes.section):
        if isinstance(node, UNREAD) or ASIDE.intersection(node.get("classes", ())):
            return None
        node = node.parent
    return node


def entries(app: Sphinx) -> list[dict[str, object]]:
    """Return the entries of all sections in reading order; the first section with a term gets it.

    `places` of an entry maps a term, in lower case, to the address of its defining paragraph.
    """
    named = names_in_glossary(app.env)
    defined = {name for names in named.values() for name in names}
    result: list[dict[str, object]] = []
    for name, chapter in pages(app.env):
        page = app.builder.get_target_uri(name)
        for stored in json.loads(file_of(app, name).read_text(encoding="utf-8")):
            anchor = stored.pop("anchor")
            new = [term for term in dict.fromkeys(stored["terms"]) if term.lower() not in defined]
            defined.update(term.lower() for term in new)
            address = f"{page}#{anchor}" if anchor else page
            places = {term: f"{page}#{at}" for term, at in named.get((name, anchor), {}).items()}
            where = {"id": len(result), "address": address, "chapter": chapter}
            result.append(where | stored | {"terms": [*new, *places], "places": places})
    others = enumerate(only_in_glossary(app), start=len(result))
    return result + [entry | {"id": number} for number, entry in others]


def names_in_glossary(env: BuildEnvironment) -> dict[tuple[str, str], dict[str, str]]:
    """Return the names of the terms of each (page, section), with their paragraphs' anchors."""
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
            text = plain_text(nodes.paragraph("", "", *(node.deepcopy() for node in term.text)))
            yield {
                **{"address": address, "chapter": app.env.titles[PAGE].astext()},
                **{"title": term.names[0], "terms": term.names, "text": text, "places": {}},
            }


def pages(env: BuildEnvironment) -> Iterator[tuple[str, str]]:
    """Yield each page's name, and the label that the search shows for its sections."""
    for part in parts_of(env):
        for entry in part.entries:
            yield entry.name, label(entry)
            for below in entry.below:
                yield below.name, f"{label(entry)}, appendix" if entry.number else below.title


def label(entry: Entry) -> str:
    """Return `Chapter 4`, or the title of a page that is not a chapter."""
    return f"Chapter {entry.number}" if entry.number else entry.title


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the entries next to the scripts, and remove the files of Sphinx's own search."""
    if exception is None and app.builder.name == "html":
        text = json.dumps(entries(app), ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", "search.json").write_text(text, encoding="utf-8")
        for name in STOCK:
            Path(app.outdir, name).unlink(missing_ok=True)


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the search page, which replaces Sphinx's."""
    page_context = {
        "title": "Search",
        "description": "Find the section of the book that defines a word.",
    }
    yield "search", page_context, "search.html"


def leave_out_the_stock_index(app: Sphinx) -> None:
    """Stop Sphinx from writing its own search index and search page."""
    vars(app.builder)["search"] = False


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", leave_out_the_stock_index)
    app.connect("doctree-resolved", collect)
    app.connect("html-collect-pages", page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
