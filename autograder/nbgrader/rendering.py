"""The filters by which every page, ours and the formgrader's, shows what a student wrote.

Markdown and code are rendered in a process of their own, since there are texts on which the parser
takes hours. What it cannot render within its limits is shown as plain text.
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
"""Seconds of CPU time for the text of one cell, which an honest one needs a hundredth of."""

PAGE_SECONDS = 8.0
"""Seconds of CPU time for all texts of one page."""

PAGE_CHARACTERS = 2**21
"""The most HTML for one page; more of it would keep the exporter and the browser for too long."""

SECONDS = 60.0
"""Seconds of the wall clock for one text, on a machine that has other things to do."""


class _Process:
    """The process of `markup`, started when it is needed, and again after it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, kind: str, source: str, seconds: float) -> dict[str, Any] | None:
        """What `markup` answers, or None if it failed or took too long."""
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
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def _line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line of its output; cut off if it ends, takes too long or says too much."""
    assert process.stdout is not None
    deadline = time.monotonic() + SECONDS
    heard = bytearray()
    while not heard.endswith(b"\n") and len(heard) < 16 * PAGE_CHARACTERS:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([process.stdout], [], [], max(left, 0))
        piece = process.stdout.read1(2**20) if ready else b""  # type: ignore[attr-defined]
        if not piece:
            break
        heard += piece
    return bytes(heard)


class _Page:
    """What one page may still cost."""

    def __init__(self) -> None:
        self._process = _Process()
        self._lock = threading.Lock()
        atexit.register(self._process.end)
        self.begin()

    def begin(self) -> None:
        """Start anew, for the next page."""
        self._seconds, self._characters = PAGE_SECONDS, PAGE_CHARACTERS

    def render(self, kind: str, source: str) -> str:
        """The HTML of one text, or the text itself, escaped."""
        with self._lock:
            made = self._made(kind, source)
        return f"<pre>{html.escape(source)}</pre>" if made is None else made

    def _made(self, kind: str, source: str) -> str | None:
        seconds = min(CELL_SECONDS, self._seconds)
        if seconds < 0.1 or len(source) > self._characters:
            return None
        answer = self._process.ask(kind, source, seconds)
        self._seconds -= seconds if answer is None else answer["seconds"]
        made = None if answer is None else answer["html"]
        if made is None or len(made) > self._characters:
            return None
        self._characters -= len(made)
        return str(made)


_PAGE = _Page()


class NewPage(Preprocessor):
    """Tells the filters that a page begins: no page pays for the one before it."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change nothing."""
        _PAGE.begin()
        return nb, resources


def clean_markdown(source: str) -> str:
    """The filter `markdown2html`: every tag but the harmless ones is shown as text."""
    return _PAGE.render("markdown", source)


def highlight_code(source: str, language: str | None = None, metadata: object = None) -> str:
    """The filter `highlight_code`: all code is Python, whatever its first line says."""
    return _PAGE.render("highlight", source or " ")


def unchanged(text: str) -> str:
    """The filter `strip_files_prefix`, which comes after the cleaning: it may change nothing."""
    return text
