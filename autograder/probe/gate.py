"""A run asks its room before it starts a process, and the room may refuse.

Nobody who watches an answer sees what runs in another process, or in a thread that was there before
the watch. So a run is sealed before it comes to an exercise with something forbidden. All other
processes end. If threads are left in the run's own process, it goes on in a child without them
(`successor`), and that process ends, too. From then on, the next process that is to begin ends the
run; threads may begin, and are watched. The kernel asks, whichever way a process begins
(seccomp_unotify(2)).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import seccomp, successor
from .usage import Watch

Seal = Callable[[], Any]
"""What a child calls when it comes to something forbidden; it returns when no one else lives."""

_SEAL = 0x800
"""CLONE_SIGHAND alone: flags of a `clone` that the kernel would refuse. It asks for the seal."""

_REQUEST = struct.Struct("=QI20xQ40x")
"""struct seccomp_notif: its number, the process that asks, and the call's first argument."""

_REPLY = struct.Struct("=QqiI")  # struct seccomp_notif_resp: number, value, error, flags
_THREADS_LEFT = 1  # what the call returns then
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_*
_CONTINUE = 1

LAST_THREADS = 1.0
"""Seconds that the threads of a process have to end before it goes on without them. One that runs
calls may have been told to end just now."""


def no_seal() -> None:
    """The Seal of a run whose processes nobody counts."""


def tell(line: socket.socket) -> Seal:
    """In a child: let who holds the other end of `line` be asked for all that begins from now on.

    Nobody is, and nothing is sealed, where the kernel does not ask, as below a container that asks
    about system calls itself. Then only what Python begins is noticed (`ready_made.PROCESSES`).
    """
    with line:
        try:
            listener = seccomp.listen()
        except OSError:
            return no_seal
        socket.send_fds(line, [b" "], [listener])
    os.close(listener)
    call, number = ctypes.CDLL(None).syscall, seccomp.clone_number()
    go_on_without_threads = successor.prepare()

    def seal() -> None:
        while call(number, _SEAL, 0, 0, 0, 0) == _THREADS_LEFT:
            go_on_without_threads()

    return seal


def gate(line: socket.socket, watch: Watch | None, spared: Sequence[int]) -> Gate | None:
    """The gate that a child tells of at the other end of `line`; None if it never does.

    `watch` looks after all processes, and `spared` are those that the seal lets live: the child,
    which is the first, and others.
    """
    with line:
        _, listeners, _, _ = socket.recv_fds(line, 1, 1)
    return Gate(listeners[0], watch, spared) if watch and listeners else None


class Gate:
    """Where a room is asked. `left` is True if processes or threads had to end for the seal.

    `child` is the process that the run goes on in. `sealing` is True as long as the others have not
    all ended, and `refused` once a process was to begin after that.
    """

    def __init__(self, listener: int, watch: Watch, spared: Sequence[int]) -> None:
        """See `gate`; `listener` is what a child has told of."""
        self._listener, self._watch = listener, watch
        self.child, *self._others = spared
        self._waiting = 0  # the number of the request for the seal
        self._asked_at = 0.0
        self._sealed = self._awaits_successor = False
        self.sealing = self.left = self.refused = False

    def fileno(self) -> int:
        """Readable while something is asked."""
        return self._listener

    def answer(self) -> None:
        """Answer what is asked next; what is refused waits for the end of the run."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, request)
        except OSError:  # who asked has ended
            return
        number, process, flags = _REQUEST.unpack(request)
        if flags == _SEAL:
            if self._awaits_successor and process != self.child:
                self.child, self._awaits_successor = process, False
            self._waiting, self.sealing = number, True
            self._asked_at = time.monotonic()
        elif self._sealed:
            self.refused = True
        else:
            self._reply(number, _CONTINUE)

    def seal(self) -> None:
        """End what has not ended yet; if nothing is left, let in nothing more."""
        if self._watch.end_all_but({self.child, *self._others}):
            self.left = True
        elif self._watch.threads(self.child) <= 1:
            self.sealing, self._sealed = False, True
            self._reply(self._waiting, 0)
        elif time.monotonic() - self._asked_at > LAST_THREADS:
            self.left = self._awaits_successor = True
            self.sealing = self._sealed = False
            self._reply(self._waiting, 0, value=_THREADS_LEFT)

    def close(self) -> None:
        """Answer no more: what still waits does not begin."""
        os.close(self._listener)

    def _reply(self, number: int, flags: int, value: int = 0) -> None:
        with contextlib.suppress(OSError):  # who asked has ended
            fcntl.ioctl(self._listener, _SEND, _REPLY.pack(number, value, 0, flags))
