"""Changes to the HTML that docutils writes: tables that are easy to read, also when read aloud."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

NUMBER = re.compile(r"[-+\u2212~]?\d[\d.,]*(\s?(%|[kMG]?B|ms|s|min|hours?|\u00d7))?")
NOTHING = ("", "-", "\u2013", "\u2014")


class CourseTranslator(HTML5Translator):
    """Sphinx's translator, with tables and roles that pass axe-core's accessibility rules."""

    def visit_table(self, node: nodes.table) -> None:
        """Put a table into a box that scrolls, and align its columns of numbers."""
        align_numbers(node)
        self.body.append('<div class="table-scroll">')
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        super().depart_table(node)
        self.body.append("</div>\n")

    def visit_entry(self, node: nodes.entry) -> None:
        """Write an empty cell in the head of a table as `td`, since it is not a heading."""
        if isinstance(node.parent.parent, nodes.thead) and not node.astext().strip():
            node.parent.column += 1
            node.children.clear()
            self.body.append(self.starttag(node, "td", "", classes=["head"]))
            self.context.append("</td>\n")
        else:
            super().visit_entry(node)

    def starttag(
        self, node: nodes.Element, tagname: str, *args: object, **attributes: object
    ) -> str:
        """Give an entry of the references a role that ARIA 1.2 allows in a list."""
        if attributes.get("role") == "doc-biblioentry":
            attributes["role"] = "listitem"
        return str(super().starttag(node, tagname, *args, **attributes))


def align_numbers(table: nodes.table) -> None:
    """Right-align each column of numbers and its heading. No cell may span two columns."""
    rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
    for column in zip(*rows, strict=False):
        texts = [cell.astext() for cell in column if isinstance(cell.parent.parent, nodes.tbody)]
        numbers = [text for text in texts if text not in NOTHING]
        if numbers and all(map(NUMBER.fullmatch, numbers)):
            for cell in column:
                cell["classes"].append("text-right")


def setup(app: Sphinx) -> dict[str, bool]:
    for builder in ("html", "singlehtml"):
        app.set_translator(builder, CourseTranslator, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
