"""What is kept of the executed pages: a folder for each in `book/executed/`.

    page.json            what the page was made from (`inputs`), and a digest of each file
    outputs.json, *.svg  what its cells show (`outputs`)
    numbers.json         the numbers that its prose names
    <name>.json          data of its figures, and what other pages read
    timed/               the same of all that a clock or the machine decides, and
    timed/run.json       when, where and in how long the page was executed

Executing a page again without a change changes nothing outside of `timed/`. What a commit holds of
a page was made from what the commit holds of its code, or `make check` says that it was not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solutions.running.readable import readable
from solutions.running.reporting import TIMED

from . import versions
from .chapters import BookError

PLACE = Path("book", "executed")
"""Where it stands, in the project's folder."""

PAGE = "page.json"
RUN = f"{TIMED}/run.json"


class Damaged(BookError):
    """What is kept of a page is not what its run made."""


@dataclass(frozen=True)
class Kept:
    """What a run of one page made. files: by name, without `page.json` and `run.json`."""

    made_from: dict[str, Any]
    run: dict[str, Any]
    files: dict[str, bytes]

    @property
    def stable(self) -> dict[str, bytes]:
        """The files that every run on such a machine makes alike."""
        return {name: data for name, data in self.files.items() if not name.startswith(TIMED)}


def write(folder: Path, one: Kept) -> None:
    """Write what a run made, with a digest of each file; the folder appears as a whole."""
    timed = {name: data for name, data in one.files.items() if name not in one.stable}
    record = {"page": folder.name, "made_from": one.made_from, "files": _digests(one.stable)}
    written = dict(one.files)
    written[PAGE] = readable(_sealed(record)).encode()
    written[RUN] = readable(_sealed({**one.run, "files": _digests(timed)})).encode()
    new = folder.with_name(f".new-{folder.name}")
    shutil.rmtree(new, ignore_errors=True)
    for name, data in written.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    put(new, folder)


def put(new: Path, folder: Path) -> None:
    """Let a folder take the place of another one. `restore` mends what a stop leaves half done."""
    old = folder.with_name(f".old-{folder.name}")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore(place: Path) -> None:
    """Put back, in a folder of pages, what `put` had moved aside when it was stopped."""
    for old in place.glob(".old-*"):
        folder = place / old.name.removeprefix(".old-")
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(folder)


def read(folder: Path) -> Kept | None:
    """Return what is kept of the page that `folder` is named after; None if nothing is.

    Raises Damaged, which names the file, if it is not whole or not what the run made.
    """
    if not folder.is_dir():
        if versions.knows(folder):
            raise Damaged(_mend(folder, "is missing"))
        return None
    record, run = _record(folder, PAGE), _record(folder, RUN)
    if record.get("page") != folder.name:
        raise Damaged(_mend(folder, f"is of the page {record.get('page')!r}"))
    known = record["files"] | run["files"]
    there = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    for name in sorted({*known, *there} - {PAGE, RUN}):
        if name not in there:
            raise Damaged(_mend(folder, "is missing", name))
        if name not in known:
            shown = os.path.relpath(folder / name)
            raise Damaged(f"{shown} was made by no run. Type: rm {shlex.quote(shown)}")
        if _digest(there[name].read_bytes()) != known[name]:
            raise Damaged(_mend(folder, "is not what the run made", name))
    del run["files"]
    return Kept(record["made_from"], run, {n: there[n].read_bytes() for n in known})


def _record(folder: Path, name: str) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((folder / name).read_bytes())
        seal = record.pop("seal")
    except FileNotFoundError:
        raise Damaged(_mend(folder, "is missing", name)) from None
    except (ValueError, KeyError, AttributeError, TypeError):
        raise Damaged(_mend(folder, "is cut off, or is no record", name)) from None
    if seal != _sealed(record)["seal"]:
        raise Damaged(_mend(folder, "is not what the run made", name))
    return record


def _mend(folder: Path, what: str, name: str = ".") -> str:
    """Return a line that says what is wrong with a file, and what puts it right in any state."""
    shown, page = os.path.relpath(folder / name), folder.name
    anew = f"make fresh PAGES={page}"
    if not versions.knows(folder):
        return f"{shown} {what}. Type: {anew}"
    return f"{shown} {what}. Type: git checkout HEAD -- {os.path.relpath(folder)}   (or: {anew})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _digest(data) for name, data in sorted(files.items())}


def _sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "seal": _digest(readable(record).encode())}
