"""What all processes of a room use together: processor, memory, files and processes."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_HELD = (b"RssAnon", b"RssShmem")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """A look at all processes but our own: seconds of a processor, bytes held, how many live.

    `files` is how many files and folders the fullest of the room's folders holds. `runnable` is
    True if one of the processes had something to do just now.
    """

    seconds: float
    memory: int
    processes: int
    files: int
    runnable: bool


class Watch:
    """Counts what the processes in a folder like /proc use, all but those that are there now."""

    def __init__(self, processes: int, room: tuple[str, ...]) -> None:
        """`processes` is that folder, open; `room` are the folders that count as memory."""
        self._folder = processes
        self._room = room
        self._ours = {name for name in os.listdir(processes) if name.isdigit()}
        self._born_with = 0
        self._born_with = self._own_memory("self")
        self._used = 0.0
        self._idle = 0.0
        self._looked = time.monotonic()

    def restart(self) -> None:
        """Begin the clock anew."""
        self._used = self.look().seconds
        self._idle = 0.0
        self._looked = time.monotonic()

    def clock(self, usage: Usage) -> float:
        """Seconds since `restart` that were used, or in which nothing had anything to do.

        Time in which a neighbour had the processor is not in it.
        """
        now = time.monotonic()
        if not usage.runnable:
            self._idle += now - self._looked
        self._looked = now
        return max(0.0, usage.seconds - self._used) + self._idle

    def look(self) -> Usage:
        """What is used now. A process that ends meanwhile counts as none."""
        seconds, memory, count, runnable = 0.0, 0, 0, False
        for name in os.listdir(self._folder):
            if not name.isdigit() or name in self._ours:
                continue
            try:
                line = self._read(f"{name}/stat")
                fields = line[line.rindex(b")") + 2 :].split()
                dead = fields[0] == b"Z" and fields[17] == b"1"
                # One whose first thread has ended has its memory in the others.
                newest = "" if dead or fields[0] != b"Z" else f"/task/{self._newest_thread(name)}"
                memory += self._own_memory(f"{name}{newest}")
            except OSError:
                continue
            count += not dead
            runnable = runnable or fields[0] == b"R" or self._has_a_thread_to_run(name)
            seconds += sum(map(int, fields[11:15])) / TICKS  # its own, and its ended children's
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        held = [_held(folder) for folder in self._room]
        return Usage(
            seconds + ended.ru_utime + ended.ru_stime,
            memory + sum(size for size, _ in held),
            count,
            max((files for _, files in held), default=0),
            runnable,
        )

    def end_all_but(self, spared: Collection[int]) -> int:
        """Kill every process but these, and those that were there at first; how many lived.

        The processes are those of our own namespace, where each has the last of its numbers. One
        whose first thread has ended looks dead, and may live in others.
        """
        lived = 0
        for _, number, about in self._statuses():
            dead = about[b"State"][0] in (b"Z", b"X") and about[b"Threads"] == [b"1"]
            if not dead and number not in spared:
                lived += 1
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
        return lived

    def threads(self, process: int) -> int:
        """How many threads a process has, by its number in our own namespace; 0 if it is gone."""
        for _, number, about in self._statuses():
            if number == process:
                return int(about[b"Threads"][0])
        return 0

    def shares_nothing(self, process: int, files: Collection[int]) -> bool:
        """True if `process` is alone, has only these files open, and no memory is shared with it.

        Raises OSError if it does not let us look. Mapped files of the system, which nobody may
        write to, are not counted.
        """
        there = {number: name for name, number, _ in self._statuses()}
        if there.keys() != {process}:
            return False
        place = there[process]
        folder = os.open(f"{place}/fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            opened = {int(name) for name in os.listdir(folder)}
        finally:
            os.close(folder)
        return opened == set(files) and not any(
            _is_shared(line.split()) for line in self._read(f"{place}/maps").splitlines()
        )

    def is_closed(self, process: int) -> bool:
        """True if we, and so all others of our own user, may not look into `process`."""
        for name, number, _ in self._statuses():
            if number == process:
                try:
                    self._read(f"{name}/maps")
                except PermissionError:
                    return True
        return False

    def _statuses(self) -> Iterator[tuple[str, int, dict[bytes, list[bytes]]]]:
        """Each process: its name in the folder, its number in our own namespace, and its status."""
        for name in os.listdir(self._folder):
            if not name.isdigit() or name in self._ours:
                continue
            with contextlib.suppress(OSError):
                text = self._read(f"{name}/status")
                parts = (line.split(b":", 1) for line in text.splitlines())
                about = {key: value.split() for key, value in parts}
                yield name, int(about[b"NSpid"][-1]), about

    def _newest_thread(self, process: str) -> str:
        folder = os.open(f"{process}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            return max(os.listdir(folder), key=int)
        finally:
            os.close(folder)

    def _has_a_thread_to_run(self, process: str) -> bool:
        """True if one does not wait; answers run in a thread for which the first one waits."""
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
        """The bytes of a process that are no file's, less what it was born with."""
        lines = self._read(f"{process}/status").splitlines()
        held = (int(line.split()[1]) * 1024 for line in lines if line.startswith(_HELD))
        return max(0, sum(held) - self._born_with)

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
    """True for a line of /proc/<process>/maps whose memory others may change."""
    permissions, *_, path = mapping[1], mapping[-1]
    system = path.startswith((b"/usr/", b"/lib"))
    return permissions.endswith(b"s") and (b"w" in permissions or not system)


def _held(folder: str) -> tuple[int, int]:
    """The bytes in a folder of memory, and how many files and folders."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0, 0
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize, disk.f_files - disk.f_ffree
