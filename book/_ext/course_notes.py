"""Side notes: where a work is cited first on a page, what it is stands in the margin beside it.

There is a margin on a wide screen only; on a narrow one, and on paper, a citation leads to the list
of references at the end of the page. So a side note is for the eye alone, and short: whoever hears
the page, or wants more, has the list.

What is wider than the column begins below a note. A note therefore stands beside the beginning of
its paragraph, and above that where the paragraph is too low for it; where there is no room, a work
has no note, since a hole in the text is worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil

from docutils import nodes
from pybtex.database import Entry
from pybtex.richtext import Text
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

NARROW = (nodes.paragraph, nodes.math_block, nodes.bullet_list, nodes.enumerated_list)
"""What has the margin beside it, wherever a note ends."""

UNSEEN = (nodes.Invisible, nodes.target)
LINE, GAP, CHARACTERS = 30, 20, 72
"""Pixels of a line of text and below a paragraph, and the most characters that stand on a line."""
FORMULA = 60
NOTE_LINE, NOTE_GAP, NOTE_CHARACTERS = 19, 16, 28
"""The same of a note, with the fewest characters."""
HEADING = 110
"""Pixels of what stands in the column at the head of the next section."""


class sidenote(nodes.Inline, nodes.TextElement):
    """What a cited work is: its author, title and year."""


@dataclass
class Block:
    """What stands in the column. top: in pixels below the last thing that was wider, or less."""

    node: nodes.Element
    top: int
    notes: list[str] = field(default_factory=list)


class PutBesideCitations(SphinxPostTransform):
    """Beside the first citation of each work on a page, in running text, put its side note."""

    default_priority = 800  # after the citations have become links to the references
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        works = works_of(self.env)
        cited = {one for node in self.document.findall(nodes.citation) for one in node["ids"]}
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


def works_of(env: BuildEnvironment) -> dict[str, Entry]:
    """Return the entry of each work by the name of its place in a list of references."""
    return {one.citation_id: one.entry for one in env.get_domain("cite").citations}


def short(work: Entry) -> str:
    """Return a work's author, title and year."""
    authors = [one.rich_prelast_names + one.rich_last_names for one in work.persons["author"]]
    names = [" ".join(map(str, one)) for one in authors]
    who = f"{names[0]} et al" if len(names) > 2 else " and ".join(names)
    return f"{who}. {Text.from_latex(work.fields['title'])}. {work.fields['year']}."


def paragraph_of(node: nodes.Node) -> nodes.paragraph | None:
    """Return the paragraph, with the margin beside it, in which a node stands."""
    paragraph = node.parent
    while isinstance(paragraph, nodes.Inline):
        paragraph = paragraph.parent
    running = isinstance(paragraph, nodes.paragraph) and isinstance(paragraph.parent, nodes.section)
    return paragraph if running else None


def visible(section: nodes.section) -> Iterator[nodes.Element]:
    """Yield what is seen of a section below its title."""
    for node in section.children:
        if not isinstance(node, (*UNSEEN, nodes.title)):
            yield node


def is_wide(node: nodes.Element) -> bool:
    """Tell whether a note has to end above a node."""
    return not isinstance(node, (*NARROW, nodes.section))


def place(run: list[nodes.Element], notes: dict[int, list[str]]) -> None:
    """Put the notes of some blocks beside them, each as far down as it has room.

    run: blocks with nothing wide between them. notes: those of a paragraph, by its identity.
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
            beside = [one for one in blocks if one.top <= start and can_hold(one.node)]
            if beside:
                beside[-1].notes.insert(0, note)
                room = beside[-1].top
    for block in blocks:
        for note in reversed(block.notes):
            block.node.insert(0, sidenote("", note))


def can_hold(node: nodes.Element) -> bool:
    """Tell whether a note can be written at the beginning of a block."""
    return isinstance(node, nodes.paragraph)


def height(node: nodes.Element) -> int:
    """Return about how high a block is, in pixels; rather too little than too much."""
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
