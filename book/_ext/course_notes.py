"""Side notes: where a work is cited first on a page, what it is stands in the margin beside it.

There is a margin on a wide screen only; on a narrow one, and on paper, a citation leads to the list
of references at the end of the page. So a side note is for the eye alone: whoever hears the page
has the list.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class sidenote(nodes.Inline, nodes.TextElement):
    """What a cited work is: its author, title and year."""


class PutBesideCitations(SphinxPostTransform):
    """After the first citation of each work on a page, in running text, put its side note."""

    default_priority = 800  # after the citations have become links to the references
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        works = {name: one for one in self.document.findall(nodes.citation) for name in one["ids"]}
        for link in list(self.document.findall(nodes.reference)):
            work = works.pop(link.get("refid", ""), None)
            if work is not None and in_running_text(link):
                text = work.children[-1].astext()
                link.parent.insert(link.parent.index(link) + 1, sidenote("", text))


def in_running_text(node: nodes.Node) -> bool:
    """Tell whether a node stands in a paragraph that has the margin beside it."""
    paragraph = node.parent
    while isinstance(paragraph, nodes.Inline):
        paragraph = paragraph.parent
    return isinstance(paragraph, nodes.paragraph) and isinstance(paragraph.parent, nodes.section)


def visit_sidenote(translator: nodes.NodeVisitor, node: sidenote) -> None:
    translator.body.append('<span class="side-note" aria-hidden="true">')


def depart_sidenote(translator: nodes.NodeVisitor, node: sidenote) -> None:
    translator.body.append("</span>")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(sidenote, html=(visit_sidenote, depart_sidenote))
    app.add_post_transform(PutBesideCitations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
