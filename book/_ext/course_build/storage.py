"""The stored results of executed pages: a folder for each page in `book/executed/`.

    page.json            digests of the page's inputs (`inputs`) and of each file
    outputs.json, *.svg  the outputs of its cells (`outputs`)
    numbers.json         the numbers in its prose
    <name>.json          data of its figures, and results that other pages read
    timed/               the same files for results that depend on a clock or the machine, and
    timed/run.json       when and where the page was executed, and how long it took

Executing an unchanged page again changes nothing outside of `timed/`. The stored results in a
commit were made from the code in that commit; otherwise `make check` fails.
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
"""The folder of the stored results, within the project's folder."""

PAGE = "page.json"
RUN = f"{TIMED}/run.json"
RECORDS = (PAGE, RUN)


class Damaged(BookError):
    """The stored files of a page are not the files that its run wrote."""


@dataclass(frozen=True)
class StoredRun:
    """The results of a run of a page.

    made_from: digests of its inputs. run: the facts of `run.json`. files: all other files, by name.
    """

    made_from: dict[str, Any]
    run: dict[str, Any]
    files: dict[str, bytes]

    @property
    def stable(self) -> dict[str, bytes]:
        """The files that are the same in every run on such a machine."""
        return {name: data for name, data in self.files.items() if not name.startswith(TIMED)}


def write(folder: Path, stored: StoredRun) -> None:
    """Write the results of a run, with a digest of each file; the folder is replaced as a whole."""
    timed = {name: data for name, data in stored.files.items() if name not in stored.stable}
    digests = _digests(stored.stable)
    record = {"page": folder.name, "made_from": stored.made_from, "files": digests}
    files = dict(stored.files)
    files[PAGE] = readable(_seal(record)).encode()
    files[RUN] = readable(_seal({**stored.run, "files": _digests(timed)})).encode()
    new = folder.with_name(f".new-{folder.name}")
    shutil.rmtree(new, ignore_errors=True)
    for name, data in files.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    replace_folder(new, folder)


def replace_folder(new: Path, folder: Path) -> None:
    """Replace `folder` by `new`. If this is stopped halfway, `restore` repairs the result."""
    old = folder.with_name(f".old-{folder.name}")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore(place: Path) -> None:
    """Repair a folder of pages after `replace_folder` was stopped.

    Pages that it had moved aside are moved back, and incomplete new ones are removed.
    """
    for new in place.glob(".new-*"):
        shutil.rmtree(new, ignore_errors=True)
    for old in place.glob(".old-*"):
        folder = place / old.name.removeprefix(".old-")
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(folder)


def read(folder: Path) -> StoredRun | None:
    """Return the stored run of the page `folder.name`; None if there is none.

    Raises Damaged, which names the file, if files are missing or differ from what the run wrote.
    """
    if not folder.is_dir():
        if versions.is_committed(folder):
            raise Damaged(_describe_damage(folder, "is missing"))
        return None
    record, run = _record(folder, PAGE), _record(folder, RUN)
    if record.get("page") != folder.name:
        raise Damaged(_describe_damage(folder, f"belongs to the page {record.get('page')!r}"))
    digests = record["files"] | run["files"]
    paths = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    for name in sorted({*digests, *paths} - {PAGE, RUN}):
        if name not in paths:
            raise Damaged(_describe_damage(folder, "is missing", name))
        if name not in digests:
            shown = os.path.relpath(folder / name)
            raise Damaged(f"{shown} was not written by a run. Type: rm {shlex.quote(shown)}")
        if _digest(paths[name].read_bytes()) != digests[name]:
            raise Damaged(_describe_damage(folder, "differs from what the run wrote", name))
    del run["files"]
    return StoredRun(record["made_from"], run, {name: paths[name].read_bytes() for name in digests})


def _record(folder: Path, name: str) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((folder / name).read_bytes())
        seal = record.pop("seal")
    except FileNotFoundError:
        raise Damaged(_describe_damage(folder, "is missing", name)) from None
    except (ValueError, KeyError, AttributeError, TypeError):
        raise Damaged(_describe_damage(folder, "is cut off or is not a record", name)) from None
    if seal != _seal(record)["seal"]:
        raise Damaged(_describe_damage(folder, "differs from what the run wrote", name))
    return record


def _describe_damage(folder: Path, problem: str, name: str = ".") -> str:
    """Return a line that names the problem of a file, and the command that repairs it."""
    shown, page = os.path.relpath(folder / name), folder.name
    execute = f"make fresh PAGES={page}"
    if not versions.is_committed(folder):
        return f"{shown} {problem}. Type: {execute}"
    restore_folder = f"git checkout HEAD -- {os.path.relpath(folder)}"
    return f"{shown} {problem}. Type: {restore_folder}   (or: {execute})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _digest(data) for name, data in sorted(files.items())}


def _seal(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "seal": _digest(readable(record).encode())}
