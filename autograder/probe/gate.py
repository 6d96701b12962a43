"""A run asks its room before it starts a process, and the room may refuse.

The watch over an answer does not see code that runs in another process, or in a thread that is
older than the watch. So a run is sealed before it comes to an exercise that forbids something. The
room ends all other processes. If the run's own process has other threads left, the run goes on in a
child without them (`successor`), and the room ends the old process too. From then on, an attempt to
start a process ends the run; new threads are allowed, and are watched. The kernel sends the
requests (seccomp_unotify(2)), so it does not matter how a process is started.
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
"""A child calls it before an exercise that forbids something; it returns when the run is sealed."""

_SEAL = 0x800
"""The flags of a `clone` that requests the seal: CLONE_SIGHAND alone, which the kernel refuses."""

_REQUEST = struct.Struct("=QI20xQ40x")
"""struct seccomp_notif: its number, the requesting process, and the call's first argument."""

_REPLY = struct.Struct("=QqiI")  # struct seccomp_notif_resp: number, value, error, flags
_THREADS_LEFT = 1  # the call's return value if other threads are left
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_*
_CONTINUE = 1

LAST_THREADS = 1.0
"""Seconds that the threads of a process have to end before the run goes on without them. The thread
that makes our calls, for example, may only just have been told to end."""


def no_seal() -> None:
    """Do nothing: the Seal of a run whose processes are not counted."""


def install(line: socket.socket) -> Seal:
    """In a child: send all requests to start processes to the holder of the other end of `line`.

    Where the kernel does not support that, for example below a container that handles such requests
    itself, nothing is sealed. Then only processes started by Python are noticed
    (`ready_made.PROCESSES`).
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
    """Return the gate that a child installs at the other end of `line`, or None if it does not.

    `watch` sees all processes, and `spared` are those that the seal does not end: first the child,
    then any others.
    """
    with line:
        _, listeners, _, _ = socket.recv_fds(line, 1, 1)
    return Gate(listeners[0], watch, spared) if watch and listeners else None


class Gate:
    """The room's side of the gate, which answers the requests.

    `child` is the process in which the run goes on. `sealing` is True until all others have ended,
    `left` is True if any processes or threads had to be ended for the seal, and `refused` becomes
    True when a process is to be started after the seal.
    """

    def __init__(self, listener: int, watch: Watch, spared: Sequence[int]) -> None:
        """See `gate`; `listener` is the open file that the child sent."""
        self._listener, self._watch = listener, watch
        self.child, *self._others = spared
        self._seal_request = 0  # the number of the request for the seal
        self._requested_at = 0.0
        self._sealed = self._awaits_successor = False
        self.sealing = self.left = self.refused = False

    def fileno(self) -> int:
        """Return a file descriptor that is readable while a request waits."""
        return self._listener

    def answer(self) -> None:
        """Answer the next request; a refused process waits, without a reply, until the run ends."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, request)
        except OSError:  # the requesting process has ended
            return
        number, process, flags = _REQUEST.unpack(request)
        if flags == _SEAL:
            if self._awaits_successor and process != self.child:
                self.child, self._awaits_successor = process, False
            self._seal_request, self.sealing = number, True
            self._requested_at = time.monotonic()
        elif self._sealed:
            self.refused = True
        else:
            self._reply(number, _CONTINUE)

    def seal(self) -> None:
        """End the processes that are left; if there are none, refuse new ones from now on."""
        if self._watch.end_all_but({self.child, *self._others}):
            self.left = True
        elif self._watch.threads(self.child) <= 1:
            self.sealing, self._sealed = False, True
            self._reply(self._seal_request, 0)
        elif time.monotonic() - self._requested_at > LAST_THREADS:
            self.left = self._awaits_successor = True
            self.sealing = self._sealed = False
            self._reply(self._seal_request, 0, value=_THREADS_LEFT)

    def close(self) -> None:
        """Stop answering; the kernel then refuses the requests that still wait."""
        os.close(self._listener)

    def _reply(self, number: int, flags: int, value: int = 0) -> None:
        with contextlib.suppress(OSError):  # the requesting process has ended
            fcntl.ioctl(self._listener, _SEND, _REPLY.pack(number, value, 0, flags))
