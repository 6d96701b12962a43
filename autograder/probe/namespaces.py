"""A room of its own for one submission, made by the process that will judge it.

In the warm sandbox a room has its own processes, files, user and message queues (namespaces(7));
the network it shares with nobody but the empty sandbox around it.
"""

from __future__ import annotations

import ctypes
import os

from . import seccomp

DESK = "/desk"
"""Where the student's code runs."""

JUDGE = "/judge"
"""Where what runs beside it stands: this package."""

PRIVATE = ("/tmp", "/dev/shm", DESK)
"""The folders that a submission may write to: empty at the start, small, and its own."""

MOST_FILES = 4096
"""So many files and folders each of them holds."""

_NEW_USER, _NEW_PROCESSES, _NEW_MOUNTS, _NEW_IPC = 0x10000000, 0x20000000, 0x20000, 0x8000000
_NO_SUID, _NO_DEVICES, _READ_ONLY, _SLAVE, _RECURSIVE = 2, 4, 1, 0x80000, 0x4000
_NO_TIMES_OF_READING = 0x400 | 0x800  # MS_NOATIME, MS_NODIRATIME
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, _PR_SET_DUMPABLE = 24, 47, 4, 4
_CAPABILITIES_V3 = 0x20080522


def enter(file_bytes: int) -> int:
    """Go into namespaces of our own; return 0 in their first process, its PID in the other one.

    That first process sees no other one, and its folders of PRIVATE hold `file_bytes` each. Raises
    OSError where the machine allows none of it.
    """
    kernel = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _check(kernel.unshare(_NEW_USER | _NEW_PROCESSES | _NEW_MOUNTS | _NEW_IPC), "namespaces")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    first = os.fork()
    if first:
        return first
    _check(kernel.mount(None, b"/", None, _SLAVE | _RECURSIVE, None), "mounts of our own")
    for folder in PRIVATE:
        options = f"size={file_bytes},nr_inodes={MOST_FILES}".encode()
        flags = _NO_SUID | _NO_DEVICES | _NO_TIMES_OF_READING
        _check(kernel.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, options), folder)
    _check(kernel.mount(b"tmpfs", b"/proc", b"tmpfs", _READ_ONLY, b"size=4k"), "/proc")
    os.chdir(DESK)
    return 0


def drop_privileges() -> None:
    """Give up every capability for good, and every system call of `seccomp`."""
    kernel = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if kernel.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # the last one that this kernel knows, or none is ours to drop
    kernel.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    none = (ctypes.c_uint32 * 6)()
    _check(kernel.capset(header, none), "no capabilities")
    kernel.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if seccomp.supported():
        seccomp.install()


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
