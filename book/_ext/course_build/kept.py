"""What is kept of the executed pages: a folder for each in `book/executed/`.

    page.json            what the page was made from (`inputs`), and a digest of each file
    outputs.json, *.svg  what its cells show (`outputs`)
    numbers.json         the numbers that its prose names
    <name>.json          data of its figures, and what other pages read
    timed/               the same of all that a clock or the machine decides, and
    timed/run.json       when, where and in how long the page was executed

Executing a page again without a change changes nothing outside of `timed/`.

A run is written beside what is kept, into `_build/executed/`, and takes its place when all that it
was made from is committed. Until then the build uses the draft.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solutions.running.readable import readable
from solutions.running.reporting import TIMED

from .chapters import BookError, Chapter
from .inputs import differences

PAGE = "page.json"
RUN = f"{TIMED}/run.json"
MISSING = "nothing is kept of it"


class Damaged(BookError):
    """What is kept of a page is not what its run made."""


@dataclass(frozen=True)
class Kept:
    """What a run of one page made. files: by name, without `page.json` and `run.json`."""

    folder: Path
    made_from: dict[str, Any]
    run: dict[str, Any]
    files: dict[str, bytes]

    @property
    def stable(self) -> dict[str, bytes]:
        """The files that every run on such a machine makes alike."""
        return {name: data for name, data in self.files.items() if not name.startswith(TIMED)}


def write(
    folder: Path,
    page: str,
    made_from: Mapping[str, Any],
    run: Mapping[str, Any],
    files: Mapping[str, bytes],
) -> None:
    """Write what a run made, with a digest of each file; the folder appears as a whole."""
    stable = {name: data for name, data in files.items() if not name.startswith(TIMED)}
    timed = {name: data for name, data in files.items() if name not in stable}
    record = {"page": page, "made_from": made_from, "files": _digests(stable)}
    written = dict(files)
    written[PAGE] = readable(_sealed(record)).encode()
    written[RUN] = readable(_sealed({**run, "files": _digests(timed)})).encode()
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


def read(folder: Path, page: str) -> Kept | None:
    """Return what is kept of `page` in `folder`; None if there is no such folder.

    Raises Damaged, which names the file, if it is not whole or not what the run made.
    """
    if not folder.is_dir():
        return None
    shown = os.path.relpath(folder)
    record, run = _record(folder, PAGE, page), _record(folder, RUN, page)
    if record.get("page") != page:
        raise Damaged(_mend(f"{shown} is of the page {record.get('page')!r}", page))
    known = record["files"] | run["files"]
    there = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    for name in sorted({*known, *there} - {PAGE, RUN}):
        if name not in there:
            raise Damaged(_mend(f"{shown}/{name} is missing", page))
        if name not in known:
            raise Damaged(_mend(f"{shown}/{name} was made by no run", page))
        if _digest(there[name].read_bytes()) != known[name]:
            raise Damaged(_mend(f"{shown}/{name} is not what the run made", page))
    return Kept(folder, record["made_from"], run, {n: there[n].read_bytes() for n in known})


def _record(folder: Path, name: str, page: str) -> dict[str, Any]:
    shown = f"{os.path.relpath(folder)}/{name}"
    try:
        record: dict[str, Any] = json.loads((folder / name).read_bytes())
        seal = record.pop("seal")
    except FileNotFoundError:
        raise Damaged(_mend(f"{shown} is missing", page)) from None
    except (ValueError, KeyError, AttributeError, TypeError):
        raise Damaged(_mend(f"{shown} is cut off, or is no record", page)) from None
    if seal != _sealed(record)["seal"]:
        raise Damaged(_mend(f"{shown} is not what the run made", page))
    return record


def _mend(what: str, page: str) -> str:
    return f"{what}. Type: git restore book/executed/{page}   (or: make fresh PAGES={page})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _digest(data) for name, data in sorted(files.items())}


def _sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "seal": _digest(readable(record).encode())}


class Store:
    """The folders in which executed pages are looked for, the first one first.

    The last one holds what is kept; before it come drafts, which count as long as they are made
    from what stands there now.
    """

    def __init__(self, *places: Path) -> None:
        self.places = places
        for place in places:
            place.mkdir(parents=True, exist_ok=True)
            restore(place)
        self._known: dict[str, Kept] = {}

    def current(self, chapter: Chapter, root: Path) -> Kept | None:
        """Return what a run made of the page as it stands now; None if nothing did.

        Raises Damaged for what is kept; a damaged draft is none.
        """
        now = self.made_from(chapter, root)
        for place in self.places:
            found = self._read(place, chapter.name)
            if found and found.made_from == now:
                self._known[chapter.name] = found
                for earlier in self.places[: self.places.index(place)]:  # a draft of another state
                    shutil.rmtree(earlier / chapter.name, ignore_errors=True)
                return found
        return None

    def made_from(self, chapter: Chapter, root: Path) -> dict[str, Any]:
        """Return what the page is made from now."""
        return chapter.made_from(root, {page: self.folder(page) for page in chapter.reads})

    def folder(self, page: str) -> Path:
        """Return the folder with the page's results: those of the run that is current."""
        known = self._known.get(page)
        return known.folder if known else self.places[-1] / page

    def forget(self) -> None:
        """Forget where the results of each page are: they have moved."""
        self._known.clear()

    def reason(self, chapter: Chapter, root: Path) -> str | None:
        """Return in words why the page must be executed; None if it need not be."""
        before = next(filter(None, (self._read(one, chapter.name) for one in self.places)), None)
        if self.current(chapter, root):
            return None
        if before is None:
            return MISSING
        changed = differences(before.made_from, self.made_from(chapter, root))
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        return f"{', '.join(changed[:3])}{more} changed"

    def _read(self, place: Path, page: str) -> Kept | None:
        try:
            return read(place / page, page)
        except Damaged:
            if place == self.places[-1]:
                raise
            return None
