"""What a run leaves behind where the next one in its room could find it."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

_COARSE = 5  # CLOCK_REALTIME_COARSE: from it the kernel takes the times of files

NUMBERS = 16
"""So many numbers of processes and threads each run uses up; one that began more is not tidied up
after. The kernel counts on, so the number of a later process would tell how many there were."""


class Traces:
    """The folders of a room, and the number of the process begun last, as they are before a run.

    To empty the folders would not do: their times, modes and attributes stay, and the numbers of
    new files go on. So a room that is not as it was is not used again.
    """

    def __init__(self, folders: tuple[str, ...], processes: int) -> None:
        """`folders` are empty, and nobody else's. `processes` is a folder like /proc, open."""
        self._folders, self._processes = folders, processes
        for folder in folders:
            os.utime(folder, (0, 0))  # whatever is made or deleted in there changes it
        self._before = [_state(folder) for folder in folders]
        self._newest = self._newest_now()

    def wait(self) -> None:
        """Let the clock go on from the time of the folders: a change must give them another."""
        newest = max(ctime for *_, ctime in self._before)
        while time.clock_gettime_ns(_COARSE) <= newest:
            time.sleep(0.0005)

    def begin(self) -> bool:
        """Count from here, though processes have begun since; False if the folders have changed."""
        self._newest = self._newest_now()
        return [*map(_state, self._folders)] == self._before

    def none(self) -> bool:
        """True if a run has left none. Call it when all its processes have ended."""
        wanted = self._newest + NUMBERS
        for _ in range(self._newest_now(), wanted):
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
        self._newest = self._newest_now()
        return self._newest == wanted and [*map(_state, self._folders)] == self._before

    def _newest_now(self) -> int:
        """The number of the process, or thread, that was begun last in our namespace."""
        file = os.open("loadavg", os.O_RDONLY, dir_fd=self._processes)
        try:
            return int(os.read(file, 100).split()[-1])
        finally:
            os.close(file)


def _state(folder: str) -> tuple[Any, ...]:
    """All that can be told of a folder; nobody can set back the last part, the time of a change."""
    about = os.stat(folder)
    mode, owner, group, links = about.st_mode, about.st_uid, about.st_gid, about.st_nlink
    times = about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns
    return (mode, owner, group, links, sorted(os.listxattr(folder)), *times)
