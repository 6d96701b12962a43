"""The shared part of the build's commands: progress, a lock for a single build, a clean stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console

from .chapters import BookError
from .progress import Screen
from .storage import PLACE, restore

LOCK = Path("_build", "book.lock")
FAILED, INTERRUPTED = 1, 130


def run_command(command: Callable[[Screen], int], stopped: str) -> int:
    """Run `command` and show its progress; return its exit code.

    A second command in the same folder waits for the first. SIGINT and SIGTERM stop the command,
    even if it was started in the background, where SIGINT is ignored by default. So does closing
    the terminal. stopped: the message for that case.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup ignores it, and must be obeyed
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    LOCK.parent.mkdir(exist_ok=True)
    try:
        with Screen(Console()) as screen, _locked(screen):
            try:
                return command(screen)
            except BookError as error:
                screen.say(str(error))
                return FAILED
            except KeyboardInterrupt:
                with suppress(OSError):  # the terminal is gone
                    screen.say(stopped)
                return INTERRUPTED
    except KeyboardInterrupt:  # before the command began
        return INTERRUPTED


@contextmanager
def _locked(screen: Screen) -> Iterator[None]:
    lock = FileLock(LOCK)
    try:
        lock.acquire(timeout=0.1)
    except Timeout:
        screen.say("Another build is running in this folder; waiting until it is done.")
        lock.acquire()
    try:
        restore(PLACE)
        yield
    finally:
        lock.release()
