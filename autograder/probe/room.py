"""The first process of a room: takes orders from the grader, and lets a child carry out each.

No code of the student's runs in it. Each order gets a fresh child, so that nothing of one run
reaches the next: when a child has ended, or a limit has ended it, whatever it left behind goes.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import socket
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import seccomp
from .answering import Answering
from .child import CELL, DONE, PREPARED, RESULT, Order, work
from .gate import Gate, Seal, gate, no_seal, tell
from .line import LineError, receive, send
from .namespaces import MOST_FILES
from .status import Status
from .traces import Traces
from .usage import Watch

READY = "ready"  # the first message: the room stands, and nothing of the student's has run yet

GENEROUS = 6
"""So many times its limit a run may last on a machine that is busy with others."""

ENDED = 224
"""So many processes may have ended that nobody waits for. The kernel counts them, too; `usage` does
not, and so ends a run whose living ones are too many."""

MOST_RESULTS = 1000
"""So many results a run may give, which is far more than an assignment has exercises."""

TICK = 0.02  # seconds between two looks at what a child uses
ENDING = 0.001  # seconds between two looks whether a child that says nothing more has ended


@dataclass
class Outcome:
    """What became of one child: a status (None while it runs), the cell in which it ended, results.

    `requests` says of functions by number how many different calls of them it asked for. `left` is
    True if processes had to end before the exercises with something forbidden.
    """

    status: Status | None
    cell: int | None = None
    results: list[bytes] = field(default_factory=list)
    requests: list[tuple[int, int]] = field(default_factory=list)
    left: bool = False


def serve(line: socket.socket, watch: Watch | None, traces: Traces | None, mapped: int) -> None:
    """Carry out orders until the grader closes the line.

    `watch` looks after all processes of the room; without it only the clock does. `traces` tells
    whether an order has left something for the next; without it the room is not used again.
    `mapped` is the address space, in bytes, that a run finds in use.
    """
    send(line, {"status": READY})
    if traces:
        traces.wait()
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
        clean = traces is not None and traces.none()
        sizes = [len(result) for result in outcome.results]
        reply = {
            "status": outcome.status,
            "cell": outcome.cell,
            "sizes": sizes,
            "requests": outcome.requests,
            "left": outcome.left,
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
    told, telling = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _stay_on_this_processor([0, *(one.process for one in answering)])
            asking = [one.line.fileno() for one in answering]
            seal = tell(telling) if watch and seccomp.supported() else no_seal
            _become_child(order, said_write, text_write, asking, limits, mapped, seal)
            code = 0
        except MemoryError:
            code = 77
        finally:
            os._exit(code)
    os.close(said_write)
    os.close(text_write)
    telling.close()
    requests: Counter[int] = Counter()
    asked_at = gate(told, watch, [child, *(one.process for one in answering)])
    try:
        outcome = _Listener(child, said_read, text_read, limits, watch, asked_at).outcome()
    finally:
        if asked_at:
            asked_at.close()
        os.close(said_read)
        os.close(text_read)
        for one in answering:
            requests.update(one.end())
        _end_all(child, alone=watch is not None)
    return replace(outcome, requests=sorted(requests.items()))


def _become_child(
    order: Order,
    said: int,
    text: int,
    asking: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
    seal: Seal,
) -> None:
    """In the child: keep the way to report and what was ordered, and work within the limits."""
    os.setsid()
    files = (order.program, order.calls, said, *asking)
    program, calls, said, *_ = (os.dup2(file, 100 + at) for at, file in enumerate(files))
    # An open file of its own: others would find what a run has set of a shared one, by fcntl.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(text, 1)
    os.dup2(text, 2)
    os.closerange(3, 100)  # above all the line to the grader
    os.closerange(100 + len(files), 1024)
    _limit(limits, mapped)
    with os.fdopen(said, "wb", buffering=0) as report:
        work(Order(program, calls, order.again, order.left_out), report.write, seal)


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
    """Hears what a child says until it ends or a limit does.

    The results that it holds have `answer` bytes at most. So a run ends before the result that
    would be too much; what was heard before counts, and the grader asks for the rest once more.
    """

    def __init__(
        self,
        child: int,
        said: int,
        text: int,
        limits: dict[str, Any],
        watch: Watch | None,
        gate: Gate | None,
    ) -> None:
        self.child, self.said, self.text = child, said, text
        self.limits, self.watch, self.gate = limits, watch, gate
        self.heard, self.printed = bytearray(), bytearray()
        self.taken = 0  # bytes of results
        self.refused: Status | None = None  # of a run that says what cannot be taken
        self.seen = Outcome(None)
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
            self.said: (self.heard, self.limits["answer"]),
            self.text: (self.printed, self.limits["output"]),
        }
        while not self.seen.status:
            ready = self._waited_for([*pipes])
            ended, code = self._ended()
            for pipe in [*pipes] if ended else ready:
                if not _drain(pipe, *pipes[pipe]):
                    del pipes[pipe]
            self._understand()
            if self.seen.status:
                break
            if len(self.printed) > self.limits["output"]:
                self.seen.status = Status.OUTPUT
            elif self.gate and self.gate.refused:
                self.seen.status = Status.SEALED
            elif ended:
                self.seen.status = _ending(code) if self.prepared else Status.UNPREPARED
            elif time.monotonic() - self.looked >= TICK:
                self.looked = time.monotonic()
                self.seen.status = self._over_a_limit()
        if self.said in pipes:  # what it said before it came to a limit counts
            _drain(self.said, *pipes[self.said])
            self._understand()
        self.seen.left = self.gate is not None and self.gate.left
        return self.seen

    def _ended(self) -> tuple[int, int]:
        """What `waitpid` says of the process that the run goes on in."""
        try:
            return os.waitpid(self.gate.child if self.gate else self.child, os.WNOHANG)
        except ChildProcessError:  # it is another process's child until that has ended
            return 0, 0

    def _waited_for(self, pipes: list[int]) -> list[int]:
        """Which of `pipes` hold something, or none after a while; answers at the gate meanwhile."""
        if self.gate is None:
            return select.select(pipes, [], [], TICK if pipes else ENDING)[0]
        asking = [] if self.gate.sealing else [self.gate.fileno()]
        ready, _, _ = select.select([*pipes, *asking], [], [], TICK if pipes and asking else ENDING)
        if self.gate.fileno() in ready:
            ready.remove(self.gate.fileno())
            self.gate.answer()
        if self.gate.sealing:
            self.gate.seal()
        return ready

    def _understand(self) -> None:
        """Take what was said, as far as it is whole, and note why no more of it can be taken."""
        while len(self.heard) >= 9 and not self.refused:
            kind, number = bytes(self.heard[:1]), int.from_bytes(self.heard[1:9], "little")
            if kind == RESULT:
                if self.taken + number > self.limits["answer"]:
                    self.refused = Status.RESULTS
                elif len(self.seen.results) == MOST_RESULTS:
                    self.refused = Status.MALFORMED
                if self.refused or len(self.heard) < 9 + number:
                    break
                self.taken += number
                self.seen.results.append(bytes(self.heard[9 : 9 + number]))
                del self.heard[:number]
            elif kind == PREPARED:
                self.prepared = True
            elif kind == CELL:
                self.seen.cell = number if self.in_cells else None
            elif kind == DONE:
                self.in_cells, self.seen.cell = False, None
            else:
                self.refused = Status.MALFORMED
            del self.heard[:9]
        self.seen.status = self.seen.status or self.refused

    def _over_a_limit(self) -> Status | None:
        """The status that a limit calls for, or None."""
        clock = time.monotonic() - self.begun
        if self.watch:
            usage = self.watch.look()
            if usage.memory > self.limits["memory"]:
                return Status.MEMORY
            if usage.processes > self.limits["processes"]:
                return Status.PROCESSES
            if usage.files > MOST_FILES:  # the folders that bubblewrap makes have no such limit
                return Status.FILES
            clock = self.watch.clock(usage)
        part = self.seen.cell if self.in_cells else "calls"
        if part != self.part:
            self.part, self.part_began = part, clock
        allowed = self.limits["cell_seconds" if self.in_cells else "seconds"]
        whole = self.limits["cells_seconds"] + (0 if self.in_cells else self.limits["seconds"])
        late = clock - self.part_began > allowed or clock > whole
        return Status.TIMEOUT if late or time.monotonic() - self.begun > GENEROUS * whole else None


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


def _ending(code: int) -> Status:
    if os.WIFSIGNALED(code):
        return Status.KILLED
    return {0: Status.ENDED, 77: Status.MEMORY}.get(os.WEXITSTATUS(code), Status.KILLED)


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
