"""The grader's side of a room: send an order and receive the outcome, within a time limit.

A room is a process in the sandbox that serves a single submission. For each order it forks a fresh
process, which runs the submission's cells and makes the calls. If no valid reply arrives in time,
the grader closes the room and has the sandbox behind it killed.
"""

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
"""Timeout in seconds for the start of a room."""

_SEALS = {"shrink": 2, "grow": 4, "write": 8}  # fcntl(2): F_SEAL_*
_ADD_SEALS = 1033

STATUSES = frozenset(Status)


class NotStarted(Exception):
    """Raised if a room did not start. No student's code has run, so no answer can be the cause."""


@dataclass(frozen=True)
class Run:
    """The outcome of an order.

    `status` says how the run ended, and `cell` is the index of the cell in which it ended, if any.
    `results` has the exercises' results in the order of the run, which are untrusted data.
    `changed` is the message of the calls after the run, if it was modified. `requests` maps the
    number of a function to the number of different calls of it. `left` is True if processes left
    over from cells or other answers were ended before the exercises with forbidden operations.
    """

    status: Status
    cell: int | None = None
    results: tuple[bytes, ...] = ()
    changed: bytes | None = None
    requests: Mapping[int, int] = field(default_factory=dict)
    left: bool = False


class Room:
    """A room for a submission. After a run that gave no valid reply, it stays closed."""

    def __init__(
        self, line: socket.socket, program: bytes, limits: Limits, leave: Callable[[bool], None]
    ) -> None:
        """Wait until the room is ready. Raises NotStarted if it is not.

        At the end `leave` is called, with True if the sandbox behind the room no longer responds.
        """
        self._line, self._limits, self._leave = line, limits, leave
        self.open = True
        self._program = _file(program, sealed=("shrink", "grow", "write"))
        try:
            message, _, _ = receive(line, deadline=time.monotonic() + START_SECONDS)
        except LineError as error:
            self._close(stuck=True)
            raise NotStarted(str(error)) from None
        if message.get("status") != READY:
            self._close(stuck=True)
            raise NotStarted(str(message.get("why", "no reason was reported")))

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

        `functions` is a message with the list of functions for which FunctionElsewhere is a
        placeholder. If `turns` is not 0, there are that many functions, and `calls` holds a single
        call, which is made for each function in a fork of the process; the status is ENDED only if
        all of them have a result. `seconds` limits the calls. Whatever happens in the sandbox, this
        returns within its own time limit. Raises NotStarted if no student's code has run.
        """
        limits = replace(self._limits, seconds=seconds)
        timeout = GENEROUS * (limits.cells_seconds + seconds * max(turns, 1)) + 10
        order = {
            "again": again,
            "left_out": sorted(left_out),
            "turns": turns,
            "limits": asdict(limits),
        }
        calls_file = _file(calls, sealed=("shrink", "grow"))
        files = [self._program, calls_file]
        if functions:
            files.append(_file(functions, sealed=("shrink", "grow", "write")))
        try:
            send(self._line, order, files)
            reply, _, payload = receive(
                self._line, most=limits.answer, deadline=time.monotonic() + timeout
            )
            after = os.pread(calls_file, len(calls) + 1, 0)
            run, clean = _parse_reply(reply, payload)
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
            raise NotStarted("the process for a run could not be prepared")
        return run if after == calls else replace(run, changed=after)

    def close(self) -> None:
        """End the room and all processes in it."""
        self._close(stuck=False)

    def _close(self, stuck: bool) -> None:
        if self.open:
            self.open = False
            self._line.close()
            os.close(self._program)
            self._leave(stuck)


def _parse_reply(reply: dict[str, Any], payload: bytes) -> tuple[Run, bool]:
    """Return the run that a reply describes, and whether it is clean. Raises LineError.

    Every field is checked, since a reply comes from the sandbox.
    """
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
    results, position = [], 0
    for size in sizes:
        results.append(payload[position : position + size])
        position += size
    left = reply.get("left") is True
    run = Run(Status(status), cell, tuple(results), requests=dict(requests), left=left)
    return run, reply.get("clean") is True


def _is_count(pair: Any) -> bool:
    """Return True for a list of two integers: a function's number and a count."""
    return isinstance(pair, list) and len(pair) == 2 and all(type(item) is int for item in pair)


def _file(content: bytes, sealed: Collection[str]) -> int:
    """Return a descriptor of a file in memory with `content`; on Linux, its length is sealed."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(content)
            return os.dup(file.fileno())
    descriptor = os.memfd_create("data", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", buffering=0, closefd=False) as file:
        file.write(content)
    fcntl.fcntl(descriptor, _ADD_SEALS, sum(_SEALS[name] for name in sealed))
    return descriptor
