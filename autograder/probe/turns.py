"""A test meets many implementations: each in a copy of the process that has run the cells.

A test must not remember from one implementation to the next, so each is called in a process that
has called no other. To run the cells again for each would take as many times as long. Instead the
process that has run them, the original, stops there and waits. For each turn the room sends it the
open files of a new process; the original forks a copy, which makes the call and reports the result.
Then the room ends the copy and all that it has started.

No code of the student's runs in the original while copies live, and none of them may reach it: it
has a single thread, takes no signals, and no other process may look into its memory or change how
it is scheduled (`seccomp`). So what one copy could leave for the next would have to be shared with
the original. Before the first turn, the room looks at it from outside: no other process lives, no
memory is shared, no file is open but those that each copy gets anew, and the private folders are
empty. A cell that reaches C by ctypes shuts the line to the room: it could have code run in the
original later. After each turn, the folders and the numbers of processes are as they were
(`traces`).

Where any of this does not hold, no turn counts: the grader then runs the cells anew for each
implementation. Otherwise a copy could tell later ones something by the way in which they are run.
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
from .original import SAID
from .status import Status
from .traces import Traces
from .usage import Watch

ANSWER_SECONDS = 10.0
"""The original has so long to do what takes no time."""


class Turns:
    """In the room: the original, and the turns that copies of it take."""

    def __init__(
        self,
        original: int,
        line: socket.socket,
        limits: dict[str, Any],
        watch: Watch,
        traces: Traces,
    ) -> None:
        """`line` is the other end of that which the original was prepared with."""
        self._original, self._line, self._limits = original, line, limits
        self._watch, self._traces = watch, traces
        line.settimeout(ANSWER_SECONDS)

    def outcome(
        self, said: int, text: int, count: int, answering: Callable[[int], Answering]
    ) -> Outcome:
        """What all copies reported, if each came to its end and nothing was shared.

        `said` and `text` are what the original reports and prints on. `answering` begins the
        process that answers in a turn. If the status is SHARED, no turn counts.
        """
        outcome = _OfCells(self._original, said, text, self._limits, self._watch, None).outcome()
        if outcome.status is not Status.ENDED:
            return outcome
        if not self._begins():
            return Outcome(Status.SHARED)
        for number in range(count):
            turn = self._turn(answering(number))
            outcome.results += turn.results
            outcome.requests += [(number, times) for _, times in turn.requests]
            too_large = sum(map(len, outcome.results)) > self._limits["answer"]
            if turn.status is not Status.ENDED or too_large or not self._traces.none():
                return Outcome(Status.SHARED)
        return outcome

    def _begins(self) -> bool:
        """True if nothing of the original can be shared with two copies of it."""
        deadline = time.monotonic() + LAST_THREADS
        while self._watch.threads(self._original) > 1:
            if time.monotonic() > deadline:
                return False
            time.sleep(ENDING)
        try:
            if not self._watch.shares_nothing(self._original, {0, 1, 2, SAID, LINE}):
                return False
            self._line.send(b".")
            self._line.recv(1)
        except OSError:
            return False
        return self._watch.is_closed(self._original) and self._traces.begin()

    def _turn(self, answering: Answering) -> Outcome:
        said_read, said_write = os.pipe()
        text_read, text_write = os.pipe()
        try:
            with suppress(OSError):  # it has ended: then nothing comes
                files = (said_write, text_write, answering.line.fileno())
                socket.send_fds(self._line, [b"."], files)
            os.close(said_write)
            os.close(text_write)
            listener = _OfCalls(
                self._original, said_read, text_read, self._limits, self._watch, None
            )
            outcome = listener.outcome()
        finally:
            os.close(said_read)
            os.close(text_read)
            outcome.requests = [(0, len(answering.end()))]
            while self._watch.end_all_but({self._original}):
                time.sleep(ENDING)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        return outcome


class _OfCells(Listener):
    """Hears the original until it waits for turns."""

    def over(self) -> bool:
        return not self.in_cells


class _OfCalls(Listener):
    """Hears a copy until it has reported."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.prepared, self.in_cells = True, False

    def over(self) -> bool:
        return bool(self.seen.results)
