"""Measure what all processes of a room use together: processor, memory, files and processes."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_MEMORY_FIELDS = (b"RssAnon", b"RssShmem")
TICKS = os.sysconf("SC_CLK_TCK")
LONGEST_IDLE = 0.1  # seconds; the most that one look adds to the idle time


@dataclass(frozen=True)
class Usage:
    """The usage of all processes but ours: processor seconds, bytes of memory, live processes.

    `files` is the number of files and folders in the fullest of the room's folders. `runnable` is
    True if any of the processes was running or ready to run.
    """

    seconds: float
    memory: int
    processes: int
    files: int
    runnable: bool


class Watch:
    """Measures all processes in a folder like /proc that start after the watch was made."""

    def __init__(self, processes: int, room: tuple[str, ...]) -> None:
        """Watch the open folder `processes`; the files in the folders `room` count as memory."""
        self._folder = processes
        self._room = room
        self._ours = {name for name in os.listdir(processes) if name.isdigit()}
        self._initial_memory = 0
        self._initial_memory = self._own_memory("self")
        self._used = 0.0
        self._idle = 0.0
        self._last_look = time.monotonic()

    def restart(self) -> None:
        """Restart the clock."""
        self._used = self.look().seconds
        self._idle = 0.0
        self._last_look = time.monotonic()

    def clock(self, usage: Usage) -> float:
        """Return the processor seconds used since `restart`, plus those in which all were idle.

        Time in which a process was ready but another program had the processor does not count. A
        look that comes late, since another program had *our* processor, adds at most LONGEST_IDLE:
        meanwhile the processes may have worked, and now wait for us.
        """
        now = time.monotonic()
        if not usage.runnable:
            self._idle += min(now - self._last_look, LONGEST_IDLE)
        self._last_look = now
        return max(0.0, usage.seconds - self._used) + self._idle

    def look(self) -> Usage:
        """Return the present usage. A process that ends during the look is not counted."""
        seconds, memory, count, runnable = 0.0, 0, 0, False
        for name in os.listdir(self._folder):
            if not name.isdigit() or name in self._ours:
                continue
            try:
                line = self._read(f"{name}/stat")
                fields = line[line.rindex(b")") + 2 :].split()
                dead = fields[0] == b"Z" and fields[17] == b"1"
                # If the first thread has ended, the memory is accounted to the other threads.
                newest = "" if dead or fields[0] != b"Z" else f"/task/{self._newest_thread(name)}"
                memory += self._own_memory(f"{name}{newest}")
            except OSError:
                continue
            count += not dead
            runnable = runnable or fields[0] == b"R" or self._has_a_thread_to_run(name)
            seconds += sum(map(int, fields[11:15])) / TICKS  # including its ended children
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        contents = [_contents(folder) for folder in self._room]
        return Usage(
            seconds + ended.ru_utime + ended.ru_stime,
            memory + sum(size for size, _ in contents),
            count,
            max((files for _, files in contents), default=0),
            runnable,
        )

    def end_all_but(self, spared: Collection[int]) -> int:
        """Kill every process but these and those before the watch; return how many were alive.

        `spared` are numbers in our own namespace, the last of those that a process has. A process
        whose first thread has ended looks dead, but may have other threads that live.
        """
        alive = 0
        for _, number, status in self._statuses():
            dead = status[b"State"][0] in (b"Z", b"X") and status[b"Threads"] == [b"1"]
            if not dead and number not in spared:
                alive += 1
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
        return alive

    def threads(self, process: int) -> int:
        """Return the number of threads of the process with this number in our namespace, or 0."""
        for _, number, status in self._statuses():
            if number == process:
                return int(status[b"Threads"][0])
        return 0

    def shares_nothing(self, process: int, files: Collection[int]) -> bool:
        """Return True if `process` is alone, has only these files open, and shares no memory.

        Read-only mappings of system files are ignored. Raises OSError if we may not inspect it.
        """
        names = {number: name for name, number, _ in self._statuses()}
        if names.keys() != {process}:
            return False
        name = names[process]
        folder = os.open(f"{name}/fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            open_files = {int(file) for file in os.listdir(folder)}
        finally:
            os.close(folder)
        return open_files == set(files) and not any(
            _is_shared(line.split()) for line in self._read(f"{name}/maps").splitlines()
        )

    def is_closed(self, process: int) -> bool:
        """Return True if we, and so all processes of our user, may not inspect `process`."""
        for name, number, _ in self._statuses():
            if number == process:
                try:
                    self._read(f"{name}/maps")
                except PermissionError:
                    return True
        return False

    def _statuses(self) -> Iterator[tuple[str, int, dict[bytes, list[bytes]]]]:
        """Yield each process's name in the folder, number in our namespace, and status fields."""
        for name in os.listdir(self._folder):
            if not name.isdigit() or name in self._ours:
                continue
            with contextlib.suppress(OSError):
                text = self._read(f"{name}/status")
                parts = (line.split(b":", 1) for line in text.splitlines())
                status = {key: value.split() for key, value in parts}
                yield name, int(status[b"NSpid"][-1]), status

    def _newest_thread(self, process: str) -> str:
        folder = os.open(f"{process}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            return max(os.listdir(folder), key=int)
        finally:
            os.close(folder)

    def _has_a_thread_to_run(self, process: str) -> bool:
        """Return True if any thread is ready; answers run in a thread for which the main waits."""
        try:
            folder = os.open(f"{process}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        except OSError:
            return False
        try:
            threads = os.listdir(folder)
        finally:
            os.close(folder)
        for thread in threads:
            with contextlib.suppress(OSError):
                line = self._read(f"{process}/task/{thread}/stat")
                if line[line.rindex(b")") + 2 :].startswith(b"R"):
                    return True
        return False

    def _own_memory(self, process: str) -> int:
        """Return the bytes of a process that no file backs, less what it had when it started."""
        lines = self._read(f"{process}/status").splitlines()
        sizes = (int(line.split()[1]) * 1024 for line in lines if line.startswith(_MEMORY_FIELDS))
        return max(0, sum(sizes) - self._initial_memory)

    def _read(self, name: str) -> bytes:
        file = os.open(name, os.O_RDONLY, dir_fd=self._folder)
        try:
            parts = []
            while part := os.read(file, 2**16):
                parts.append(part)
            return b"".join(parts)
        finally:
            os.close(file)


def _is_shared(mapping: list[bytes]) -> bool:
    """Return True for a line of /proc/<process>/maps whose memory another process may change."""
    permissions, *_, path = mapping[1], mapping[-1]
    system = path.startswith((b"/usr/", b"/lib"))
    return permissions.endswith(b"s") and (b"w" in permissions or not system)


def _contents(folder: str) -> tuple[int, int]:
    """Return the bytes in a memory-backed folder, and its number of files and folders."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0, 0
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize, disk.f_files - disk.f_ffree
