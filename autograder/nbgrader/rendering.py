"""Filters that render students' texts in feedback pages and in the formgrader.

A subprocess renders Markdown and code, because the parser takes hours for some texts. A text that
exceeds the limits is shown as plain text. The subprocess runs `markup`, by way of a `Helper`.
"""

from __future__ import annotations

import atexit
import html
import threading
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from ..course.helper import Helper

CELL_SECONDS = 2.0
"""Seconds of CPU time for the text of a cell. An ordinary cell needs a hundredth of that."""

PAGE_SECONDS = 8.0
"""Seconds of CPU time for all texts of a page."""

PAGE_CHARACTERS = 2**21
"""The limit on the HTML of a page, since the exporter and browsers are slow with more."""

CACHED_TEXTS, CACHED_CHARACTERS = 1_000, 20_000
"""The number of rendered texts that are kept, and the length of the longest. The text of an
assignment is the same on the pages of all students."""

SECONDS = 60.0
"""Seconds of wall-clock time for a text, generous because the machine may be busy."""


class _PageBudget:
    """The CPU time and the HTML that are left for the current page."""

    def __init__(self) -> None:
        self._process = Helper("autograder.nbgrader.markup", 16 * PAGE_CHARACTERS, SECONDS)
        self._lock = threading.Lock()
        self._cache: dict[tuple[str, str], str] = {}
        atexit.register(self._process.end)
        self.begin()

    def begin(self) -> None:
        """Reset the limits for the next page."""
        self._seconds, self._characters = PAGE_SECONDS, PAGE_CHARACTERS

    def render(self, kind: str, source: str) -> str:
        """Return the HTML of a text, or the escaped text if rendering fails."""
        with self._lock:
            rendered = self._render(kind, source)
        return f"<pre>{html.escape(source)}</pre>" if rendered is None else rendered

    def _render(self, kind: str, source: str) -> str | None:
        rendered = self._cache.get((kind, source)) or self._ask(kind, source)
        if rendered is None or len(rendered) > self._characters:
            return None
        self._characters -= len(rendered)
        return rendered

    def _ask(self, kind: str, source: str) -> str | None:
        seconds = min(CELL_SECONDS, self._seconds)
        if seconds < 0.1 or len(source) > self._characters:
            return None
        request = {"kind": kind, "source": source, "seconds": seconds}
        answer = self._process.ask(request)
        self._seconds -= seconds if answer is None else answer["seconds"]
        if answer is None or answer["html"] is None:
            return None
        rendered = str(answer["html"])
        if max(len(source), len(rendered) // 8) <= CACHED_CHARACTERS:
            if len(self._cache) >= CACHED_TEXTS:
                del self._cache[next(iter(self._cache))]
            self._cache[kind, source] = rendered
        return rendered


_BUDGET = _PageBudget()


class NewPage(Preprocessor):
    """A preprocessor that resets the limits of the filters at the beginning of each page."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Reset the limits; leave the notebook unchanged."""
        _BUDGET.begin()
        return nb, resources


def clean_markdown(source: str) -> str:
    """Replace the filter `markdown2html`; all tags except harmless ones are shown as text."""
    return _BUDGET.render("markdown", source)


def highlight_code(source: str, language: str | None = None, metadata: object = None) -> str:
    """Replace the filter `highlight_code`; all code counts as Python, even after `%%bash`."""
    return _BUDGET.render("highlight", source or " ")


def unchanged(text: str) -> str:
    """Replace the filter `strip_files_prefix`, which must not change the cleaned HTML."""
    return text
