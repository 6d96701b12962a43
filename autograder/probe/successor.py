"""Go on in a new process that has none of this one's threads.

Nobody can watch or end a thread that a cell began before there was anything to watch. But a process
that forks passes on the thread that forks, and no other. So the run goes on in such a child, and
the room ends the process that it came from, with all its threads.

What a student has asked Python or the C library to call around a fork must not run here, where it
would find this package in the frames above it. So the fork is the system call itself, and Python's
own list of such functions is put back to what it was before the student's code ran.
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
    """The lists in which Python keeps the functions that it calls around a fork."""

    def mark() -> None:
        pass

    os.register_at_fork(before=mark, after_in_child=mark, after_in_parent=mark)
    return [one for one in gc.get_referrers(mark) if type(one) is list]


_HOOKS = _hooks()  # once: nothing refers to what the supervisor freezes later


def prepare_fork() -> Callable[[], int]:
    """Call it before the student's code runs; what it returns is os.fork as it was then."""
    hooks = [(functions, [*functions]) for functions in _HOOKS]
    python = ctypes.pythonapi  # it keeps Python's lock, as PyDLL does
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
    """Call it before the student's code runs; what it returns goes on in a new process."""
    fork, pause = prepare_fork(), ctypes.CDLL(None).pause

    def go_on_without_threads() -> None:
        if fork():
            while True:  # until the room ends this process
                pause()

    return go_on_without_threads
