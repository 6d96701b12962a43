"""Filters that render students' texts in feedback pages and in the formgrader.

A subprocess renders Markdown and code, because the parser takes hours for some texts. A text that
exceeds the limits is shown as plain text. The subprocess runs `markup`; the thread that renders a
page starts it, writes requests to its stdin, reads answers from its stdout, and may kill it.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import json
import select
import subprocess
import sys
import threading
import time
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

CELL_SECONDS = 2.0
"""Seconds of CPU time for the text of a cell. An ordinary cell needs a hundredth of that."""

PAGE_SECONDS = 8.0
"""Seconds of CPU time for all texts of a page."""

PAGE_CHARACTERS = 2**21
"""The limit on the HTML of a page, since the exporter and browsers are slow with more."""

SECONDS = 60.0
"""Seconds of wall-clock time for a text, generous because the machine may be busy."""


class _Process:
    """The subprocess that runs `markup`. It is started when needed, and restarted after its end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, kind: str, source: str, seconds: float) -> dict[str, Any] | None:
        """Return the answer of `markup`, or None if it failed or took too long."""
        process = self._process
        if process is None or process.poll() is not None:
            self.end()
            command = [sys.executable, "-m", "autograder.nbgrader.markup"]
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert process.stdin is not None
        request = json.dumps({"kind": kind, "source": source, "seconds": seconds})
        try:
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            answer: dict[str, Any] | None = json.loads(_line(process))
        except (OSError, ValueError):
            self.end()
            return None
        return answer

    def end(self) -> None:
        """Kill the process, if it was started."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def _line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the next line of output, incomplete if the process ends or exceeds a limit."""
    assert process.stdout is not None
    deadline = time.monotonic() + SECONDS
    output = bytearray()
    while not output.endswith(b"\n") and len(output) < 16 * PAGE_CHARACTERS:
        remaining = deadline - time.monotonic()
        ready, _, _ = select.select([process.stdout], [], [], max(remaining, 0))
        piece = process.stdout.read1(2**20) if ready else b""  # type: ignore[attr-defined]
        if not piece:
            break
        output += piece
    return bytes(output)


class _PageBudget:
    """The CPU time and the HTML that are left for the current page."""

    def __init__(self) -> None:
        self._process = _Process()
        self._lock = threading.Lock()
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
        seconds = min(CELL_SECONDS, self._seconds)
        if seconds < 0.1 or len(source) > self._characters:
            return None
        answer = self._process.ask(kind, source, seconds)
        self._seconds -= seconds if answer is None else answer["seconds"]
        rendered = None if answer is None else answer["html"]
        if rendered is None or len(rendered) > self._characters:
            return None
        self._characters -= len(rendered)
        return str(rendered)


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
