"""Write files atomically, and read files that a student may have manipulated."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically: a reader sees the old file or the new one."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def read_start(path: Path, most: int) -> bytes:
    """Return at most the first `most` bytes of a regular file that a student may have created.

    Raises OSError, also for anything that is not a regular file; it never blocks.
    """
    # With O_NONBLOCK, a named pipe opens immediately and is then rejected.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return stream.read(most)


def database_url(path: Path) -> str:
    """Return the URL of an SQLite database file, whatever characters its name has."""
    from sqlalchemy import URL  # slow to import, and few commands need it

    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)
