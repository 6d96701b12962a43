"""Share a course with a group of the machine, so that several people can grade and mark in it."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .course import Course
from .permissions import group_bits, is_shared, shared_mode, user_name

NAMES = 8
"""The largest number of group members that a sentence lists."""

FORBIDDEN = (errno.EPERM, errno.EACCES, errno.ENOTSUP)


class ShareError(Exception):
    """Raised if a course cannot be shared; the message says why and what to do."""


@dataclass(frozen=True)
class Shared:
    """The result of `share`: the number of changed files and folders, and any remaining obstacle.

    `closed` is the first folder above the course that the group cannot pass through, or None.
    """

    group: str
    changed: int
    closed: Path | None


def share(course: Course, name: str) -> Shared:
    """Let the group `name`, and no other users, read and write `course` and everything in it.

    The folder of the course is changed last, so the course is never half open. Files of other
    people are skipped; they run the same command to complete it. Raises ShareError.
    """
    group = _group(name)
    command = f"autograder share {name} --course {course.root}"
    _check_owner(course.root, group, command)
    changed, foreign = 0, []
    for path, status in _tree(course.root):
        if (status.st_gid, stat.S_IMODE(status.st_mode)) == (group, shared_mode(status.st_mode)):
            continue
        if status.st_uid != os.geteuid() != 0:
            foreign.append((path, status.st_uid))
            continue
        _give(path, status, group)
        changed += 1
    if foreign:
        path, owner = foreign[0]
        raise ShareError(
            f"{path}: it belongs to {user_name(owner)}, so only they can share it (files and "
            f"folders of other people: {len(foreign)}). Ask them to type `{command}`, too."
        )
    return Shared(f"{name}{_members(group)}", changed, _closed(course.root, group))


def readers(course: Course) -> list[tuple[str, bool, str]]:
    """Return rows for `doctor` that say who can read the course: (name, passed, details)."""
    status = course.root.stat()
    detail = f"{course.root} is {course.mode}"
    if not course.private:
        detail += ": other users of this machine can read the submissions and grades. "
        detail += f"Type: chmod 700 {shlex.quote(str(course.root))}"
    rows = [("course: other users", course.private, detail)]
    if status.st_mode & stat.S_IRWXG:
        rows.append(_row_of_group(course.root, status.st_gid))
    return rows


def _row_of_group(root: Path, group: int) -> tuple[str, bool, str]:
    """Return the row of `doctor` on the group that may open the course at `root`."""
    name = _group_name(group)
    command = f"Type: autograder share {name} --course {root}"
    row_name = f"course: the group {name}"
    if (closed := _closed(root, group)) is not None:
        return row_name, False, f"{_closed_note(closed)}."
    if not is_shared(root):
        return row_name, False, f"the group will not be able to use new files. {command}"
    for path, status in _tree(root):
        if not _usable(path.relative_to(root), status, group):
            access = f"{stat.filemode(status.st_mode)} {user_name(status.st_uid)} "
            access += _group_name(status.st_gid)
            return row_name, False, f"cannot read or write {path} ({access}). {command}"
    return row_name, True, f"can read and write everything{_members(group)}"


def _usable(place: Path, status: os.stat_result, group: int) -> bool:
    """Return whether a member of `group` has the access to `place` that grading and marking need.

    Submissions need only be readable, since whoever collects them may write-protect them.
    """
    needed = 0o4 if place.parts[:1] == ("submitted",) and len(place.parts) > 1 else 0o6
    if stat.S_ISDIR(status.st_mode):
        needed |= 0o1
    return group_bits(status, group) & needed == needed


def note_on_path(shared: Shared) -> str | None:
    """Return a sentence on the folder above the course that keeps the group out, if any."""
    return None if shared.closed is None else f"But {_closed_note(shared.closed)}."


def _closed_note(folder: Path) -> str:
    mode = stat.filemode(folder.stat().st_mode)
    return (
        f"the group cannot pass through {folder} ({mode}). Type `chmod o+x {folder}`, which lets "
        "others pass through but not list it, or move the course, for example to /srv"
    )


def _closed(root: Path, group: int) -> Path | None:
    """Return the outermost folder above `root` that members of `group` cannot pass through."""
    for folder in reversed(root.resolve().parents):
        if not group_bits(folder.stat(), group) & 0o1:
            return folder
    return None


def _tree(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files and folders of a course with their status, each folder after its contents.

    Links and named pipes, which a student may have handed in, are skipped. Raises OSError.
    """

    def fail(error: OSError) -> None:
        raise error

    for folder, _, names in os.walk(root, topdown=False, onerror=fail):
        for path in (*(Path(folder, name) for name in sorted(names)), Path(folder)):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                yield path, status


def _give(path: Path, status: os.stat_result, group: int) -> None:
    """Give a file or folder to `group`, and check that the file system has stored that."""
    wanted = shared_mode(status.st_mode)
    try:
        if status.st_gid != group:
            os.chown(path, -1, group, follow_symlinks=False)
        path.chmod(wanted)
        now = path.lstat()
    except OSError as error:
        if error.errno == errno.EROFS:
            raise ShareError(
                f"{path}: its disk is mounted read-only, so its permissions cannot be changed. "
                "Mount it for writing, then run the same command again."
            ) from error
        if error.errno not in FORBIDDEN:
            raise
        now = status
    if (now.st_gid, stat.S_IMODE(now.st_mode)) != (group, wanted):
        raise ShareError(
            f"{path}: this file system does not keep groups and permissions as Linux does. "
            "Move the course to one that does (ext4, XFS, NFS), then run the same command again."
        )


def _group(name: str) -> int:
    """Return the number of the group `name`. Raises ShareError if this user is not in it."""
    own_groups = {os.getegid(), *os.getgroups()}
    try:
        group = grp.getgrnam(name)
    except KeyError:
        own_names = ", ".join(sorted(map(_group_name, own_groups)))
        raise ShareError(
            f"{name}: this machine has no group of this name. You are in: {own_names}. Use one of "
            f"these, or ask the administrator for a new one (`sudo groupadd {name}`)."
        ) from None
    if group.gr_gid in own_groups or os.geteuid() == 0:
        return group.gr_gid
    user = user_name(os.geteuid())
    if user in group.gr_mem:
        raise ShareError(
            f"{name}: you were added to this group after you logged in. Log out and in again, then "
            "run the same command again."
        )
    raise ShareError(
        f"{name}: you ({user}) are not in this group, so you cannot share files with it. Ask the "
        f"administrator to type `sudo usermod -aG {name} {user}`, then log out and in again."
    )


def _check_owner(root: Path, group: int, command: str) -> None:
    """Raise ShareError unless the user owns the course, or shares their files in a shared one."""
    status = root.stat()
    if os.geteuid() in (0, status.st_uid) or (is_shared(root) and status.st_gid == group):
        return
    owner = user_name(status.st_uid)
    raise ShareError(
        f"{root}: the course belongs to {owner}, and only its owner can share it. Ask {owner} to "
        f"type `{command}`."
    )


def _members(group: int) -> str:
    """Return the members of a group in brackets, as far as this machine can list them."""
    first = {user.pw_name for user in pwd.getpwall() if user.pw_gid == group}
    try:
        names = sorted(first.union(grp.getgrgid(group).gr_mem))
    except KeyError:
        names = sorted(first)
    more = ["..."] if len(names) > NAMES else []
    return f" ({', '.join(names[:NAMES] + more)})" if names else ""


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
