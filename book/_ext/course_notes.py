"""Side notes: the author, title and year of a work in the margin, next to its first citation.

Only a wide screen has a margin. On a narrow screen and on paper, a citation leads to the list of
references at the end of the page. So a side note is short and hidden from screen readers: readers
who hear the page, or want more, use the list.

An element that is wider than the column can only begin below a note. So a note starts at the
beginning of its paragraph, or further up if the paragraph is too short for it. If there is not
enough room, the work gets no note, since a gap in the text would be worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil
from typing import Any

from docutils import nodes
from pybtex.database import Entry
from pybtex.richtext import Text
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

NARROW = (nodes.paragraph, nodes.math_block, nodes.bullet_list, nodes.enumerated_list)
"""Nodes that leave the margin free, so that a note may run past them."""

UNSEEN = (nodes.Invisible, nodes.target)
LINE, GAP, CHARACTERS = 30, 20, 72
"""Height of a line and of the gap below a paragraph in pixels, and the most characters a line."""
FORMULA = 60
"""Height of a formula in pixels."""
NOTE_LINE, NOTE_GAP, NOTE_CHARACTERS = 19, 16, 28
"""The same for a note, but with the fewest characters a line."""
HEADING = 110
"""Height in pixels of the heading of the next section, beside which a note may run on."""


class sidenote(nodes.Inline, nodes.TextElement):
    """The author, title and year of a cited work."""


@dataclass
class Block:
    """A block in the column. top: pixels below the last wide element (a lower bound)."""

    node: nodes.Element
    top: int
    notes: list[str] = field(default_factory=list)


class PutBesideCitations(SphinxPostTransform):
    """Put a side note next to the first citation of each work in a page's running text."""

    default_priority = 800  # after the citations have become links to the references
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        works = works_of(self.env, self.env.docname)
        cited = {
            identity for node in self.document.findall(nodes.citation) for identity in node["ids"]
        }
        notes: dict[int, list[str]] = {}
        for link in self.document.findall(nodes.reference):
            name = link.get("refid", "")
            paragraph = paragraph_of(link)
            if name in cited and name in works and paragraph is not None:
                cited.remove(name)
                notes.setdefault(id(paragraph), []).append(short(works[name]))
        for section in self.document.findall(nodes.section):
            for wide, run in groupby(visible(section), key=is_wide):
                if not wide:
                    place(list(run), notes)


def works_of(env: BuildEnvironment, page: str) -> dict[str, Entry]:
    """Return the entry of each work by the id of its item in the page's list of references.

    An id belongs to its page alone: a build that reads few pages counts them from 1 again.
    """
    cite: Any = env.get_domain("cite")
    return {
        citation.citation_id: citation.entry
        for citation in cite.citations
        if citation.bibliography_key.docname == page
    }


def short(work: Entry) -> str:
    """Return a work's author, title and year."""
    authors = [
        person.rich_prelast_names + person.rich_last_names for person in work.persons["author"]
    ]
    names = [" ".join(map(str, parts)) for parts in authors]
    names_shown = f"{names[0]} et al" if len(names) > 2 else " and ".join(names)
    return f"{names_shown}. {Text.from_latex(work.fields['title'])}. {work.fields['year']}."


def paragraph_of(node: nodes.Node) -> nodes.paragraph | None:
    """Return the paragraph of running text that contains a node; None if there is none."""
    paragraph = node.parent
    while isinstance(paragraph, nodes.Inline):
        paragraph = paragraph.parent
    running = isinstance(paragraph, nodes.paragraph) and isinstance(paragraph.parent, nodes.section)
    return paragraph if running else None


def visible(section: nodes.section) -> Iterator[nodes.Element]:
    """Yield the visible nodes of a section below its title."""
    for node in section.children:
        if not isinstance(node, (*UNSEEN, nodes.title)):
            yield node


def is_wide(node: nodes.Element) -> bool:
    """Return whether a note has to end above a node."""
    return not isinstance(node, (*NARROW, nodes.section))


def place(run: list[nodes.Element], notes: dict[int, list[str]]) -> None:
    """Put the notes of a run of blocks next to them, each as far down as there is room.

    run: blocks without a wide element between them. notes: the notes by `id` of their paragraph.
    """
    blocks, room = [], 0
    for node in run:
        if isinstance(node, nodes.section):
            room += HEADING
            break
        blocks.append(Block(node, room))
        room += height(node)
    for block in reversed(blocks):
        for note in reversed(notes.get(id(block.node), [])):
            start = min(block.top, room - NOTE_GAP - NOTE_LINE * ceil(len(note) / NOTE_CHARACTERS))
            hosts = [host for host in blocks if host.top <= start and can_hold(host.node)]
            if hosts:
                hosts[-1].notes.insert(0, note)
                room = hosts[-1].top
    for block in blocks:
        for note in reversed(block.notes):
            block.node.insert(0, sidenote("", note))


def can_hold(node: nodes.Element) -> bool:
    """Return whether a note can be written at the beginning of a block."""
    return isinstance(node, nodes.paragraph)


def height(node: nodes.Element) -> int:
    """Return an estimate of a block's height in pixels, rather too low than too high."""
    if isinstance(node, nodes.math_block):
        return FORMULA
    lines = ceil(len(node.astext()) / CHARACTERS)
    return LINE * lines + GAP


def visit_sidenote(translator: nodes.NodeVisitor, node: sidenote) -> None:
    translator.body.append('<span class="side-note" aria-hidden="true">')


def depart_sidenote(translator: nodes.NodeVisitor, node: sidenote) -> None:
    translator.body.append("</span>")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(sidenote, html=(visit_sidenote, depart_sidenote))
    app.add_post_transform(PutBesideCitations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
