"""The text of a node of a page in plain words, as a person would read it aloud."""

from collections.abc import Iterator

from course_notes import sidenote
from docutils import nodes
from sphinx.addnodes import pending_xref
from tex_as_text import as_text

UNSAID = (nodes.raw, nodes.image, sidenote)
"""Nodes whose text is left out."""


def plain_text(node: nodes.Node) -> str:
    """Return the text of a node, in a single line."""
    return " ".join("".join(words(node)).split())


def words(node: nodes.Node) -> Iterator[str]:
    """Yield the texts in a node; nothing for a link whose text Sphinx has not filled in yet."""
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, pending_xref) and not node.get("refexplicit"):
        return
    elif isinstance(node, nodes.math):
        yield as_text(node.astext())
    elif not isinstance(node, UNSAID):
        for child in node.children:
            yield from words(child)
