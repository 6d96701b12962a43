"""What stays in one line: a formula with what touches it, a number with its unit, and in a title a
small word with the next one, and what stands before a colon.

A browser may break a line at either side of a formula, whatever stands there: it takes a formula
for a picture. So a formula, and all that follows or precedes it without a space, become one piece
that is not broken. In `43 %` the space is one at which no line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

UNBROKEN = "unbroken"
NO_BREAK = "\N{NO-BREAK SPACE}"
SMALL_WORD = re.compile(r"(?i)\b(an?|at|by|chapter|how|in|is|of|on|one|or|the|to|two|with) ")
BEFORE_COLON = re.compile(r"\A.{1,14}?: ")  # as much as fits on one line of a narrow phone
UNIT = re.compile(r"(^|(?<=\d)) (?=%|(?:[kMG]?B|m?s|px)\b)")
SPACE = r"[^\S\u00a0]"  # at which a line may end
PIECES = re.compile(rf"\A[\S\u00a0]+|[\S\u00a0]+\Z|{SPACE}(?:.*{SPACE})?", re.DOTALL)
AS_TYPED = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


class KeepTogether(SphinxPostTransform):
    """Join formulas with what touches them, and numbers with their units."""

    default_priority = 850  # after all that puts numbers and citations into the text
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, AS_TYPED):
                join(text)
        for parent in {id(one.parent): one.parent for one in formulas(self.document)}.values():
            join_formulas(parent)


def join(text: nodes.Text) -> None:
    """Let no line end where it should not; the number of a unit may stand in the node before."""
    siblings = text.parent.children
    at = siblings.index(text)
    after_number = at > 0 and siblings[at - 1].astext()[-1:].isdigit()
    joined = UNIT.sub(
        lambda found: NO_BREAK if found.start() or after_number else " ", text.astext()
    )
    if isinstance(text.parent, nodes.title):
        joined = SMALL_WORD.sub(rf"\1{NO_BREAK}", joined)
        joined = BEFORE_COLON.sub(lambda found: f"{found[0][:-1].replace(' ', NO_BREAK)} ", joined)
    if joined != text:
        text.parent.replace(text, nodes.Text(joined))


def formulas(document: nodes.document) -> Iterator[nodes.Element]:
    """Yield each formula in a line of text, or what holds it and nothing else, as `**$x$**`."""
    for formula in document.findall(nodes.math):
        outer: nodes.Element = formula
        while isinstance(outer.parent, nodes.Inline) and len(outer.parent.children) == 1:
            outer = outer.parent
        yield outer


def join_formulas(parent: nodes.Element) -> None:
    """Make one piece of each formula below `parent` and what touches it there."""
    children: list[nodes.Node] = []
    for solid, run in groupby(pieces(parent), is_solid):
        found = list(run)
        if solid and len(found) > 1 and any(not isinstance(one, nodes.Text) for one in found):
            children.append(nodes.inline("", "", *found, classes=[UNBROKEN]))
        else:
            children += found
    parent.children.clear()
    parent += children


def pieces(parent: nodes.Element) -> Iterator[nodes.Node]:
    """Yield the children of a node, each text as what it begins with, its middle, and its end."""
    for child in parent.children:
        if isinstance(child, nodes.Text):
            yield from map(nodes.Text, PIECES.findall(child.astext()))
        else:
            yield child


def is_solid(node: nodes.Node) -> bool:
    """Tell whether a line may neither end nor begin within a node."""
    if isinstance(node, nodes.Text):
        return not re.search(SPACE, node.astext())
    return isinstance(node, nodes.math) or (
        isinstance(node, nodes.Inline)
        and len(node.children) == 1
        and is_solid(node.children[0])
        and any(node.findall(nodes.math))
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(KeepTogether)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
