"""Call a student's test with many implementations, each in a copy of the process after the cells.

A test must not carry information from one implementation to the next, so each implementation is
called in a process that has called no other. Running the cells again for each would be slow.
Instead, the process that has run them, the original, stops there and waits. For each turn, the room
sends it the open files of a new process; the original forks a copy, which makes the call and
reports the result. Then the room ends the copy and all processes that the copy has started.

No student code runs in the original while copies live, and no copy can reach it: it has a single
thread and blocks signals, and no other process may read its memory or change its scheduling
(`seccomp`). So a copy could pass something to the next only by sharing it with the original. Before
the first turn, the room inspects the original from outside: there must be no other process, no
shared memory, no open file but those that are replaced in each copy, and nothing in the private
folders. If a cell reaches C by ctypes, the line to the room is shut, because the cell could make
code run in the original later. After each turn, the folders and the process numbers must be as
before (`traces`).

If any of this is violated, no turn counts, and the grader runs the cells again for each
implementation. Otherwise a copy could signal to later copies by changing the way they are run.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .answering import Answering
from .asking import LINE
from .gate import LAST_THREADS
from .listening import ENDING, Listener, Outcome
from .original import REPORT
from .status import Status
from .traces import Traces
from .usage import Watch

ANSWER_SECONDS = 10.0
"""The timeout for replies of the original, which normally come at once."""


class Turns:
    """The room's side: the original, and the turns that copies of it take."""

    def __init__(
        self,
        original: int,
        line: socket.socket,
        limits: dict[str, Any],
        watch: Watch,
        traces: Traces,
    ) -> None:
        """Manage the turns of `original`; `line` is the other end of its descriptor LINE."""
        self._original, self._line, self._limits = original, line, limits
        self._watch, self._traces = watch, traces
        line.settimeout(ANSWER_SECONDS)

    def outcome(
        self, reports: int, text: int, count: int, answering: Callable[[int], Answering]
    ) -> Outcome:
        """Take `count` turns, and return their results if each ended and nothing was shared.

        The original sends its messages on the pipe `reports` and prints on `text`. `answering`
        starts the process that answers in a turn. If the status is SHARED, no turn counts.
        """
        outcome = _CellListener(
            self._original, reports, text, self._limits, self._watch, None
        ).outcome()
        if outcome.status is not Status.ENDED:
            return outcome
        if not self._is_isolated():
            return Outcome(Status.SHARED)
        for number in range(count):
            turn = self._turn(answering(number))
            outcome.results += turn.results
            outcome.requests += [(number, times) for _, times in turn.requests]
            too_large = sum(map(len, outcome.results)) > self._limits["answer"]
            if turn.status is not Status.ENDED or too_large or not self._traces.is_clean():
                return Outcome(Status.SHARED)
        return outcome

    def _is_isolated(self) -> bool:
        """Let the original start; return False if two copies of it could share anything."""
        deadline = time.monotonic() + LAST_THREADS
        while self._watch.threads(self._original) > 1:
            if time.monotonic() > deadline:
                return False
            time.sleep(ENDING)
        try:
            if not self._watch.shares_nothing(self._original, {0, 1, 2, REPORT, LINE}):
                return False
            self._line.send(b".")
            self._line.recv(1)
        except OSError:
            return False
        return self._watch.is_closed(self._original) and self._traces.begin()

    def _turn(self, answering: Answering) -> Outcome:
        report_read, report_write = os.pipe()
        text_read, text_write = os.pipe()
        try:
            with suppress(OSError):  # the original has ended, which the listener will notice
                files = (report_write, text_write, answering.line.fileno())
                socket.send_fds(self._line, [b"."], files)
            os.close(report_write)
            os.close(text_write)
            listener = _CallListener(
                self._original, report_read, text_read, self._limits, self._watch, None
            )
            outcome = listener.outcome()
        finally:
            os.close(report_read)
            os.close(text_read)
            outcome.requests = [(0, len(answering.end()))]
            while self._watch.end_all_but({self._original}):
                time.sleep(ENDING)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        return outcome


class _CellListener(Listener):
    """Listens to the original until it waits for turns."""

    def over(self) -> bool:
        return not self.in_cells


class _CallListener(Listener):
    """Listens to a copy until it has reported."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.prepared, self.in_cells = True, False

    def over(self) -> bool:
        return bool(self.result.results)
