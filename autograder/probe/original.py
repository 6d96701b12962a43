"""The original process: after the cells, it waits for turns and forks a copy of itself for each.

`turns` explains why. The code here that runs after the cells uses nothing that they could replace.
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

REPORT = 102
"""The file descriptor on which a child reports."""

MOST_DESCRIPTORS = 128
"""The limit on open files to which an original may raise its own, so that LINE is below it."""

_PR_SET_DUMPABLE = 4


def prepare(processor: bytes) -> Callable[[Callable[[], Any]], None]:
    """Return the function that waits for turns; call this before the student's code runs.

    The returned function takes a function that tells the room to start, and returns only in the
    copies, once in each. The room is at the other end of the descriptor LINE, on which a copy later
    sends its requests to a function. `processor` is the first message to the process that answers.
    """
    room = socket(fileno=LINE)
    fork, prctl = successor.prepare_fork(), ctypes.CDLL(None).prctl
    block, forget = _signals()

    def hear(event: str, _: object) -> None:
        """Give up all turns if a cell reaches C, since it could make code run here later."""
        if event in INTO_C:
            try:
                room.shutdown(SHUT_RDWR)
            except OSError:
                return  # it is already shut

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
            files = _receive_files(room)
            forget()
            if fork() == 0:
                break
            for file in files:
                close(file)
            _reap()
        setsid()
        LISTENERS.remove(hear)
        room.detach()
        report, text, requests = files
        limit, most = getrlimit(RLIMIT_NOFILE)
        setrlimit(RLIMIT_NOFILE, (most, most))  # some of the descriptors below exceed the limit
        dup2(open_file(devnull, O_RDWR), 0)
        dup2(text, 1)
        dup2(text, 2)
        dup2(report, REPORT)
        dup2(requests, LINE)
        closerange(3, REPORT)
        closerange(LINE + 1, 1024)
        setrlimit(RLIMIT_NOFILE, (limit, limit))
        write(LINE, processor)
        pthread_sigmask(SIG_SETMASK, before)

    return wait_for_turns


def _signals() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return two functions: one blocks all signals, and one discards those that are pending.

    All copies share one limit on pending signals. The C library does not allow two of the signals
    to be blocked, so these functions call the kernel directly.
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


def _receive_files(room: socket) -> tuple[int, ...]:
    """Return the open files of the next turn, or end the process if the room is gone.

    They are for reports, for printed text, and for requests to a function.
    """
    message, ancillary, _, _ = room.recvmsg(1, 1024)
    if not message or not ancillary:
        _exit(1)
    return unpack("3i", ancillary[0][2])


def _reap() -> None:
    """Reap the copies that have ended."""
    try:
        while waitpid(-1, WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
