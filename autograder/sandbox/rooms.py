"""The grader's side of a room: give an order, hear what became of it, by the clock out here."""

from __future__ import annotations

import fcntl
import math
import os
import socket
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..probe.line import LateError, LineError, receive, send
from ..probe.listening import GENEROUS
from ..probe.room import READY
from ..probe.status import Status
from .limits import Limits

START_SECONDS = 30
"""A room that is not ready by then never will be."""

_SEALS = {"shrink": 2, "grow": 4, "write": 8}  # fcntl(2): F_SEAL_*
_ADD_SEALS = 1033

STATUSES = frozenset(Status)


class NotBegun(Exception):
    """The room never stood: nothing of the student's has run, and it is no answer's fault."""


@dataclass(frozen=True)
class Run:
    """What became of one order.

    `status` says whether it came to its end. `cell` is the index of the cell in which it did.
    `results` are what the exercises showed, in the order of the run: data from the student's side.
    `changed` is the message of the calls as it was afterwards, if it is not as it was handed in.
    `requests` says how many different calls of a function were asked for, by its number. `left` is
    True if processes that the cells, or other answers, had left had to end before the exercises
    with something forbidden.
    """

    status: Status
    cell: int | None = None
    results: tuple[bytes, ...] = ()
    changed: bytes | None = None
    requests: Mapping[int, int] = field(default_factory=dict)
    left: bool = False


class Room:
    """A room for one submission. Once a run has failed to answer, it is closed for good."""

    def __init__(
        self, line: socket.socket, program: bytes, limits: Limits, leave: Callable[[bool], None]
    ) -> None:
        """`leave` is called at the end, with True if the sandbox behind it answers no more."""
        self._line, self._limits, self._leave = line, limits, leave
        self.open = True
        self._program = _file(program, sealed=("shrink", "grow", "write"))
        try:
            message, _, _ = receive(line, deadline=time.monotonic() + START_SECONDS)
        except LineError as error:
            self._close(stuck=True)
            raise NotBegun(str(error)) from None
        if message.get("status") != READY:
            self._close(stuck=True)
            raise NotBegun(str(message.get("why", "it says nothing")))

    def run(
        self,
        calls: bytes,
        *,
        functions: bytes = b"",
        seconds: float,
        again: bool = False,
        left_out: Collection[int] = (),
        turns: int = 0,
    ) -> Run:
        """Run the program in a fresh process, then `calls`: a message of (exercise, calls).

        `functions` is a message with the list of those that a FunctionElsewhere stands for. With
        `turns`, there are so many of them, and the one call is made for each, in a copy of the
        process; either all have a result, or the status is another than ENDED.
        `seconds` bounds the calls. Whatever happens in there, this returns by its own clock. Raises
        NotBegun if nothing of the student's has run.
        """
        limits = replace(self._limits, seconds=seconds)
        whole = GENEROUS * (limits.cells_seconds + seconds * max(turns, 1)) + 10
        order = {
            "again": again,
            "left_out": sorted(left_out),
            "turns": turns,
            "limits": asdict(limits),
        }
        handed = _file(calls, sealed=("shrink", "grow"))
        files = [self._program, handed]
        if functions:
            files.append(_file(functions, sealed=("shrink", "grow", "write")))
        try:
            send(self._line, order, files)
            reply, _, payload = receive(
                self._line, most=limits.answer, deadline=time.monotonic() + whole
            )
            after = os.pread(handed, len(calls) + 1, 0)
            run, clean = _understood(reply, payload)
        except LateError:
            self._close(stuck=True)
            return Run(Status.TIMEOUT)
        except LineError:
            self._close(stuck=True)
            return Run(Status.KILLED)
        finally:
            for file in files[1:]:
                os.close(file)
        if not clean:
            self._close(stuck=False)
        if run.status is Status.UNPREPARED:
            raise NotBegun("a process for a run could not be prepared")
        return run if after == calls else replace(run, changed=after)

    def close(self) -> None:
        """End the room, with all that runs in it."""
        self._close(stuck=False)

    def _close(self, stuck: bool) -> None:
        if self.open:
            self.open = False
            self._line.close()
            os.close(self._program)
            self._leave(stuck)


def _understood(reply: dict[str, Any], payload: bytes) -> tuple[Run, bool]:
    """What the room replied, checked as anything that comes from a sandbox. Raises LineError."""
    status, cell, sizes = reply.get("status"), reply.get("cell"), reply.get("sizes")
    requests = reply.get("requests")
    if (
        not isinstance(status, str)
        or status not in STATUSES
        or not (cell is None or type(cell) is int)
        or not isinstance(sizes, list)
        or not all(type(size) is int and size >= 0 for size in sizes)
        or math.fsum(sizes) != len(payload)
        or not isinstance(requests, list)
        or not all(map(_is_count, requests))
    ):
        raise LineError("a reply is malformed")
    results, place = [], 0
    for size in sizes:
        results.append(payload[place : place + size])
        place += size
    left = reply.get("left") is True
    run = Run(Status(status), cell, tuple(results), requests=dict(requests), left=left)
    return run, reply.get("clean") is True


def _is_count(pair: Any) -> bool:
    """True for a number and how often."""
    return isinstance(pair, list) and len(pair) == 2 and all(type(one) is int for one in pair)


def _file(content: bytes, sealed: Collection[str]) -> int:
    """An open file in memory that holds `content`; on Linux no one can change its length."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(content)
            return os.dup(file.fileno())
    descriptor = os.memfd_create("data", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", buffering=0, closefd=False) as file:
        file.write(content)
    fcntl.fcntl(descriptor, _ADD_SEALS, sum(_SEALS[name] for name in sealed))
    return descriptor
