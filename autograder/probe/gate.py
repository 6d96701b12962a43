"""Every process that is to begin in a run is asked for at its room, which may let in no more.

Nobody who watches an answer sees what runs in another process. So a run is sealed before it comes
to an exercise with something forbidden: all other processes end, and the next that is to begin ends
the run. The kernel asks, whichever way a process begins (seccomp_unotify(2)); threads are let in.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Collection
from typing import Any

from . import seccomp
from .usage import Watch

Seal = Callable[[], Any]
"""What a child calls when it comes to something forbidden; it returns when no one else lives."""

_SEAL = 0x800
"""CLONE_SIGHAND alone: flags of a `clone` that the kernel would refuse. It asks for the seal."""

_REQUEST = struct.Struct("=Q24xQ40x")  # struct seccomp_notif: its number, and the first argument
_REPLY = struct.Struct("=QqiI")  # struct seccomp_notif_resp: number, value, error, flags
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_*
_CONTINUE = 1


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
    return lambda: call(number, _SEAL, 0, 0, 0, 0)


def gate(line: socket.socket, watch: Watch | None, spared: Collection[int]) -> Gate | None:
    """The gate that a child tells of at the other end of `line`; None if it never does.

    `watch` looks after all processes, and `spared` are those that the seal lets live.
    """
    with line:
        _, listeners, _, _ = socket.recv_fds(line, 1, 1)
    return Gate(listeners[0], watch, spared) if watch and listeners else None


class Gate:
    """Where a room is asked. `left` is True if processes were ended so that it could be sealed.

    `sealing` is True as long as they have not all ended, and `refused` once a process was to begin
    after that.
    """

    def __init__(self, listener: int, watch: Watch, spared: Collection[int]) -> None:
        """See `gate`; `listener` is what a child has told of."""
        self._listener, self._watch, self._spared = listener, watch, spared
        self._waiting = 0  # the number of the request for the seal
        self._sealed = False
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
        number, flags = _REQUEST.unpack(request)
        if flags == _SEAL:
            self._waiting, self.sealing = number, True
        elif self._sealed:
            self.refused = True
        else:
            self._reply(number, _CONTINUE)

    def seal(self) -> None:
        """End what has not ended yet; if nothing is left, let in nothing more."""
        if self._watch.end_all_but(self._spared):
            self.left = True
            return
        self.sealing, self._sealed = False, True
        self._reply(self._waiting, 0)

    def close(self) -> None:
        """Answer no more: what still waits does not begin."""
        os.close(self._listener)

    def _reply(self, number: int, flags: int) -> None:
        with contextlib.suppress(OSError):  # who asked has ended
            fcntl.ioctl(self._listener, _SEND, _REPLY.pack(number, 0, 0, flags))
