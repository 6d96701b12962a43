"""The process that has run the cells waits for turns, and forks a copy of itself for each.

`turns` says what for. What runs in here after the cells uses nothing that they could have replaced.
"""

from __future__ import annotations

import ctypes
from _signal import SIG_BLOCK, SIG_SETMASK, pthread_sigmask
from _socket import SHUT_RDWR, socket
from collections.abc import Callable
from os import O_RDWR, WNOHANG, _exit, close, closerange, devnull, dup2, setsid, waitpid, write
from os import open as open_file
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from struct import unpack
from typing import Any

from . import seccomp, successor
from .apart import INTO_C, LISTENERS
from .asking import LINE

SAID = 102
"""The open file on which a child reports."""

MOST_DESCRIPTORS = 128
"""The limit to which an original may raise that on its open files: above LINE."""

_PR_SET_DUMPABLE = 4


def prepare(processor: bytes) -> Callable[[Callable[[], Any]], None]:
    """Call it before the student's code runs. What it returns is the wait for turns.

    That takes a function which tells the room to begin, and returns in a copy only, once in each.
    The room is at the other end of the open file LINE, where a copy has its questions to a
    function; `processor` is what the process that answers is told first.
    """
    room = socket(fileno=LINE)
    fork, prctl = successor.prepare_fork(), ctypes.CDLL(None).prctl
    block, forget = _signals()

    def hear(event: str, _: object) -> None:
        """Give up all turns where a cell reaches C: it could have code run in here later."""
        if event in INTO_C:
            try:
                room.shutdown(SHUT_RDWR)
            except OSError:
                return  # it is shut already

    LISTENERS.append(hear)

    def wait_for_turns(say_ready: Callable[[], Any]) -> None:
        before = pthread_sigmask(SIG_BLOCK, ())
        block()
        prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # the room may look into this process
        say_ready()
        room.recv(1)
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        room.send(b".")
        while True:
            files = _received(room)
            forget()
            if fork() == 0:
                break
            for file in files:
                close(file)
            _reap()
        setsid()
        LISTENERS.remove(hear)
        room.detach()
        said, text, asking = files
        limit, most = getrlimit(RLIMIT_NOFILE)
        setrlimit(RLIMIT_NOFILE, (most, most))  # some of the numbers below are beyond the limit
        dup2(open_file(devnull, O_RDWR), 0)
        dup2(text, 1)
        dup2(text, 2)
        dup2(said, SAID)
        dup2(asking, LINE)
        closerange(3, SAID)
        closerange(LINE + 1, 1024)
        setrlimit(RLIMIT_NOFILE, (limit, limit))
        write(LINE, processor)
        pthread_sigmask(SIG_SETMASK, before)

    return wait_for_turns


def _signals() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Two functions: one takes no signal from now on, and one forgets those that have come since.

    All copies share how many signals may wait. The C library lets nobody keep two of them away, so
    the kernel itself is asked.
    """
    call = ctypes.CDLL(None).syscall
    change, take = seccomp.SIGNAL_MASK[seccomp.table()], seccomp.SIGNAL_WAIT[seccomp.table()]
    every, no_time = ctypes.c_uint64(2**64 - 1), (ctypes.c_long * 2)()
    mask, now, size = ctypes.byref(every), ctypes.byref(no_time), ctypes.sizeof(every)

    def block() -> None:
        call(change, int(SIG_SETMASK), mask, None, size)

    def forget() -> None:
        while call(take, mask, None, now, size) > 0:
            pass

    return block, forget


def _received(room: socket) -> tuple[int, ...]:
    """The open files of the next turn; where there is no room any more, the process ends.

    They are for what is said, for what is printed, and for questions to a function.
    """
    message, ancillary, _, _ = room.recvmsg(1, 1024)
    if not message or not ancillary:
        _exit(1)
    return unpack("3i", ancillary[0][2])


def _reap() -> None:
    """Let the copies go that have ended."""
    try:
        while waitpid(-1, WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
