"""Folds with labels that name their content: "The code of this figure" instead of "source".

A cell with the tag `hide-input` gets its label from its output. Its code is folded below that
output, so that a figure comes first. A cell that only checks something, or defines what other cells
need, has the tag `remove-cell`: it is executed, but the page does not show it.
"""

from docutils import nodes
from docutils.writers.html5_polyglot import HTMLTranslator
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

FIGURE = "The code of this figure"
CHECKS = "The code that checks these sentences"
OUTPUT = "The code of this output"
IMPORTS = "The imports of this page"
UNLABELLED = "Show code cell {type}"  # MyST-NB's default if a cell has no label


class Fold(nodes.container):
    """A part of the page that the reader can open; `label` names its content."""

    def __init__(self, label: str = "", *children: nodes.Node, **attributes: object) -> None:
        super().__init__("", *children, label=label, **attributes)


def visit_fold(translator: HTMLTranslator, node: Fold) -> None:
    translator.body.append(translator.starttag(node, "details", CLASS="fold"))
    translator.body.append(f"<summary>{translator.encode(node['label'])}</summary>\n")


def depart_fold(translator: HTMLTranslator, node: Fold) -> None:
    translator.body.append("</details>\n")


def visit_fold_as_text(translator: SphinxTranslator, node: Fold) -> None:
    translator.add_text(f"{node['label']}\n\n")


def fold_cells(app: Sphinx, document: nodes.document) -> None:
    """Fold the code of each cell with the tag `hide-input`, below the cell's output."""
    for cell in list(document.findall(nodes.container)):
        if cell.get("hide_mode") == "input" and cell.children:
            has_label = cell["prompt_show"] != UNLABELLED
            source, *outputs = cell.children
            fold = Fold(cell["prompt_show"] if has_label else label(cell), source)
            cell.children.clear()
            cell += [*outputs, fold]
            del cell["hide_mode"]


def label(cell: nodes.container) -> str:
    """Return the label of a folded cell."""
    if any(cell.findall(nodes.figure)) or any(cell.findall(nodes.image)):
        return FIGURE
    source = next(cell.findall(nodes.literal_block), None)
    lines = source.astext().splitlines() if source else []
    if any(line.lstrip().startswith("assert ") for line in lines):
        return CHECKS
    return OUTPUT if len(cell.children) > 1 else IMPORTS


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(Fold, html=(visit_fold, depart_fold), text=(visit_fold_as_text, None))
    app.connect("doctree-read", fold_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
