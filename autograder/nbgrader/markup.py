"""Convert a student's text to HTML that is safe to show, in a subprocess of `rendering`.

The HTML must not be changed after it is cleaned here: a filter of nbconvert that ran later once
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

from .formulas import ATTRIBUTES, DISPLAYED, is_harmless, mathml
from .formulas import TAGS as FORMULA_TAGS

MEMORY = 2**30
"""The limit on the address space of the process, in bytes."""

TAGS = frozenset(
    {"a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt"}
    | {"em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "li", "ol", "p", "pre", "s"}
    | {"span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
"""The elements of Markdown, without any that load or run something, or imitate the page."""

OTHER_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(TAGS))})[ \t\n\f\r/>])", re.IGNORECASE)
"""Matches a `<` that does not begin one of `TAGS`."""

LINK = re.compile(r"(https?://|mailto:|#)[^\x00-\x20\x7f-\x9f]*", re.IGNORECASE)
"""Matches the links that are kept: to other sites, to e-mail addresses, and within the page. Links
to the server that shows the page are removed."""

PICTURE = "[A picture is not shown here ({}). It is in the submitted notebook.]"


class Renderer(IPythonRenderer):
    """nbconvert's renderer, with notes in place of pictures, and with formulas set aside.

    A formula is replaced by a mark that a student cannot guess. `insert_formulas` replaces marks by
    MathML after the student's own tags have become text, so all MathML in a page is from here.
    """

    def __init__(self) -> None:
        """Begin a new text, with a new mark."""
        super().__init__(escape=False, exclude_anchor_links=True)
        self._mark = f"formula-{secrets.token_hex(16)}"
        self._formulas: list[str] = []

    def inline_math(self, body: str) -> str:
        """Return a formula within a line."""
        return self._set_aside(body, block=False) or super().inline_math(body)

    def block_math(self, body: str) -> str:
        """Return a displayed formula."""
        return self._set_aside(body, block=True) or super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        """Return the formulas of an environment, or a matrix outside a formula."""
        whole = body if DISPLAYED.fullmatch(name) else f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return self._set_aside(whole, block=True) or super().latex_environment(name, body)

    def insert_formulas(self, html: str) -> str:
        """Return `html` with all marks replaced by their formulas."""
        mark = re.compile(rf"{self._mark}-(\d+);")
        return mark.sub(lambda match: self._formulas[int(match[1])], html)

    def _set_aside(self, source: str, *, block: bool) -> str | None:
        """Store a formula and return its mark, or None if the formula cannot be read."""
        formula = mathml(source, block=block)
        if formula is None:
            return None
        self._formulas.append(formula)
        return f"{self._mark}-{len(self._formulas) - 1};"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return a note in place of a picture. Its alternative `text` is escaped later."""
        return PICTURE.format(text or url[:80])


def markdown(source: str) -> str:
    """Render Markdown as HTML, in which all tags except harmless ones are shown as text."""
    renderer = Renderer()
    rendered = MarkdownWithMath(renderer=renderer).render(source)
    # OTHER_TAG only makes unknown tags visible as text. nh3 alone is responsible for safety.
    return nh3.clean(
        renderer.insert_formulas(OTHER_TAG.sub("&lt;", rendered)),
        tags=TAGS | FORMULA_TAGS,
        attributes={
            "a": {"href", "title"},
            **{tag: set(ATTRIBUTES) for tag in FORMULA_TAGS},
            "*": set(),
        },
        attribute_filter=_filter_attribute,
        link_rel=None,
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if tag in FORMULA_TAGS:
        return value if is_harmless(value) else None
    return value if name == "title" or LINK.fullmatch(value) else None


def highlight(source: str) -> str:
    """Return Python code as coloured HTML."""
    return str(Highlight2HTML()(source))


def main() -> None:
    """Answer requests, a line of JSON each: {"kind", "source", "seconds"} to {"html", "seconds"}.

    A request that exceeds its limit of CPU seconds ends the process. The answer's "html" is null if
    the text cannot be rendered, or if the exporter could not parse the HTML.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        html = _render(request)
        remaining, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        answer = {"html": html, "seconds": request["seconds"] - remaining}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _render(request: dict[str, Any]) -> str | None:
    try:
        html = {"markdown": markdown, "highlight": highlight}[request["kind"]](request["source"])
        str(BeautifulSoup(html, features="html.parser"))  # the exporter parses every page like this
    except (Exception, RecursionError):
        return None
    return html


if __name__ == "__main__":
    main()
