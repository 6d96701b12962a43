"""The words of a line of a page, as whoever reads them aloud would say them."""

from collections.abc import Iterator

from course_notes import sidenote
from docutils import nodes
from sphinx.addnodes import pending_xref
from tex_as_text import as_text

UNSAID = (nodes.raw, nodes.image, sidenote)
"""What is left out of a line."""


def said(node: nodes.Node) -> str:
    """Return the words of a line, in one line."""
    return " ".join("".join(words(node)).split())


def words(node: nodes.Node) -> Iterator[str]:
    """Yield the texts of a line; nothing for a link still to be named."""
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, pending_xref) and not node.get("refexplicit"):
        return
    elif isinstance(node, nodes.math):
        yield as_text(node.astext())
    elif not isinstance(node, UNSAID):
        for child in node.children:
            yield from words(child)
