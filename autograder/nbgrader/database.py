"""The gradebook's database: its address, how long to wait for it, and its errors in one line."""

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
"""Seconds to wait for another program that holds the gradebook's lock, and for a server."""

SETTING = "c.CourseDirectory.db_url in nbgrader_config.py"


class GradebookError(Exception):
    """The gradebook cannot be used; the message says where and what to do."""


class GradebookLocked(GradebookError):
    """Another program holds the gradebook."""


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn the exceptions of the database at `url` into GradebookError, in one clear line."""
    try:
        yield
    except (ArgumentError, NoSuchModuleError) as error:
        raise GradebookError(
            f"{shown(url)}: not a database address that SQLAlchemy knows ({_line(error)}). "
            f"Mend {SETTING}."
        ) from error
    except DBAPIError as error:
        raise _explanation(url, error) from error


def patient(url: str, seconds: float | None = None) -> str:
    """`url` with so many seconds to wait for a lock (LOCK_WAIT), where the address can say it."""
    seconds = LOCK_WAIT if seconds is None else seconds
    address = _address(url)
    if address.get_backend_name() == "sqlite":
        address = address.update_query_dict({"timeout": str(seconds)})
    elif address.drivername in ("postgresql", "postgresql+psycopg"):
        ours = {"connect_timeout": f"{LOCK_WAIT:.0f}", "options": _lock_timeout(seconds)}
        address = address.set(query={**ours, **address.query})
    return address.render_as_string(hide_password=False)


def sqlite_file(url: str) -> str | None:
    """The path of an SQLite gradebook; None for one on a server. Raises ArgumentError."""
    address = _address(url)
    return address.database if address.get_backend_name() == "sqlite" else None


def make_file(url: str) -> None:
    """Make the file of an SQLite gradebook, if there is none, with the permissions of the umask.

    SQLite would make it read-only for a group, and gives its journal the permissions of the file.
    What the operating system refuses is left to SQLite, whose errors are explained.
    """
    if (file := sqlite_file(url)) is not None:
        with suppress(OSError):
            Path(file).touch()


def require_writable(url: str) -> None:
    """Raise GradebookError for a file that this process may not write.

    nbgrader would find out in its first statement, and log the traceback.
    """
    file = sqlite_file(url)
    if file and (refusal := _refusal(file)):
        raise GradebookError(refusal)


def _refusal(file: str) -> str:
    """Return why a gradebook cannot be read and written; empty if it can, or is not there."""
    if not os.path.exists(file) or os.access(file, os.R_OK | os.W_OK):
        return ""
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return (
            f"{printable(file)}: the gradebook is on a disk that is read-only. Make the disk "
            "writable, or work on a copy of the course."
        )
    return (
        f"{printable(file)}: you may not read and write the gradebook. Nothing is lost, every "
        f"grade is in the journal. `autograder doctor --course {printable(os.path.dirname(file))}` "
        "says who may, and what its owner types to share it."
    )


def shown(url: str) -> str:
    """The file of an SQLite gradebook, or the address without its password."""
    try:
        address = _address(url)
    except ArgumentError:
        return printable(url)
    return printable(sqlite_file(url) or _bare(address).render_as_string())


def _address(url: str) -> URL:
    try:
        return make_url(url)
    except ValueError as error:  # a port that is no number
        raise ArgumentError(str(error)) from error


def _bare(address: URL) -> URL:
    """The address without its options, one of which may be a password."""
    return address.set(query={})


def _lock_timeout(seconds: float) -> str:
    return f"-c lock_timeout={max(1, int(seconds * 1000))}"  # 0 would mean for ever


def _explanation(url: str, error: DBAPIError) -> GradebookError:
    reason = _line(error.orig or error)
    if "locked" in reason or "lock timeout" in reason:
        return GradebookLocked(
            f"{shown(url)}: another program holds the gradebook (waited {LOCK_WAIT:g} s). "
            "Nothing is lost, every grade is in the journal. End the other program, then "
            "run the same command again."
        )
    file = sqlite_file(url)
    if file and (refusal := _refusal(file)):
        return GradebookError(refusal)
    if "readonly database" in reason and file:
        return GradebookError(
            f"{shown(url)}: the gradebook was removed or may not be written ({reason}). Nothing "
            "is lost, every grade is in the journal. Put it back from a backup, or let it be made "
            "anew: run the same command again."
        )
    if file is None and isinstance(error, OperationalError):
        return GradebookError(
            f"{shown(url)}: the database cannot be reached ({reason}). Nothing is lost, every "
            "grade that was found is in the journal. Look whether the server runs and has this "
            f"database, and whether address, user and password are right in {SETTING}; then run "
            "the same command again."
        )
    return GradebookError(
        f"{shown(url)}: the gradebook cannot be read or written ({reason}). Nothing is lost, "
        "every grade is in the journal. Repair it, put it back from a backup or move it "
        "away, then run the same command again."
    )


def _line(error: BaseException) -> str:
    return printable(str(error).strip().split("\n")[0])
