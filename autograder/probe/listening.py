"""Listen to a child, in the process of a room, until it ends or a limit ends it."""

from __future__ import annotations

import os
import select
import time
from dataclasses import dataclass, field
from typing import Any

from .child import CELL, DONE, PREPARED, RESULT
from .gate import Gate
from .namespaces import MOST_FILES
from .status import Status
from .usage import Watch

GENEROUS = 6
"""A run may last this many times its limit on a machine that is busy with others."""

MOST_RESULTS = 1000
"""The maximum number of results of a run, far more than an assignment has exercises."""

TICK = 0.02  # seconds between two checks of a child's usage
ENDING = 0.001  # seconds between two checks whether a silent child has ended


@dataclass
class Outcome:
    """The outcome of a child: a status (None while it runs), the cell in which it ended, results.

    `requests` are pairs of a function's number and how many different calls of it were requested.
    `left` is True if processes had to be ended before the exercises that forbid something.
    """

    status: Status | None
    cell: int | None = None
    results: list[bytes] = field(default_factory=list)
    requests: list[tuple[int, int]] = field(default_factory=list)
    left: bool = False


class Listener:
    """Reads a child's messages until the child ends or exceeds a limit.

    All results together have at most as many bytes as the limit "answer". A run ends at the result
    that would exceed it; earlier results count, and the grader requests the others in another run.
    """

    def __init__(
        self,
        child: int,
        reports: int,
        text: int,
        limits: dict[str, Any],
        watch: Watch | None,
        gate: Gate | None,
    ) -> None:
        """Listen to `child`, which sends messages on the pipe `reports` and prints on `text`."""
        self.child, self.reports, self.text = child, reports, text
        self.limits, self.watch, self.gate = limits, watch, gate
        self.received, self.printed = bytearray(), bytearray()
        self.result_bytes = 0  # bytes of results
        self.refused: Status | None = None  # why the messages cannot be accepted
        self.result = Outcome(None)
        self.prepared = False
        self.in_cells = True
        self.part: int | str | None = None  # the cell that runs, or the calls
        self.part_began = 0.0
        self.started = self.last_look = time.monotonic()
        for pipe in (reports, text):
            os.set_blocking(pipe, False)
        if watch:
            watch.restart()

    def outcome(self) -> Outcome:
        """Read the child's pipes until it has ended or broken a limit, and return the outcome."""
        pipes = {
            self.reports: (self.received, self.limits["answer"]),
            self.text: (self.printed, self.limits["output"]),
        }
        while not self.result.status:
            ready = self._wait_for([*pipes])
            ended, code = self._wait_status()
            for pipe in [*pipes] if ended else ready:
                if not _drain(pipe, *pipes[pipe]):
                    del pipes[pipe]
            self._process()
            if self.result.status:
                break
            if self.over():
                self.result.status = Status.ENDED
            elif len(self.printed) > self.limits["output"]:
                self.result.status = Status.OUTPUT
            elif self.gate and self.gate.refused:
                self.result.status = Status.SEALED
            elif ended:
                self.result.status = _ending(code) if self.prepared else Status.UNPREPARED
            elif time.monotonic() - self.last_look >= TICK:
                self.last_look = time.monotonic()
                self.result.status = self._over_a_limit()
        if self.reports in pipes:  # messages that it sent before it exceeded a limit count
            _drain(self.reports, *pipes[self.reports])
            self._process()
        self.result.left = self.gate is not None and self.gate.left
        return self.result

    def over(self) -> bool:
        """Return True if listening can stop although the child still runs."""
        return False

    def _wait_status(self) -> tuple[int, int]:
        """Return the result of `waitpid` for the process in which the run goes on."""
        try:
            return os.waitpid(self.gate.child if self.gate else self.child, os.WNOHANG)
        except ChildProcessError:  # until its parent has ended, it is not our child
            return 0, 0

    def _wait_for(self, pipes: list[int]) -> list[int]:
        """Wait a moment, answering requests at the gate; return the pipes that can be read."""
        if self.gate is None:
            return select.select(pipes, [], [], TICK if pipes else ENDING)[0]
        gates = [] if self.gate.sealing else [self.gate.fileno()]
        ready, _, _ = select.select([*pipes, *gates], [], [], TICK if pipes and gates else ENDING)
        if self.gate.fileno() in ready:
            ready.remove(self.gate.fileno())
            self.gate.answer()
        if self.gate.sealing:
            self.gate.seal()
        return ready

    def _process(self) -> None:
        """Process the messages that are complete; set `refused` if one cannot be accepted."""
        while len(self.received) >= 9 and not self.refused:
            kind, number = bytes(self.received[:1]), int.from_bytes(self.received[1:9], "little")
            if kind == RESULT:
                if self.result_bytes + number > self.limits["answer"]:
                    self.refused = Status.RESULTS
                elif len(self.result.results) == MOST_RESULTS:
                    self.refused = Status.MALFORMED
                if self.refused or len(self.received) < 9 + number:
                    break
                self.result_bytes += number
                self.result.results.append(bytes(self.received[9 : 9 + number]))
                del self.received[:number]
            elif kind == PREPARED:
                self.prepared = True
            elif kind == CELL:
                self.result.cell = number if self.in_cells else None
            elif kind == DONE:
                self.in_cells, self.result.cell = False, None
            else:
                self.refused = Status.MALFORMED
            del self.received[:9]
        self.result.status = self.result.status or self.refused

    def _over_a_limit(self) -> Status | None:
        """Return the status for the limit that is exceeded, or None."""
        clock = time.monotonic() - self.started
        if self.watch:
            usage = self.watch.look()
            if usage.memory > self.limits["memory"]:
                return Status.MEMORY
            if usage.processes > self.limits["processes"]:
                return Status.PROCESSES
            if usage.files > MOST_FILES:  # folders made by bubblewrap do not enforce this limit
                return Status.FILES
            clock = self.watch.clock(usage)
        part = self.result.cell if self.in_cells else "calls"
        if part != self.part:
            self.part, self.part_began = part, clock
        allowed = self.limits["cell_seconds" if self.in_cells else "seconds"]
        whole = self.limits["cells_seconds"] + (0 if self.in_cells else self.limits["seconds"])
        late = clock - self.part_began > allowed or clock > whole
        return (
            Status.TIMEOUT if late or time.monotonic() - self.started > GENEROUS * whole else None
        )


def _drain(pipe: int, into: bytearray, most: int) -> bool:
    """Append what `pipe` holds now until `into` exceeds `most`; return False if it is closed."""
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
