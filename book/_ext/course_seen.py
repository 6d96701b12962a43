"""What a prediction closes: all that stands between it and its `seen`, cells and figures included.

A cell cannot stand inside a directive, so the nodes between the two are put into one part of the
page once the page has been read. `closed.js` closes it before it is painted; whoever has no
JavaScript, opens the page as a file, or prints it, sees it open.
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
"""What is done where `predict.mjs` cannot be loaded: nothing else would open the page again."""

logger = logging.getLogger(__name__)


class seen(nodes.container):
    """What is closed until the prediction before it has got a guess. Only HTML closes it."""


class CloseAnswers(SphinxTransform):
    """Put what stands between each prediction and its `seen` into one part of the page."""

    default_priority = 400

    def apply(self, **keywords: object) -> None:
        pieces = (prediction, seen_end)
        found = list(self.document.findall(lambda node: isinstance(node, pieces)))
        for parent in dict.fromkeys(node.parent for node in found):
            self.close(parent)

    def close(self, parent: nodes.Element) -> None:
        """Close the answers among the children of `parent`."""
        asked: prediction | None = None
        for node in list(parent.children):
            if isinstance(node, prediction):
                if asked:
                    self.warn(asked, f"it has no `seen` before the next prediction. {REPAIR}")
                asked = node
            elif isinstance(node, nodes.section) and asked:
                self.warn(asked, f"it has no `seen` before the next heading. {REPAIR}")
                asked = None
            elif isinstance(node, seen_end):
                if asked:
                    self.wrap(asked, node)
                else:
                    self.warn(node, f"this `seen` ends no prediction of its section. {REPAIR}")
                    parent.remove(node)
                asked = None
        if asked:
            self.warn(asked, f"it has no `seen` in its section. {REPAIR}")

    def wrap(self, asked: prediction, end: seen_end) -> None:
        """Put what is between the two, and the content of `end`, into one part of the page."""
        parent = asked.parent
        first, last = parent.index(asked) + 1, parent.index(end)
        answers, compares = parent.children[first:last], end.children
        if not answers and not compares:
            self.warn(asked, f"nothing stands between it and its `seen`. {REPAIR}")
        identity = f"{asked['ids'][0]}-seen" if asked["ids"] else ""
        parent.children[first : last + 1] = []
        parent.insert(first, seen("", *answers, *was(asked), *compares, ids=[identity]))

    def warn(self, node: nodes.Element, problem: str) -> None:
        place = (self.env.docname, node["line"])
        logger.warning("malformed prediction: %s", problem, location=place)


def was(asked: prediction) -> list[nodes.Node]:
    """Return what says which choice was right, for a reader to whom the scripts do not say it."""
    if "right" not in asked:
        return []
    return [nodes.paragraph("", f"It was {asked['right']}.", classes=["predict-was"])]


REPAIR = (
    "Write ```{predict}, then what answers it, then ```{seen}, without a heading or another "
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
    """Load `predict.mjs` on the pages that have a prediction."""
    if doctree is not None and next(doctree.findall(seen), None) is not None:
        app.add_js_file("predict.mjs", type="module", onerror=OPENS)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(CloseAnswers)
    app.add_node(seen, html=(visit_seen, depart_seen))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
