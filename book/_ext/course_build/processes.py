"""The processes of a kernel: measure their time and memory, and kill them."""

import os
import signal
from contextlib import suppress

import psutil


def core_seconds(leader: int) -> float:
    """Return the processor time of a process and all its descendants, including ended ones."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(leader)
        return sum(map(_own_seconds, [process, *process.children(recursive=True)]))
    return 0.0


def _own_seconds(process: psutil.Process) -> float:
    """Return the processor time of a process and of those of its children that have ended."""
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


def resident_bytes(leader: int) -> int:
    """Return the resident memory, in bytes, of a process and all its descendants.

    Memory that several of them share is counted for each.
    """
    total = 0
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(leader)
        for process in [root, *root.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
    return total


def kill(group: int) -> None:
    """Kill a process group, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
