"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Put `text` in `path`; a reader sees the old file or the new one, never a part of it."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, data: bytes) -> None:
    """Put `data` in `path`; a reader sees the old file or the new one, never a part of it."""
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
    """The first bytes, `most` at the most, of an ordinary file that a student may have put there.

    Raises OSError; anything else than an ordinary file is one, and is not waited for.
    """
    # O_NONBLOCK: a named pipe opens at once, and is then refused.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no ordinary file", str(path))
        return stream.read(most)


def database_url(path: Path) -> str:
    """The address of an SQLite database in a file, whatever characters its name has."""
    from sqlalchemy import URL  # takes long to import, and few commands need it

    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)
