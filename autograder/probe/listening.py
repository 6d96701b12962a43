"""What the process of a room hears of a child: results, until it ends or a limit ends it."""

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
"""The most results of a run: far more than an assignment has exercises."""

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


class Listener:
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
        """`child` reports on `said` and prints on `text`; `watch` and `gate` may be missing."""
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
            if self.over():
                self.seen.status = Status.ENDED
            elif len(self.printed) > self.limits["output"]:
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

    def over(self) -> bool:
        """True if no more need be heard, though the child lives."""
        return False

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
