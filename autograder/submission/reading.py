"""Read the bytes of a submitted notebook, and the cells in them, whatever was done to the file."""

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
"""The largest notebook that is read. One without outputs is a hundred times smaller."""

MAX_CELLS = 500
"""The most cells that are read."""

HAND_IN_AGAIN = "Save the notebook in Jupyter, look at it once more, and hand it in again."


@dataclass(frozen=True)
class Cell:
    """A cell as it stands in a file. `source` is None if it is no text."""

    kind: str
    source: str | None
    grade_id: str | None
    id: str | None


class Unreadable(Exception):
    """No cells can be read; `judgement` says why, `digest` is what was read.

    `something` is False if nothing at all was handed in.
    """

    def __init__(
        self, verdict: Verdict, message: str, data: bytes | None = None, something: bool = True
    ) -> None:
        """`data` is what was read, or None if nothing could be; see `something` in the class."""
        super().__init__(message)
        self.something = something
        self.judgement = Judgement(verdict, message)
        # Without bytes, the reason stands for them: when it changes, so does the digest.
        self.digest = _digest(b"\0" + message.encode() if data is None else data)


def read_cells(path: Path, above: int = 0) -> tuple[str, list[Cell]]:
    """Read a notebook's bytes once; return their digest and the cells. Raises Unreadable.

    The file and as many folders `above` it must not be symbolic links: a link could show the grader
    a file that the student may not read.
    """
    data = _read_bytes(path, above)
    where = printable(path.name)
    if not data.strip():
        raise Unreadable(Verdict.MALFORMED, f"{where} is empty. {HAND_IN_AGAIN}", data, False)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "damaged or cut off"
        message = f"{where} is no notebook: its JSON is {reason}. {HAND_IN_AGAIN}"
        raise Unreadable(Verdict.MALFORMED, message, data) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        old = isinstance(content, dict) and "worksheets" in content
        reason = "in the old notebook format 3" if old else "no notebook: it has no cells"
        raise Unreadable(Verdict.MALFORMED, f"{where} is {reason}. {HAND_IN_AGAIN}", data)
    if len(cells) > MAX_CELLS:
        message = f"{where} has {len(cells)} cells; at most {MAX_CELLS} are read. Remove some."
        raise Unreadable(Verdict.MALFORMED, message, data)
    return _digest(data), [_cell(cell) for cell in cells if isinstance(cell, dict)]


def digest_of(path: Path, above: int = 0) -> str:
    """Return the digest that `read_cells` gives this file, whether its cells can be read or not."""
    try:
        return _digest(_read_bytes(path, above))
    except Unreadable as unreadable:
        return unreadable.digest


def _read_bytes(path: Path, above: int) -> bytes:
    """The content of a regular file of at most MAX_BYTES; opening it cannot block or lead away."""
    where = printable(path.name)
    opened: list[int] = []
    try:
        folder = path.parents[above]
        opened.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        for part in path.relative_to(folder).parts:
            # O_NONBLOCK: a named pipe opens at once, and is then refused below.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        status = os.fstat(opened[-1])
        if not stat.S_ISREG(status.st_mode):
            message = f"{where} is no ordinary file. {HAND_IN_AGAIN}"
            raise Unreadable(Verdict.MALFORMED, message)
        if status.st_size > MAX_BYTES:
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        with os.fdopen(opened.pop(), "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:  # it grew since
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        return data
    except (FileNotFoundError, NotADirectoryError):
        something = bool(other_notebooks(path))
        raise Unreadable(Verdict.MISSING, _missing(path), None, something) from None
    except OSError as error:
        if _leads_away(path, above):
            message = f"{where} is reached by a symbolic link. Hand in the file itself."
        else:
            reason = errno.errorcode.get(error.errno or 0, "error")
            message = f"{where} cannot be read ({reason}). Check its permissions; hand it in again."
        raise Unreadable(Verdict.MALFORMED, message) from None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _leads_away(path: Path, above: int) -> bool:
    # What lies behind a link to nowhere cannot be looked at: Path.is_symlink would raise for it.
    return any(os.path.islink(part) for part in (path, *list(path.parents)[:above]))


def other_notebooks(path: Path) -> list[str]:
    """The names of other notebooks in the folder of this one, but for a tool's hidden ones."""
    try:
        there = os.listdir(path.parent)
    except OSError:
        return []
    return sorted(
        name
        for name in there
        if name.endswith(".ipynb") and name != path.name and not name.startswith(".")
    )


def _missing(path: Path) -> str:
    """Say what is not there, and which other notebook is."""
    where = printable(path.name)
    if others := other_notebooks(path):
        return f"There is no {where}, but {printable(others[0][:80])}. Rename it; hand it in again."
    return f"There is no {where}. Hand in the notebook under this name."


def _too_large(where: str) -> str:
    most = MAX_BYTES // 2**20
    return f"{where} is larger than {most} MiB. Clear all outputs, save it, and hand it in again."


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
        _text(cell.get("cell_type")) or "",
        _text(source),
        _text(grade_id),
        _text(cell.get("id")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
