"""What the commands of the build have in common: progress, one build at a time, a clean stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console

from .chapters import BookError
from .progress import Screen

LOCK = Path("_build", "book.lock")
FAILED, INTERRUPTED = 1, 130


def watched(command: Callable[[Screen], int], stopped: str) -> int:
    """Run `command` and show how far it is; return its exit code.

    A second one in the same folder waits for the first. SIGINT and SIGTERM stop it, also where it
    was started in the background, which ignores SIGINT from its beginning; so does the end of the
    terminal. `stopped` is said then.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    LOCK.parent.mkdir(exist_ok=True)
    try:
        with Screen(Console()) as screen, _alone(screen):
            try:
                return command(screen)
            except BookError as error:
                screen.say(str(error))
                return FAILED
            except KeyboardInterrupt:
                screen.say(stopped)
                return INTERRUPTED
    except KeyboardInterrupt:  # before the command began
        return INTERRUPTED


@contextmanager
def _alone(screen: Screen) -> Iterator[None]:
    lock = FileLock(LOCK)
    try:
        lock.acquire(timeout=0.1)
    except Timeout:
        screen.say("Another build is running in this folder; waiting until it is done.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
