"""Address the gradebook's database, with a time limit for locks and one-line errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from ..course.plaintext import printable

LOCK_WAIT = 10.0
"""Seconds to wait for a lock that another program holds, and for a connection to a server."""

SETTING = "c.CourseDirectory.db_url in nbgrader_config.py"


class GradebookError(Exception):
    """Raised if the gradebook cannot be used; the message says where and what to do."""


class GradebookLocked(GradebookError):
    """Raised if another program has locked the gradebook."""


@contextmanager
def explain_errors(url: str) -> Iterator[None]:
    """Turn exceptions of the database at `url` into a GradebookError with a one-line message."""
    try:
        yield
    except (ArgumentError, NoSuchModuleError) as error:
        raise GradebookError(
            f"{printable_url(url)}: not a database address that SQLAlchemy knows ({_line(error)}). "
            f"Correct {SETTING}."
        ) from error
    except DBAPIError as error:
        raise _explanation(url, error) from error


def with_lock_wait(url: str, seconds: float | None = None) -> str:
    """Return `url` with a time limit for locks, in seconds (LOCK_WAIT by default).

    For databases and drivers whose address has no option for it, `url` is returned unchanged.
    """
    seconds = LOCK_WAIT if seconds is None else seconds
    address = _address(url)
    if address.get_backend_name() == "sqlite":
        address = address.update_query_dict({"timeout": str(seconds)})
    elif address.drivername in ("postgresql", "postgresql+psycopg"):
        limits = {"connect_timeout": f"{LOCK_WAIT:.0f}", "options": _lock_timeout(seconds)}
        address = address.set(query={**limits, **address.query})
    return address.render_as_string(hide_password=False)


def sqlite_file(url: str) -> str | None:
    """Return the path of an SQLite gradebook, or None for one on a database server.

    Raises ArgumentError if the URL is malformed.
    """
    address = _address(url)
    return address.database if address.get_backend_name() == "sqlite" else None


def make_file(url: str) -> None:
    """Create the file of an SQLite gradebook if it does not exist, with the umask's permissions.

    SQLite itself would create it read-only for a group, and gives its journal the same permissions
    as the file. Errors of the operating system are ignored here: SQLite runs into them again, and
    `explain_errors` turns SQLite's errors into messages.
    """
    if (file := sqlite_file(url)) is not None:
        with suppress(OSError):
            Path(file).touch()


def require_writable(url: str) -> None:
    """Raise GradebookError for a file that this process may not write.

    Without this check, nbgrader's first statement would fail, and nbgrader would log a traceback.
    """
    file = sqlite_file(url)
    if file and (refusal := _refusal(file)):
        raise GradebookError(refusal)


def _refusal(file: str) -> str:
    """Return why a gradebook cannot be read and written; empty if it can, or does not exist."""
    if not os.path.exists(file) or os.access(file, os.R_OK | os.W_OK):
        return ""
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return (
            f"{printable(file)}: the gradebook is on a read-only disk. Make the disk writable, or "
            "work on a copy of the course."
        )
    return (
        f"{printable(file)}: you do not have permission to read and write the gradebook. Nothing "
        f"is lost: every grade is in the journal. `autograder doctor --course "
        f"{printable(os.path.dirname(file))}` shows who has permission, and what the owner must "
        "type to share the gradebook."
    )


def printable_url(url: str) -> str:
    """Return the file of an SQLite gradebook, or the address of a server without its password."""
    try:
        address = _address(url)
    except ArgumentError:
        return printable(url)
    return printable(sqlite_file(url) or _bare(address).render_as_string())


def _address(url: str) -> URL:
    try:
        return make_url(url)
    except ValueError as error:  # the port is not a number
        raise ArgumentError(str(error)) from error


def _bare(address: URL) -> URL:
    """Return the address without its options, because an option may be a password."""
    return address.set(query={})


def _lock_timeout(seconds: float) -> str:
    return f"-c lock_timeout={max(1, int(seconds * 1000))}"  # 0 would disable the limit


def _explanation(url: str, error: DBAPIError) -> GradebookError:
    reason = _line(error.orig or error)
    if "locked" in reason or "lock timeout" in reason:
        return GradebookLocked(
            f"{printable_url(url)}: another program has locked the gradebook (waited "
            f"{LOCK_WAIT:g} s). Nothing is lost: every grade is in the journal. Close the other "
            "program, then run the same command again."
        )
    file = sqlite_file(url)
    if file and (refusal := _refusal(file)):
        return GradebookError(refusal)
    if "readonly database" in reason and file:
        return GradebookError(
            f"{printable_url(url)}: the gradebook was removed or may not be written ({reason}). "
            "Nothing is lost: every grade is in the journal. Restore the gradebook from a backup "
            "if you have one, then run the same command again. Without a backup, it creates a new "
            "gradebook."
        )
    if file is None and isinstance(error, OperationalError):
        return GradebookError(
            f"{printable_url(url)}: the database cannot be reached ({reason}). Nothing is lost: "
            "every grade found so far is in the journal. Check that the server is running and has "
            f"this database, and that the address, user and password in {SETTING} are correct. "
            "Then run the same command again."
        )
    return GradebookError(
        f"{printable_url(url)}: the gradebook cannot be read or written ({reason}). Nothing is "
        "lost: every grade is in the journal. Repair the gradebook, restore it from a backup or "
        "move it away, then run the same command again."
    )


def _line(error: BaseException) -> str:
    return printable(str(error).strip().split("\n")[0])
