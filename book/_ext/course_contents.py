"""The table of contents that the templates use, and the links from each page to its neighbours.

The source is `_toc.yml`: a numbered part holds chapters, each with its appendix below it, and the
part without numbers holds the pages about the course. An entry's `title` in `_toc.yml` is its short
title in the table of contents. Everywhere else, the title of a page is its first heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assignment_facts import stored_facts
from course_describing import description
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.api import Document, FileItem, SiteMap


@dataclass(frozen=True)
class Entry:
    """A page in the contents.

    number: the number of a chapter, else "". sentence: the page's description. below: the pages of
    its exercises and its appendix, if any. exercises: the number that can be checked on the page.
    """

    name: str
    number: str
    title: str
    short: str
    sentence: str
    below: tuple[Entry, ...] = ()
    exercises: int = 0


@dataclass(frozen=True)
class Part:
    """A part of the book; `numbered` if it holds chapters."""

    title: str
    numbered: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Here:
    """The position of a page: its part's title, and the chapter that it is or belongs to.

    kind: the word for that chapter, "chapter" or "page".
    """

    part: str = ""
    chapter: str = ""
    kind: str = "page"


@dataclass(frozen=True)
class Onward:
    """The next page, the pages below this one, and the previous page, as far as they exist."""

    next: Entry | None = None
    also: tuple[Entry, ...] = ()
    back: Entry | None = None


@dataclass(frozen=True)
class Section:
    """A section of a page, as its contents show it."""

    title: str
    anchor: str


def parts_of(env: BuildEnvironment) -> list[Part]:
    """Return the parts of the book in order."""
    site: SiteMap = env.config.external_site_map
    return [
        Part(tree.caption or "", bool(tree.numbered), tuple(entries(env, site, tree.items)))
        for tree in site.root.subtrees
    ]


def entries(env: BuildEnvironment, site: SiteMap, items: Sequence[object]) -> Iterator[Entry]:
    """Yield the entry of each page among the `items` of a list of contents."""
    for item in items:
        if isinstance(item, FileItem):
            yield entry(env, site, site[str(item)])


def entry(env: BuildEnvironment, site: SiteMap, page: Document) -> Entry:
    """Return the entry of a page, with the entries of the pages below it."""
    name, title = page.docname, env.titles[page.docname].astext()
    number = env.toc_secnumbers.get(name, {}).get("", ())
    below = (child for tree in page.subtrees for child in entries(env, site, tree.items))
    sentence = description(env, name)
    short = page.title or title
    folder, _, chapter = name.rpartition("/")
    exercises = len(stored_facts()[chapter]["exercises"]) if folder == "practise" else 0
    return Entry(name, ".".join(map(str, number)), title, short, sentence, tuple(below), exercises)


def place(parts: list[Part], page: str) -> tuple[Here, Onward]:
    """Return the position of `page` and its neighbours, both empty for a page outside all parts."""
    chapters = [chapter for part in parts if part.numbered for chapter in part.entries]
    for part in parts:
        row = chapters if part.numbered else list(part.entries)
        kind = "chapter" if part.numbered else "page"
        for chapter in part.entries:
            if page == chapter.name or page in (below.name for below in chapter.below):
                at = row.index(chapter)
                after = row[at + 1] if at + 1 < len(row) else None
                before = row[at - 1] if at else None
                here = Here(part.title, chapter.name, kind)
                if page == chapter.name:
                    return here, Onward(after, chapter.below, before)
                return here, Onward(after, (), chapter)
    return Here(), Onward()


def sections_of(env: BuildEnvironment, page: str) -> list[Section]:
    """Return the sections of a page that are directly below its title."""
    titles = env.tocs[page].findall(nodes.list_item) if page in env.tocs else ()
    top = next(iter(titles), None)
    lists = [child for child in top.children if isinstance(child, nodes.bullet_list)] if top else []
    links = (
        item.next_node(nodes.reference) for bullet_list in lists for item in bullet_list.children
    )
    return [
        Section(link.astext(), link["anchorname"].removeprefix("#"))
        for link in links
        if link is not None and link.get("anchorname")
    ]


def add_contents(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates the contents, the page's position in them, and its sections."""
    parts = parts_of(app.env)
    context["contents"] = parts
    context["here"], context["onward"] = place(parts, page)
    context["sections"] = sections_of(app.env, page)
    context["kind"] = "front" if page == app.config.root_doc else "reading"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
