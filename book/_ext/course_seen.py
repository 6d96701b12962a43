"""The part that a prediction closes: everything up to its `seen`, including cells and figures.

A directive cannot contain a cell, so the nodes between the two are wrapped in a single node after
the page has been read. `closed.js` closes that part before the browser paints it. Readers without
JavaScript, and readers who open the page as a file or print it, see the part open.
"""

from pathlib import Path

from course_predict import prediction, seen_end
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

CLOSES = Path(__file__).parents[1].joinpath("_web", "closed.js").read_text(encoding="utf-8")
OPENS = """window.addEventListener("load", () => {
    for (const answer of document.querySelectorAll(".seen")) {
        answer.removeAttribute("hidden");
        delete answer.previousElementSibling.dataset.state;
    }
});"""
"""The script that opens the answers if `predict.mjs` cannot be loaded, and so cannot open them."""

logger = logging.getLogger(__name__)


class seen(nodes.container):
    """The part that stays closed until the reader has made a guess. Only HTML closes it."""


class CloseAnswers(SphinxTransform):
    """Wrap the nodes between each prediction and its `seen` in a single node."""

    default_priority = 400

    def apply(self, **keywords: object) -> None:
        pieces = (prediction, seen_end)
        matches = list(self.document.findall(lambda node: isinstance(node, pieces)))
        for parent in dict.fromkeys(node.parent for node in matches):
            self.close(parent)

    def close(self, parent: nodes.Element) -> None:
        """Close the answers among the children of `parent`."""
        question: prediction | None = None
        for node in list(parent.children):
            if isinstance(node, prediction):
                if question:
                    self.warn(question, f"it has no `seen` before the next prediction. {REPAIR}")
                question = node
            elif isinstance(node, nodes.section) and question:
                self.warn(question, f"it has no `seen` before the next heading. {REPAIR}")
                question = None
            elif isinstance(node, seen_end):
                if question:
                    self.wrap(question, node)
                else:
                    self.warn(node, f"this `seen` has no prediction before it. {REPAIR}")
                    parent.remove(node)
                question = None
        if question:
            self.warn(question, f"it has no `seen` in its section. {REPAIR}")

    def wrap(self, question: prediction, end: seen_end) -> None:
        """Wrap the nodes between the two, and the content of `end`, in a single node."""
        parent = question.parent
        first, last = parent.index(question) + 1, parent.index(end)
        answers, compares = parent.children[first:last], end.children
        if not answers and not compares:
            self.warn(question, f"there is no answer between it and its `seen`. {REPAIR}")
        identity = f"{question['ids'][0]}-seen" if question["ids"] else ""
        parent.children[first : last + 1] = []
        parent.insert(first, seen("", *answers, *right_choice(question), *compares, ids=[identity]))

    def warn(self, node: nodes.Element, problem: str) -> None:
        place = (self.env.docname, node["line"])
        logger.warning("malformed prediction: %s", problem, location=place)


def right_choice(question: prediction) -> list[nodes.Node]:
    """Return a line that names the right choice, for readers without the scripts; else nothing."""
    if "right" not in question:
        return []
    return [nodes.paragraph("", f"It was {question['right']}.", classes=["predict-was"])]


REPAIR = (
    "Write ```{predict}, then the answer, then ```{seen}, without a heading or another "
    "prediction between them."
)


def visit_seen(self: HTML5Translator, node: seen) -> None:
    self.body.append(self.starttag(node, "div", CLASS="seen"))
    self.body.append(f"<script>{CLOSES}</script>\n")


def depart_seen(self: HTML5Translator, node: seen) -> None:
    self.body.append("</div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load `predict.mjs` on each page that has a prediction."""
    if doctree is not None and next(doctree.findall(seen), None) is not None:
        app.add_js_file("predict.mjs", type="module", onerror=OPENS)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(CloseAnswers)
    app.add_node(seen, html=(visit_seen, depart_seen))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
