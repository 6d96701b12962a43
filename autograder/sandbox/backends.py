"""Create rooms: in namespaces of a warm process, in a separate sandbox each, or unprotected."""

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
from .containers import ENGINES, container_start
from .limits import LIMITS, Limits
from .rooms import START_SECONDS, NotStarted, Room
from .starting import Start, Supervisor, bubblewrap_start, unprotected_start

KINDS = (WARM, COLD, CONTAINER)
"""The kinds of sandbox, in the order in which `open_sandbox` tries them."""

IMPORTED_EARLY = {b"optim": "torch._dynamo", b"matplotlib": "matplotlib.pyplot"}
"""Modules that a sandbox imports before a program that contains these words.

An optimiser of torch imports torch._dynamo, which takes more than a second in each of the three
processes in which an answer runs. Matplotlib starts a process on import, to look for fonts, which
is not allowed in exercises with forbidden operations.
"""

INSTALL_BUBBLEWRAP = (
    "bubblewrap is missing",
    "install bubblewrap (Debian and Ubuntu: `sudo apt-get install bubblewrap`)",
)
INSTALL_ENGINE = (f"{' or '.join(ENGINES)} is missing", f"install {' or '.join(ENGINES)}")
THEN = "then run `autograder doctor`; with `--trust`, your own files run without a sandbox"


class SandboxUnavailable(RuntimeError):
    """Raised if this machine cannot isolate a submission; the message says what to install."""


class Sandbox(Protocol):
    """Creates a room for each submission."""

    def room(self, program: bytes, torch: bool) -> Room:
        """Return a room for `program`, a message of cells; with `torch`, it has imported torch.

        Raises NotStarted if the room is not ready in time, which no answer can cause.
        """
        ...

    def close(self) -> None:
        """End all processes of this sandbox."""
        ...


@dataclass
class LocalSandbox:
    """A sandbox on this machine; `mode` is one of supervisor.py's. Threads may share it.

    It starts supervisors, each with a line (a socket). A supervisor forks the rooms, and each room
    gets one end of a new socket pair. When a room has ended, its supervisor is reused for the next
    room, unless `mode` is in ONE_ROOM.
    """

    mode: str
    start: Start
    limits: Limits = LIMITS
    _free: list[tuple[bool, Supervisor]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def room(self, program: bytes, torch: bool) -> Room:
        """See Sandbox."""
        early = [module for word, module in IMPORTED_EARLY.items() if word in program]
        modules = [name for name in early if torch or not name.startswith("torch")]
        while (idle := self._idle(torch)) is not None:
            with contextlib.suppress(NotStarted):  # it may have died after its last room
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
        """Return a room of `supervisor`, which imports these modules first. Raises NotStarted."""
        own_end, room_end = socket.socketpair()
        with room_end:
            try:
                send(supervisor.line, {"modules": modules}, (room_end.fileno(),))
            except LineError as error:
                supervisor.end()
                own_end.close()
                raise NotStarted(str(error)) from None

        def leave(stuck: bool) -> None:
            if stuck or self.mode in ONE_ROOM:
                supervisor.end()
                return
            with self._lock:
                self._free.append((torch, supervisor))

        return Room(own_end, program, self.limits, leave)

    def _idle(self, torch: bool) -> Supervisor | None:
        """Return a free supervisor, with or without `torch`, once its last room has ended.

        Return None if there is no such supervisor.
        """
        while True:
            with self._lock:
                candidate = next((item for item in self._free if item[0] == torch), None)
                if candidate is None:
                    return None
                self._free.remove(candidate)
            _, supervisor = candidate
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
    """Return a sandbox of the first of KINDS that works on this machine, and was just tried.

    `mode` selects a kind. `packages` are hidden in the sandbox, as this package is, since they
    hold the exercises and references of a course. Raises SandboxUnavailable if no kind works.
    """
    if trust:
        return LocalSandbox(TRUSTING, unprotected_start, limits)
    refused = {}
    for kind in (mode,) if mode else KINDS:
        for program, start in _programs(kind, packages):
            sandbox = LocalSandbox(kind, start, limits)
            try:
                sandbox.room(wire.encode([]), torch=False).close()
                return sandbox
            except NotStarted as error:
                refused[program] = str(error)
    missing, install = INSTALL_ENGINE if mode == CONTAINER else INSTALL_BUBBLEWRAP
    reasons = [f"{program}: {reason}" for program, reason in refused.items()] or [missing]
    raise SandboxUnavailable(
        f"No sandbox on this machine ({'; '.join(reasons)}); {install}, {THEN}."
    )


def _programs(kind: str, packages: Sequence[str]) -> Iterator[tuple[str, Start]]:
    """Yield the programs here that provide this kind of sandbox, and how to start each."""
    names, start_with = (
        (ENGINES, container_start) if kind == CONTAINER else (("bwrap",), bubblewrap_start)
    )
    for name in names if sys.platform == "linux" else ():  # they run this machine's programs
        if program := shutil.which(name):
            yield name, start_with(program, packages)
