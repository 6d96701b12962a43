"""The processes of a kernel: their priority, what they use, and their end."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import psutil

LOWEST = 19
"""The niceness of what uses only the cores that nothing else wants."""


def step_aside(group: int) -> None:
    """Give a process group, with all that it will start, the lowest priority.

    group: its leader's id. Linux may weigh whole sessions against each other before it looks at the
    processes in them (`man 7 sched`, "autogroup"), and a kernel is a session of its own.
    """
    with suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PGRP, group, LOWEST)
    with suppress(OSError):  # there is no such file where sessions are not weighed
        Path(f"/proc/{group}/autogroup").write_text(str(LOWEST), encoding="ascii")


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
