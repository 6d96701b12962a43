"""The `predict` directive: a question that the reader answers before the next cell does."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TITLE = "Predict, then see"


class Predict(SphinxDirective):
    """An admonition with a fixed title. It takes a body and nothing else."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        box = nodes.admonition(classes=["predict"])
        self.set_source_info(box)
        box += nodes.title(TITLE, TITLE)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("predict", Predict)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
