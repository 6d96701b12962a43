"""The processes of a kernel: what they use, and their end."""

import os
import signal
from contextlib import suppress

import psutil


def core_seconds(leader: int) -> float:
    """Return the processor time of a process and of all that it has started, ended or not."""
    with suppress(psutil.NoSuchProcess):
        one = psutil.Process(leader)
        return sum(map(_own_seconds, [one, *one.children(recursive=True)]))
    return 0.0


def _own_seconds(process: psutil.Process) -> float:
    """What a process used, and those of its children that have ended."""
    with suppress(psutil.NoSuchProcess):
        used = process.cpu_times()
        return used.user + used.system + used.children_user + used.children_system
    return 0.0


def resident_bytes(leader: int) -> int:
    """Return the memory of a process and of all that it has started.

    What several of them share is counted for each.
    """
    total = 0
    with suppress(psutil.NoSuchProcess):
        one = psutil.Process(leader)
        for process in [one, *one.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
    return total


def kill(group: int) -> None:
    """Kill a process group, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
