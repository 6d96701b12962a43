"""Go on in a new process that has none of this process's other threads.

A thread that a cell started before the watch cannot be watched or ended. But a forked child has
only the thread that called fork. So the run goes on in such a child, and the room ends the old
process with all its threads.

Functions that a student has registered with Python or the C library to be called around a fork must
not run here, where they would find this package in the frames above them. So we make the system
call directly, and first restore Python's lists of such functions to their state before the
student's code ran.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
from collections.abc import Callable
from typing import Any

from . import seccomp


def _hooks() -> list[list[Any]]:
    """Return the lists in which Python keeps the functions that it calls around a fork."""

    def mark() -> None:
        pass

    os.register_at_fork(before=mark, after_in_child=mark, after_in_parent=mark)
    return [referrer for referrer in gc.get_referrers(mark) if type(referrer) is list]


_HOOKS = _hooks()  # at import, because get_referrers does not see what the supervisor freezes later


def prepare_fork() -> Callable[[], int]:
    """Return os.fork as it is now; call this before the student's code runs."""
    hooks = [(functions, [*functions]) for functions in _HOOKS]
    python = ctypes.pythonapi  # holds the interpreter lock during calls, as PyDLL does
    before_fork, after_in_parent = python.PyOS_BeforeFork, python.PyOS_AfterFork_Parent
    after_in_child, call = python.PyOS_AfterFork_Child, ctypes.PyDLL(None).syscall
    clone, when_it_ends = seccomp.clone_number(), int(signal.SIGCHLD)

    def fork() -> int:
        for functions, before in hooks:
            functions[:] = before
        before_fork()
        process: int = call(clone, when_it_ends, 0, 0, 0, 0)
        (after_in_parent if process else after_in_child)()
        return process

    return fork


def prepare() -> Callable[[], None]:
    """Return a function that goes on in a new process; call this before the student's code runs."""
    fork, pause = prepare_fork(), ctypes.CDLL(None).pause

    def go_on_without_threads() -> None:
        if fork():
            while True:  # until the room ends this process
                pause()

    return go_on_without_threads
