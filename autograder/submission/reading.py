"""Read the bytes and the cells of a submitted notebook, whatever was done to the file."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..course.plaintext import printable
from ..judging.verdict import Judgement, Verdict

MAX_BYTES = 10 * 2**20
"""The size in bytes of the largest notebook that is read; without outputs it needs only 1 %."""

MAX_CELLS = 500
"""The largest number of cells in a notebook that is read."""

HAND_IN_AGAIN = "Save the notebook in Jupyter, check it, and hand it in again."


@dataclass(frozen=True)
class Cell:
    """A cell as it is in the file. `source` is None if it is not text."""

    kind: str
    source: str | None
    grade_id: str | None
    id: str | None


class Unreadable(Exception):
    """Raised if no cells can be read; `judgement` says why, `digest` is of the data that was read.

    `something` is False if nothing at all was handed in.
    """

    def __init__(
        self, verdict: Verdict, message: str, data: bytes | None = None, something: bool = True
    ) -> None:
        """Store the reason; `data` is what was read, or None if nothing could be read."""
        super().__init__(message)
        self.something = something
        self.judgement = Judgement(verdict, message)
        # Without data the digest is that of the reason, so that it changes with the reason.
        self.digest = _digest(b"\0" + message.encode() if data is None else data)


def read_cells(path: Path, above: int = 0) -> tuple[str, list[Cell]]:
    """Read a notebook's bytes once; return their digest and the cells. Raises Unreadable.

    Neither the file nor the `above` nearest folders may be symbolic links, since a link could
    make the grader read a file that the student may not read.
    """
    data = read_bytes(path, above)
    where = printable(path.name)
    if not data.strip():
        raise Unreadable(Verdict.MALFORMED, f"{where} is empty. {HAND_IN_AGAIN}", data, False)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "damaged or cut off"
        message = f"{where} is not a notebook: its JSON is {reason}. {HAND_IN_AGAIN}"
        raise Unreadable(Verdict.MALFORMED, message, data) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        old = isinstance(content, dict) and "worksheets" in content
        reason = "in the old notebook format 3" if old else "not a notebook: it has no cells"
        raise Unreadable(Verdict.MALFORMED, f"{where} is {reason}. {HAND_IN_AGAIN}", data)
    if len(cells) > MAX_CELLS:
        message = f"{where} has {len(cells)} cells; at most {MAX_CELLS} are read. Remove some."
        raise Unreadable(Verdict.MALFORMED, message, data)
    return _digest(data), [_cell(cell) for cell in cells if isinstance(cell, dict)]


def digest_of(path: Path, above: int = 0) -> str:
    """Return the digest that `read_cells` gives this file, whether its cells can be read or not."""
    try:
        return _digest(read_bytes(path, above))
    except Unreadable as unreadable:
        return unreadable.digest


def read_bytes(path: Path, above: int) -> bytes:
    """Return the content of a regular file of at most MAX_BYTES, without blocking on a pipe.

    Symbolic links are not followed. Raises Unreadable.
    """
    where = printable(path.name)
    descriptors: list[int] = []
    try:
        folder = path.parents[above]
        descriptors.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        for part in path.relative_to(folder).parts:
            # With O_NONBLOCK, a named pipe opens immediately and is then rejected below.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptors.append(os.open(part, flags, dir_fd=descriptors[-1]))
        status = os.fstat(descriptors[-1])
        if not stat.S_ISREG(status.st_mode):
            message = f"{where} is not a regular file. {HAND_IN_AGAIN}"
            raise Unreadable(Verdict.MALFORMED, message)
        if status.st_size > MAX_BYTES:
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        with os.fdopen(descriptors.pop(), "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:  # the file grew after fstat
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        return data
    except (FileNotFoundError, NotADirectoryError):
        something = bool(other_notebooks(path))
        raise Unreadable(Verdict.MISSING, _missing(path), None, something) from None
    except OSError as error:
        if _is_linked(path, above):
            message = f"{where} is a symbolic link or in a linked folder. Hand in the file itself."
        else:
            reason = errno.errorcode.get(error.errno or 0, "error")
            message = (
                f"{where} cannot be read ({reason}). Check its permissions and hand it in again."
            )
        raise Unreadable(Verdict.MALFORMED, message) from None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _is_linked(path: Path, above: int) -> bool:
    # Below a broken link Path.is_symlink may raise; os.path.islink does not.
    return any(os.path.islink(part) for part in (path, *list(path.parents)[:above]))


def other_notebooks(path: Path) -> list[str]:
    """Return the names of other notebooks in the same folder, except hidden ones of a tool."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    return sorted(
        name
        for name in names
        if name.endswith(".ipynb") and name != path.name and not name.startswith(".")
    )


def _missing(path: Path) -> str:
    """Return a message that names the missing notebook, and another notebook if there is one."""
    where = printable(path.name)
    if others := other_notebooks(path):
        other = printable(others[0][:80])
        return f"There is no {where}, but there is {other}. Rename it and hand it in again."
    return f"There is no {where}. Hand in the notebook under this name."


def _too_large(where: str) -> str:
    limit = MAX_BYTES // 2**20
    return f"{where} is larger than {limit} MiB. Clear all outputs, save it, and hand it in again."


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _cell(cell: dict[str, Any]) -> Cell:
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if isinstance(source, str):
        source = source.encode("utf-8", "replace").decode("utf-8")  # lone surrogates become "?"
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    return Cell(
        _string(cell.get("cell_type")) or "",
        _string(source),
        _string(grade_id),
        _string(cell.get("id")),
    )


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
