"""Detect the traces of a run that a later run in the same room could find."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

_COARSE = 5  # CLOCK_REALTIME_COARSE, the clock by which the kernel sets the times of files

NUMBERS = 16
"""Each run uses exactly this many process and thread numbers; after a run that used more, the room
is not clean. Otherwise the number of a later process would tell how many a run had started."""


class Traces:
    """The state of a room before a run: its folders, and the number of the newest process.

    Emptying the folders afterwards would not be enough: their times, modes and attributes stay, and
    the inode numbers of new files continue. So a room whose state has changed is not used again.
    """

    def __init__(self, folders: tuple[str, ...], processes: int) -> None:
        """Record the state of `folders`, which must be empty and private to the room.

        `processes` is an open folder like /proc.
        """
        self._folders, self._processes = folders, processes
        for folder in folders:
            os.utime(folder, (0, 0))  # any file that is created or deleted in it changes the time
        self._before = [_state(folder) for folder in folders]
        self._newest = self._newest_now()

    def wait(self) -> None:
        """Wait until the clock is past the time of the folders, so that any change alters it."""
        newest = max(ctime for *_, ctime in self._before)
        while time.clock_gettime_ns(_COARSE) <= newest:
            time.sleep(0.0005)

    def begin(self) -> bool:
        """Count process numbers from now on; return False if the folders have changed."""
        self._newest = self._newest_now()
        return [*map(_state, self._folders)] == self._before

    def is_clean(self) -> bool:
        """Use up the run's remaining numbers, and return True if the run has left no traces.

        Call it when all processes of the run have ended.
        """
        expected = self._newest + NUMBERS
        for _ in range(self._newest_now(), expected):
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
        self._newest = self._newest_now()
        return self._newest == expected and [*map(_state, self._folders)] == self._before

    def _newest_now(self) -> int:
        """Return the number of the newest process or thread in our namespace."""
        file = os.open("loadavg", os.O_RDONLY, dir_fd=self._processes)
        try:
            return int(os.read(file, 100).split()[-1])
        finally:
            os.close(file)


def _state(folder: str) -> tuple[Any, ...]:
    """Return all metadata of a folder; the last item, the change time, cannot be set back."""
    about = os.stat(folder)
    mode, owner, group, links = about.st_mode, about.st_uid, about.st_gid, about.st_nlink
    times = about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns
    return (mode, owner, group, links, sorted(os.listxattr(folder)), *times)
