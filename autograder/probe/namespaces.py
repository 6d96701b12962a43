"""Make a room for a submission, in the process that will run it.

In the warm sandbox, a room has separate namespaces (namespaces(7)) for processes, files, users and
message queues. It shares the network only with the sandbox around it, which is otherwise empty.
"""

from __future__ import annotations

import ctypes
import os

from . import seccomp

DESK = "/desk"
"""The folder in which the student's code runs."""

JUDGE = "/judge"
"""The folder with this package, which runs beside the student's code."""

PRIVATE = ("/tmp", "/dev/shm", DESK)
"""The folders that a submission may write to: private, small, and empty at the start."""

MOST_FILES = 4096
"""The maximum number of files and folders in each of them."""

_NEW_USER, _NEW_PROCESSES, _NEW_MOUNTS, _NEW_IPC = 0x10000000, 0x20000000, 0x20000, 0x8000000
_NO_SUID, _NO_DEVICES, _READ_ONLY, _SLAVE, _RECURSIVE = 2, 4, 1, 0x80000, 0x4000
_NO_TIMES_OF_READING = 0x400 | 0x800  # MS_NOATIME, MS_NODIRATIME
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, _PR_SET_DUMPABLE = 24, 47, 4, 4
_CAPABILITIES_V3 = 0x20080522


def enter(file_bytes: int) -> int:
    """Enter new namespaces; return 0 in their first process, and its PID in the calling process.

    The first process sees no other process, and each of its folders PRIVATE holds `file_bytes`.
    Raises OSError if the machine does not allow this.
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
    _check(kernel.mount(None, b"/", None, _SLAVE | _RECURSIVE, None), "private mounts")
    for folder in PRIVATE:
        options = f"size={file_bytes},nr_inodes={MOST_FILES}".encode()
        flags = _NO_SUID | _NO_DEVICES | _NO_TIMES_OF_READING
        _check(kernel.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, options), folder)
    _check(kernel.mount(b"tmpfs", b"/proc", b"tmpfs", _READ_ONLY, b"size=4k"), "/proc")
    os.chdir(DESK)
    return 0


def drop_privileges() -> None:
    """Give up every capability permanently, and the system calls that `seccomp` refuses."""
    kernel = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if kernel.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # the kernel knows no further capability, or does not let us drop any
    kernel.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    none = (ctypes.c_uint32 * 6)()
    _check(kernel.capset(header, none), "dropping capabilities")
    kernel.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if seccomp.supported():
        seccomp.install()


def _check(result: int, step: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{step}: {os.strerror(number)}")
