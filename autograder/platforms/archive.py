"""Read a zip or a folder of submissions without trusting anything in it.

Nothing is unpacked. All names are checked when the archive is opened, and each file is read
separately, within limits. A file is never written under a name from an archive.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..course.plaintext import printable

MOST_ENTRIES = 200_000
"""The largest number of files in an archive."""

LARGEST_FILE = 64 * 2**20
"""The largest file that is read, in bytes. The grader reads notebooks of up to 10 MiB."""

LARGEST_TOTAL = 4 * 2**30
"""The largest number of bytes that are read from an archive."""

RATIO = 200
"""The largest compression ratio of a file larger than NO_BOMB. Notebooks with pictures have 2,
notebooks with text have 20."""

NO_BOMB = 16 * 2**20
"""The size in bytes up to which a file may have any compression ratio."""

READ = (".ipynb", ".yml", ".csv", "timestamp.txt")
"""The endings of the files that are read. Other files are only listed."""

FOREIGN = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")
"""Files that operating systems and Jupyter add."""


class ArchiveError(Exception):
    """Raised if an archive cannot be used; the message says why, where and what to do."""


@dataclass(frozen=True)
class Archive:
    """The files of an archive: sizes in bytes by name, with "/" between folders."""

    path: Path
    sizes: dict[str, int]
    _read: Callable[[str], bytes]

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises ArchiveError if it is too large or damaged."""
        if self.sizes[name] > LARGEST_FILE:
            raise ArchiveError(
                f"{printable(str(self.path))}: {printable(name)} is larger than "
                f"{LARGEST_FILE // 2**20} MiB, so it is not read. Remove it from the archive."
            )
        try:
            data = self._read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as bad:
            raise _refusal(self.path, f"{printable(name)} is damaged ({bad})") from bad
        if len(data) != self.sizes[name]:
            raise _refusal(self.path, f"{printable(name)} does not have the size that it claims")
        return data


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Yield the archive at `path`, a zip or a folder. Raises ArchiveError if it is not safe."""
    if os.path.isdir(path):
        yield _folder(path)
        return
    if not path.is_file():
        raise ArchiveError(f"{printable(str(path))}: no such file or folder. Check the name.")
    try:
        stream = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError) as error:
        reason = "it is not a zip, or the zip is damaged"
        raise _refusal(path, f"{reason} ({error})") from error
    with stream:
        entries = _entries(path, stream)
        sizes = {name: entry.file_size for name, entry in entries.items()}
        _within_limits(path, sizes)
        yield Archive(path, sizes, lambda name: stream.read(entries[name]))


def _entries(path: Path, stream: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the files of a zip by their checked names."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in stream.infolist():
        if entry.is_dir():
            continue
        name = _safe(path, entry.filename.replace("\\", "/"))
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise _refusal(path, f"{printable(name)} is a link or a device, not a file")
        if entry.flag_bits & 1:
            raise _refusal(path, f"{printable(name)} is encrypted")
        if name in entries:
            raise _refusal(path, f"it has two files with the name {printable(name)}")
        if entry.file_size > max(NO_BOMB, RATIO * entry.compress_size) and _is_read(name):
            raise _refusal(path, f"{printable(name)} expands to {RATIO} times its size or more")
        if not _is_foreign(name):
            entries[name] = entry
    return entries


def _folder(path: Path) -> Archive:
    """Return the files of a folder, such as an unpacked archive."""
    sizes: dict[str, int] = {}
    for folder, folders, files in os.walk(path, onerror=_raise):
        folders.sort()
        for child in sorted([*folders, *files]):
            child_path = Path(folder, child)
            name = _safe(path, child_path.relative_to(path).as_posix())
            status = child_path.lstat()
            if stat.S_ISDIR(status.st_mode):
                continue
            if not stat.S_ISREG(status.st_mode):
                raise _refusal(path, f"{printable(name)} is a link or a device, not a file")
            if not _is_foreign(name):
                sizes[name] = status.st_size
        if len(sizes) > MOST_ENTRIES:
            break
    _within_limits(path, sizes)
    return Archive(path, sizes, lambda name: _bytes(path / name, sizes[name]))


def _bytes(path: Path, size: int) -> bytes:
    """Read at most one byte more than `size`, the file's size when it was listed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return stream.read(size + 1)


def _safe(path: Path, name: str) -> str:
    """Return `name`. Raises ArchiveError for control characters or a path out of the archive."""
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in name):
        raise _refusal(path, f"the name {printable(name)} has control characters")
    if name.startswith("/") or re.match("[A-Za-z]:", name):
        raise _refusal(path, f"the name {printable(name)} is an absolute path")
    if not {"", ".", ".."}.isdisjoint(name.split("/")):
        raise _refusal(path, f"the name {printable(name)} leads out of the archive")
    return name


def _within_limits(path: Path, sizes: dict[str, int]) -> None:
    if len(sizes) > MOST_ENTRIES:
        raise ArchiveError(
            f"{printable(str(path))}: it has more than {MOST_ENTRIES:,} files. Nothing was "
            "collected. Use the archive or folder of a single assignment."
        )
    total = sum(size for name, size in sizes.items() if _is_read(name) and size <= LARGEST_FILE)
    if total > LARGEST_TOTAL:
        raise _refusal(path, f"its notebooks are larger than {LARGEST_TOTAL // 2**30} GiB in total")


def _is_read(name: str) -> bool:
    return name.endswith(READ)


def _is_foreign(name: str) -> bool:
    parts = name.split("/")
    return not set(parts).isdisjoint(FOREIGN) or parts[-1].startswith("._")


def _raise(error: OSError) -> None:
    raise error


def _refusal(path: Path, reason: str) -> ArchiveError:
    return ArchiveError(
        f"{printable(str(path))}: {reason}. Nothing was collected. Download the archive again."
    )
