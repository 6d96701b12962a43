"""The permissions of a course directory, which is open to its owner only or to a group.

A course is shared if its folder has the setgid bit and the group has all permissions on it. Through
that bit, new files in the folder belong to the group. The umask decides what the group may do with
them, so a process that works in a shared course sets its umask.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

PRIVATE = 0o700
SHARED_FOLDER = stat.S_ISGID | 0o770
SHARED_FILE = 0o660
NOTHING_FOR_OTHERS = 0o007


def is_shared(root: Path) -> bool:
    """Return whether the course at `root` belongs to a group. Raises OSError."""
    return root.stat().st_mode & SHARED_FOLDER == SHARED_FOLDER


def keep_shared(root: Path) -> bool:
    """If the course is shared, let the group use all files that this process creates from now on.

    This sets the umask of the process, since SQLite, nbgrader and Jupyter write files here, too. If
    the course is not shared, the umask does not matter, because others cannot open the folder.
    Returns whether the course is shared. Raises OSError.
    """
    shared = is_shared(root)
    if shared:
        os.umask(NOTHING_FOR_OTHERS)
    return shared


def shared_mode(mode: int) -> int:
    """Return the mode that a file or folder with `mode` has in a shared course."""
    if stat.S_ISDIR(mode):
        wanted = mode | SHARED_FOLDER
    else:
        wanted = mode | SHARED_FILE | (mode & stat.S_IXUSR) >> 3  # a program stays executable
    return stat.S_IMODE(wanted) & ~NOTHING_FOR_OTHERS


def group_bits(status: os.stat_result, group: int) -> int:
    """Return what a member of `group` who is not the owner may do: read 4, write 2, execute 1."""
    return status.st_mode >> (3 if status.st_gid == group else 0) & 0o7


def user_name(number: int) -> str:
    """Return the name of a user, or the number if the machine has no name for it."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
