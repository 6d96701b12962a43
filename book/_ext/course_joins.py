"""Line breaks: keep together what should not be split between two lines.

That is a formula with the text that touches it, a number with its unit, and in titles a small word
with the next word, and the words before a colon.

A browser treats a formula as a picture and may break the line on either side of it, even without a
space there. So a formula and the text that touches it are put into an element that is not broken.
The space in `43 %` becomes a no-break space.
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
SPACE = r"[^\S\u00a0]"  # a space at which a line may end
PIECES = re.compile(rf"\A[\S\u00a0]+|[\S\u00a0]+\Z|{SPACE}(?:.*{SPACE})?", re.DOTALL)
AS_TYPED = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


class KeepTogether(SphinxPostTransform):
    """Join formulas with the text that touches them, and numbers with their units."""

    default_priority = 850  # after the transforms that put numbers and citations into the text
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, AS_TYPED):
                join(text)
        for parent in {
            id(formula.parent): formula.parent for formula in formulas(self.document)
        }.values():
            join_formulas(parent)


def join(text: nodes.Text) -> None:
    """Put no-break spaces into a text; the number of a unit may be in the node before it."""
    siblings = text.parent.children
    at = siblings.index(text)
    after_number = at > 0 and siblings[at - 1].astext()[-1:].isdigit()
    joined = UNIT.sub(
        lambda match: NO_BREAK if match.start() or after_number else " ", text.astext()
    )
    if isinstance(text.parent, nodes.title):
        joined = SMALL_WORD.sub(rf"\1{NO_BREAK}", joined)
        joined = BEFORE_COLON.sub(lambda match: f"{match[0][:-1].replace(' ', NO_BREAK)} ", joined)
    if joined != text:
        text.parent.replace(text, nodes.Text(joined))


def formulas(document: nodes.document) -> Iterator[nodes.Element]:
    """Yield each formula in a line of text, or the inline node that holds only it, as `**$x$**`."""
    for formula in document.findall(nodes.math):
        outer: nodes.Element = formula
        while isinstance(outer.parent, nodes.Inline) and len(outer.parent.children) == 1:
            outer = outer.parent
        yield outer


def join_formulas(parent: nodes.Element) -> None:
    """Put each formula below `parent` and the text that touches it into an unbroken element."""
    children: list[nodes.Node] = []
    for solid, run in groupby(pieces(parent), is_solid):
        group = list(run)
        if solid and len(group) > 1 and any(not isinstance(node, nodes.Text) for node in group):
            children.append(nodes.inline("", "", *group, classes=[UNBROKEN]))
        else:
            children += group
    parent.children.clear()
    parent += children


def pieces(parent: nodes.Element) -> Iterator[nodes.Node]:
    """Yield the children of a node, each text split into first word, middle and last word."""
    for child in parent.children:
        if isinstance(child, nodes.Text):
            yield from map(nodes.Text, PIECES.findall(child.astext()))
        else:
            yield child


def is_solid(node: nodes.Node) -> bool:
    """Return whether a node offers no place for a line break."""
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
