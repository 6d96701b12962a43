"""The table of contents as the templates need it, and what comes next on each page.

`_toc.yml` is the source: a part with numbers holds chapters, and below a chapter stands its
appendix; the part without numbers holds the pages about the course. An entry's `title` there is
its short title, for the contents; elsewhere a page bears the title of its own first heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assignment_facts import kept
from course_describing import description
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.api import Document, FileItem, SiteMap


@dataclass(frozen=True)
class Entry:
    """A page in the contents.

    number: of a chapter, else "". sentence: what it is about. below: the pages of its exercises and
    its appendix, if any. exercises: of a page of exercises, how many can be checked on it.
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
    """A part of the book; `numbered` if chapters stand in it."""

    title: str
    numbered: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Here:
    """Where a page stands: its part's title, and the chapter that it is, or belongs to.

    kind: what one calls that chapter, "chapter" or "page".
    """

    part: str = ""
    chapter: str = ""
    kind: str = "page"


@dataclass(frozen=True)
class Onward:
    """What comes next, what goes deeper, and what came before; of chapters, but for the guides."""

    next: Entry | None = None
    also: tuple[Entry, ...] = ()
    back: Entry | None = None


@dataclass(frozen=True)
class Section:
    """A section of a page, as its contents show it."""

    title: str
    anchor: str


def parts_of(env: BuildEnvironment) -> list[Part]:
    """Return the parts of the book in their order."""
    site: SiteMap = env.config.external_site_map
    return [
        Part(tree.caption or "", bool(tree.numbered), tuple(entries(env, site, tree.items)))
        for tree in site.root.subtrees
    ]


def entries(env: BuildEnvironment, site: SiteMap, items: list[object]) -> Iterator[Entry]:
    """Yield the entry of each page among the `items` of a list of contents."""
    for item in items:
        if isinstance(item, FileItem):
            yield entry(env, site, site[str(item)])


def entry(env: BuildEnvironment, site: SiteMap, page: Document) -> Entry:
    """Return the entry of a page, with those below it."""
    name, title = page.docname, env.titles[page.docname].astext()
    number = env.toc_secnumbers.get(name, {}).get("", ())
    below = (one for tree in page.subtrees for one in entries(env, site, tree.items))
    sentence = description(env, name)
    short = page.title or title
    folder, _, chapter = name.rpartition("/")
    exercises = len(kept()[chapter]["exercises"]) if folder == "practise" else 0
    return Entry(name, ".".join(map(str, number)), title, short, sentence, tuple(below), exercises)


def place(parts: list[Part], page: str) -> tuple[Here, Onward]:
    """Return where `page` stands, and what comes next there; nothing for a page in no part."""
    chapters = [one for part in parts if part.numbered for one in part.entries]
    for part in parts:
        row = chapters if part.numbered else list(part.entries)
        kind = "chapter" if part.numbered else "page"
        for one in part.entries:
            if page == one.name or page in (below.name for below in one.below):
                at = row.index(one)
                after = row[at + 1] if at + 1 < len(row) else None
                before = row[at - 1] if at else None
                here = Here(part.title, one.name, kind)
                if page == one.name:
                    return here, Onward(after, one.below, before)
                return here, Onward(after, (), one)
    return Here(), Onward()


def sections_of(env: BuildEnvironment, page: str) -> list[Section]:
    """Return the sections of a page that stand directly below its title."""
    titles = env.tocs[page].findall(nodes.list_item) if page in env.tocs else ()
    top = next(iter(titles), None)
    lists = [child for child in top.children if isinstance(child, nodes.bullet_list)] if top else []
    links = (item.next_node(nodes.reference) for found in lists for item in found.children)
    return [
        Section(link.astext(), link["anchorname"].removeprefix("#"))
        for link in links
        if link is not None and link.get("anchorname")
    ]


def add_contents(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Give the templates the contents, the page's place in them, and its sections."""
    parts = parts_of(app.env)
    context["contents"] = parts
    context["here"], context["onward"] = place(parts, page)
    context["sections"] = sections_of(app.env, page)
    context["kind"] = "front" if page == app.config.root_doc else "reading"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
