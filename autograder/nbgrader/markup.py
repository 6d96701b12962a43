"""HTML that is safe to show, made of a student's text. Runs in the process of `rendering`.

Nothing may change the HTML after it is cleaned here: a filter of nbconvert's that came later once
turned `/files/javascript:...` into a live link.
"""

from __future__ import annotations

import json
import re
import resource
import secrets
import signal
import sys
from typing import Any

import nh3
from bs4 import BeautifulSoup
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from .formulas import ATTRIBUTES, DISPLAYED, harmless, mathml
from .formulas import TAGS as FORMULA_TAGS

MEMORY = 2**30
"""The most address space of the process, in bytes."""

TAGS = frozenset(
    {"a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt"}
    | {"em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "li", "ol", "p", "pre", "s"}
    | {"span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
"""What Markdown makes, and nothing that loads, runs, or dresses up as the page around it."""

NO_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(TAGS))})[ \t\n\f\r/>])", re.IGNORECASE)
"""What opens anything but one of `TAGS`."""

LINK = re.compile(r"(https?://|mailto:|#)[^\x00-\x20\x7f-\x9f]*", re.IGNORECASE)
"""The links that stay: to other sites, to people, and within the page. None into the server."""

PICTURE = "[A picture, not shown here ({}). It is in the notebook that was handed in.]"


class Renderer(IPythonRenderer):
    """nbconvert's, with a note in the place of a picture, and formulas set aside.

    A formula leaves a mark that nobody can guess. `insert_formulas` puts the MathML there when the
    student's own tags are text: so all MathML in a page was made here.
    """

    def __init__(self) -> None:
        """Begin a text of its own, with a mark of its own."""
        super().__init__(escape=False, exclude_anchor_links=True)
        self._mark = f"formula-{secrets.token_hex(16)}"
        self._formulas: list[str] = []

    def inline_math(self, body: str) -> str:
        """Draw a formula in a line."""
        return self._drawn(body, block=False) or super().inline_math(body)

    def block_math(self, body: str) -> str:
        """Draw a formula on a line of its own."""
        return self._drawn(body, block=True) or super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        """Draw the formulas of an environment, or a matrix that stands alone."""
        whole = body if DISPLAYED.fullmatch(name) else f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return self._drawn(whole, block=True) or super().latex_environment(name, body)

    def insert_formulas(self, html: str) -> str:
        """Return `html` with the formulas in the places of their marks."""
        mark = re.compile(rf"{self._mark}-(\d+);")
        return mark.sub(lambda found: self._formulas[int(found[1])], html)

    def _drawn(self, source: str, *, block: bool) -> str | None:
        """Return the mark of a formula, or None if it cannot be read."""
        formula = mathml(source, block=block)
        if formula is None:
            return None
        self._formulas.append(formula)
        return f"{self._mark}-{len(self._formulas) - 1};"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Say that a picture is there; `text` is its alternative text, which is escaped later."""
        return PICTURE.format(text or url[:80])


def markdown(source: str) -> str:
    """Render Markdown as HTML; every tag but the harmless ones is shown as text."""
    renderer = Renderer()
    rendered = MarkdownWithMath(renderer=renderer).render(source)
    # That text is shown, not lost, is decided here; that nothing lives is decided by nh3 alone.
    return nh3.clean(
        renderer.insert_formulas(NO_TAG.sub("&lt;", rendered)),
        tags=TAGS | FORMULA_TAGS,
        attributes={
            "a": {"href", "title"},
            **{tag: set(ATTRIBUTES) for tag in FORMULA_TAGS},
            "*": set(),
        },
        attribute_filter=_harmless,
        link_rel=None,
    )


def _harmless(tag: str, name: str, value: str) -> str | None:
    if tag in FORMULA_TAGS:
        return value if harmless(value) else None
    return value if name == "title" or LINK.fullmatch(value) else None


def highlight(source: str) -> str:
    """Python code as coloured HTML."""
    return str(Highlight2HTML()(source))


def main() -> None:
    """Answer requests, a line of JSON each: {"kind", "source", "seconds"} to {"html", "seconds"}.

    A request that takes more seconds of CPU time than it may ends the process. What cannot be
    rendered, or cannot be read again by the exporter, is answered with null.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        html = _rendered(request)
        left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        answer = {"html": html, "seconds": request["seconds"] - left}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _rendered(request: dict[str, Any]) -> str | None:
    try:
        html = {"markdown": markdown, "highlight": highlight}[request["kind"]](request["source"])
        str(BeautifulSoup(html, features="html.parser"))  # the exporter does so with every page
    except (Exception, RecursionError):
        return None
    return html


if __name__ == "__main__":
    main()
