"""Where rooms are made: in namespaces of a warm process, in a sandbox each, or unprotected."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..probe import wire
from ..probe.line import LineError, receive, send
from ..probe.supervisor import COLD, CONTAINER, ONE_ROOM, TRUSTING, WARM
from .containers import ENGINES, contained
from .limits import LIMITS, Limits
from .rooms import START_SECONDS, NotBegun, Room
from .starting import Start, Supervisor, bubblewrapped, unprotected

KINDS = (WARM, COLD, CONTAINER)
"""The sandboxes, as `open_sandbox` tries them."""

IMPORTED_EARLY = {b"optim": "torch._dynamo", b"matplotlib": "matplotlib.pyplot"}
"""Modules that a sandbox imports before a program which has these words in it.

An optimiser of torch imports torch._dynamo: more than a second, in each of the three processes in
which an answer runs. Matplotlib looks for the machine's fonts when it is imported, and begins a
process for that, which an answer with something forbidden may not.
"""

INSTALL = (
    "install bubblewrap (Debian and Ubuntu: `sudo apt-get install bubblewrap`), then run "
    "`autograder doctor`; to run your own files only, `--trust` does without a sandbox"
)


class SandboxUnavailable(RuntimeError):
    """This machine cannot isolate a submission; the message says what to install."""


class Sandbox(Protocol):
    """Makes rooms, one for each submission."""

    @property
    def isolated(self) -> bool:
        """False for `--trust`: a grade made there says so."""
        ...

    def room(self, program: bytes, torch: bool) -> Room:
        """A room for `program`, a message of cells; with `torch`, that is imported already.

        Raises NotBegun if it does not stand in time: no answer's fault.
        """
        ...

    def close(self) -> None:
        """End all that runs for this sandbox."""
        ...


@dataclass
class Isolating:
    """Rooms of one kind: `mode` is one of supervisor.py's. Threads may share it."""

    mode: str
    start: Start
    limits: Limits = LIMITS
    _free: list[tuple[bool, Supervisor]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def isolated(self) -> bool:
        """See Sandbox."""
        return self.mode != TRUSTING

    def room(self, program: bytes, torch: bool) -> Room:
        """See Sandbox."""
        early = [module for word, module in IMPORTED_EARLY.items() if word in program]
        modules = [one for one in early if torch or not one.startswith("torch")]
        while (idle := self._idle(torch)) is not None:
            with contextlib.suppress(NotBegun):  # it may have died since its last room
                return self._room(idle, program, torch, modules)
        run = ["-s", "-P", "-m", "probe.supervisor", self.mode]
        run += [str(self.limits.file), "numpy", "numpy.random", *(["torch"] if torch else [])]
        return self._room(self.start(run, self.limits), program, torch, modules)

    def close(self) -> None:
        """See Sandbox."""
        with self._lock:
            while self._free:
                _, supervisor = self._free.pop()
                supervisor.end()

    def _room(
        self, supervisor: Supervisor, program: bytes, torch: bool, modules: Sequence[str]
    ) -> Room:
        """A room of `supervisor`, which imports these modules first. Raises NotBegun."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                send(supervisor.line, {"modules": modules}, (theirs.fileno(),))
            except LineError as error:
                supervisor.end()
                ours.close()
                raise NotBegun(str(error)) from None

        def leave(stuck: bool) -> None:
            if stuck or self.mode in ONE_ROOM:
                supervisor.end()
                return
            with self._lock:
                self._free.append((torch, supervisor))

        return Room(ours, program, self.limits, leave)

    def _idle(self, torch: bool) -> Supervisor | None:
        """One whose last room has ended, and which has imported what is needed; None without."""
        while True:
            with self._lock:
                found = next((one for one in self._free if one[0] == torch), None)
                if found is None:
                    return None
                self._free.remove(found)
            _, supervisor = found
            with contextlib.suppress(LineError):
                receive(supervisor.line, deadline=time.monotonic() + START_SECONDS)
                return supervisor
            supervisor.end()


def open_sandbox(
    trust: bool = False,
    limits: Limits = LIMITS,
    mode: str | None = None,
    packages: Sequence[str] = (),
) -> Sandbox:
    """Return a sandbox that was just tried: the first of KINDS that this machine can make.

    `mode` asks for one of them. `packages` hold what nobody in there may read, as this package
    does: the exercises and references of a course. Raises SandboxUnavailable if there is none.
    """
    if trust:
        return Isolating(TRUSTING, unprotected, limits)
    refused = {}
    for kind in (mode,) if mode else KINDS:
        for program, start in _programs(kind, packages):
            sandbox = Isolating(kind, start, limits)
            try:
                sandbox.room(wire.encode([]), torch=False).close()
                return sandbox
            except NotBegun as error:
                refused[program] = str(error)
    if not refused:
        missing = " or ".join(ENGINES) if mode == CONTAINER else "bubblewrap"
        raise SandboxUnavailable(f"No sandbox on this machine: {missing} is missing; {INSTALL}.")
    reasons = "; ".join(f"{program}: {reason}" for program, reason in refused.items())
    raise SandboxUnavailable(f"No sandbox on this machine ({reasons}); {INSTALL}.")


def _programs(kind: str, packages: Sequence[str]) -> Iterator[tuple[str, Start]]:
    """The programs on this machine that make a sandbox of this kind, and how each is started."""
    names, starting = (ENGINES, contained) if kind == CONTAINER else (("bwrap",), bubblewrapped)
    for name in names if sys.platform == "linux" else ():  # they show programs of this machine
        if program := shutil.which(name):
            yield name, starting(program, packages)
