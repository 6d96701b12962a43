"""The first process of a room: takes orders from the grader, and lets a child carry out each.

No code of the student's runs in it. Each order gets a fresh child, so that nothing of one run
reaches the next: when a child has ended, or a limit has ended it, whatever it left behind goes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import socket
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import wire
from .answering import Answering
from .child import CELL, DONE, PREPARED, RESULT, Order, work
from .line import LineError, receive, send
from .namespaces import MOST_FILES
from .usage import Watch

READY = "ready"  # the first message: the room stands, and nothing of the student's has run yet
UNPREPARED = "unprepared"  # the status of a child that ended before anything of the student's ran

GENEROUS = 6
"""So many times its limit a run may last on a machine that is busy with others."""

ENDED = 224
"""So many processes may have ended that nobody waits for. The kernel counts them, too; `usage` does
not, and so ends a run whose living ones are too many."""

TICK = 0.02  # seconds between two looks at what a child uses
ENDING = 0.001  # seconds between two looks whether a child that says nothing more has ended


@dataclass
class Outcome:
    """What became of one child: a status, the cell in which it ended, and its results.

    `asked` says of functions by number how many different calls of them it asked for.
    """

    status: str
    cell: int | None = None
    results: list[bytes] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)


def serve(line: socket.socket, watch: Watch | None, folders: tuple[str, ...], mapped: int) -> None:
    """Carry out orders until the grader closes the line.

    `watch` looks after all processes of the room; without it only the clock does. `folders` are
    emptied after each order. `mapped` is the address space, in bytes, that a run finds in use.
    """
    send(line, {"status": READY})
    while True:
        try:
            order, files, _ = receive(line)
        except LineError:
            return
        program, calls, *functions = files
        outcome = _carry_out(
            Order(program, calls, order["again"], frozenset(order["left_out"])),
            functions,
            order["limits"],
            mapped,
            watch,
        )
        for file in files:
            os.close(file)
        clean = all([_empty(folder) for folder in folders])
        sizes = [len(result) for result in outcome.results]
        reply = {
            "status": outcome.status,
            "cell": outcome.cell,
            "sizes": sizes,
            "asked": outcome.asked,
            "clean": clean,
        }
        send(line, reply, payload=b"".join(outcome.results))


def _carry_out(
    order: Order,
    functions: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
    watch: Watch | None,
) -> Outcome:
    """Let a child carry out `order`, and another process answer for the file of `functions`."""
    answering = [Answering(file, lambda: _limit(limits, mapped)) for file in functions]
    said_read, said_write = os.pipe()
    text_read, text_write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _stay_on_this_processor([0, *(one.process for one in answering)])
            asking = [one.line.fileno() for one in answering]
            _become_child(order, said_write, text_write, asking, limits, mapped)
            code = 0
        except MemoryError:
            code = 77
        finally:
            os._exit(code)
    os.close(said_write)
    os.close(text_write)
    asked: Counter[int] = Counter()
    try:
        outcome = _Listener(child, said_read, text_read, limits, watch).outcome()
    finally:
        os.close(said_read)
        os.close(text_read)
        for one in answering:
            asked.update(one.end())
        _end_all(child, alone=watch is not None)
    return replace(outcome, asked=sorted(asked.items()))


def _become_child(
    order: Order,
    said: int,
    text: int,
    asking: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
) -> None:
    """In the child: keep the way to report and what was ordered, and work within the limits."""
    os.setsid()
    files = (order.program, order.calls, said, *asking)
    program, calls, said, *_ = (os.dup2(file, 100 + at) for at, file in enumerate(files))
    os.dup2(text, 1)
    os.dup2(text, 2)
    os.closerange(3, 100)  # above all the line to the grader
    os.closerange(100 + len(files), 1024)
    _limit(limits, mapped)
    with os.fdopen(said, "wb", buffering=0) as report:
        work(Order(program, calls, order.again, order.left_out), report.write)


def _stay_on_this_processor(processes: Sequence[int]) -> None:
    """Keep `processes` where the first, which is this one, was begun: on the idlest processor.

    An answer runs in a thread of its own, in memory that was just forked and is copied as it is
    used. On several processors at a time, many small calls take twice as long.
    """
    if hasattr(os, "sched_setaffinity"):
        here = {ctypes.CDLL(None).sched_getcpu()}
        for process in processes:
            os.sched_setaffinity(process, here)


def _limit(limits: dict[str, Any], mapped: int) -> None:
    for name, value in (
        (resource.RLIMIT_AS, mapped + limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"]),
        (resource.RLIMIT_NPROC, limits["processes"] + ENDED),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))


class _Listener:
    """Hears what a child says until it ends or a limit does."""

    def __init__(
        self, child: int, said: int, text: int, limits: dict[str, Any], watch: Watch | None
    ) -> None:
        self.child, self.said, self.text = child, said, text
        self.limits, self.watch = limits, watch
        self.heard, self.printed = bytearray(), bytearray()
        self.seen = Outcome("")
        self.prepared = False
        self.in_cells = True
        self.part: int | str | None = None  # the cell that runs, or the calls
        self.part_began = 0.0
        self.begun = self.looked = time.monotonic()
        for pipe in (said, text):
            os.set_blocking(pipe, False)
        if watch:
            watch.restart()

    def outcome(self) -> Outcome:
        """Listen to the end."""
        pipes = {
            self.said: (self.heard, wire.MAX_BYTES),
            self.text: (self.printed, self.limits["output"]),
        }
        while not self.seen.status:
            ready, _, _ = select.select([*pipes], [], [], TICK if pipes else ENDING)
            ended, code = os.waitpid(self.child, os.WNOHANG)
            for pipe in [*pipes] if ended else ready:
                if not _drain(pipe, *pipes[pipe]):
                    del pipes[pipe]
            self._understand()
            if len(self.printed) > self.limits["output"] or len(self.heard) > wire.MAX_BYTES:
                self.seen.status = "output"
            elif ended:
                self.seen.status = _ending(code) if self.prepared else UNPREPARED
            elif time.monotonic() - self.looked >= TICK:
                self.looked = time.monotonic()
                self.seen.status = self._over_a_limit()
        return self.seen

    def _understand(self) -> None:
        """Take what was said, as far as it is whole."""
        while len(self.heard) >= 9:
            kind, number = bytes(self.heard[:1]), int.from_bytes(self.heard[1:9], "little")
            if kind == RESULT:
                if len(self.heard) < 9 + number:
                    return
                self.seen.results.append(bytes(self.heard[9 : 9 + number]))
                del self.heard[:number]
            elif kind == PREPARED:
                self.prepared = True
            elif kind == CELL and self.in_cells:
                self.seen.cell = number
            elif kind == DONE:
                self.in_cells, self.seen.cell = False, None
            del self.heard[:9]

    def _over_a_limit(self) -> str:
        """The status that a limit calls for, or an empty text."""
        clock = time.monotonic() - self.begun
        if self.watch:
            usage = self.watch.look()
            if usage.memory > self.limits["memory"]:
                return "memory"
            if usage.processes > self.limits["processes"]:
                return "processes"
            if usage.files > MOST_FILES:  # the folders that bubblewrap makes have no such limit
                return "files"
            clock = self.watch.clock(usage)
        part = self.seen.cell if self.in_cells else "calls"
        if part != self.part:
            self.part, self.part_began = part, clock
        allowed = self.limits["cell_seconds" if self.in_cells else "seconds"]
        whole = self.limits["cells_seconds"] + (0 if self.in_cells else self.limits["seconds"])
        late = clock - self.part_began > allowed or clock > whole
        return "timeout" if late or time.monotonic() - self.begun > GENEROUS * whole else ""


def _drain(pipe: int, into: bytearray, most: int) -> bool:
    """Append what `pipe` holds now, up to more than `most`; False if there will be no more."""
    while len(into) <= most:
        try:
            piece = os.read(pipe, 2**16)
        except BlockingIOError:
            break
        if not piece:
            return False
        into += piece
    return True


def _ending(code: int) -> str:
    if os.WIFSIGNALED(code):
        return "killed"
    return {0: "ended", 77: "memory"}.get(os.WEXITSTATUS(code), "killed")


def _end_all(child: int, alone: bool) -> None:
    """End what is left of a child: everything else in the room, if it is ours `alone`."""
    while True:
        try:
            if alone:
                os.kill(-1, signal.SIGKILL)
            else:
                os.killpg(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _empty(folder: str) -> bool:
    """Delete all that is in `folder`; False if something stays."""

    def unlock(function: Any, path: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            function(path)

    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, onerror=unlock)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    return not os.listdir(folder)
