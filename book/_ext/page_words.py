"""The words of a line of a page, as whoever reads them aloud would say them."""

from collections.abc import Iterator

from docutils import nodes
from sphinx.addnodes import pending_xref

UNSAID = (nodes.raw, nodes.image)
"""What is left out of a line; of a formula, dots are left."""


def said(node: nodes.Node) -> str:
    """Return the words of a line, in one line."""
    return " ".join("".join(words(node)).split())


def words(node: nodes.Node) -> Iterator[str]:
    """Yield the texts of a line: dots for a formula, and nothing for a link still to be named."""
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, pending_xref) and not node.get("refexplicit"):
        return
    elif isinstance(node, nodes.math):
        yield "…"
    elif not isinstance(node, UNSAID):
        for child in node.children:
            yield from words(child)
