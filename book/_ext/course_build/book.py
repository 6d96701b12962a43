"""The executed pages of a project, their stored outputs, and why a page must be executed again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from . import storage
from .chapters import BookError, Settings, execution_order, find_chapters
from .inputs import differences
from .storage import Damaged, StoredRun


class Book:
    """The executed pages of the project in the folder `root`.

    chapters: the pages in the order of the contents. order: their names, each after the pages whose
    results it reads. executed: the folder of all stored outputs.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.settings = root, Settings.of(root)
        self.executed = root / storage.PLACE
        self.chapters = find_chapters(self.settings)
        self.order = execution_order(self.chapters)

    def folder(self, name: str) -> Path:
        """Return the folder of the page's stored outputs."""
        return self.executed / name

    def read(self, name: str) -> StoredRun | None:
        """Return the stored run of the page, or None if there is none. Raises Damaged."""
        return storage.read(self.folder(name))

    def read_undamaged(self, name: str) -> StoredRun | None:
        """Return the stored run of the page, or None if it is missing or damaged."""
        try:
            return self.read(name)
        except Damaged:
            return None

    def is_current(self, name: str) -> bool:
        """Return whether the page has a stored run that is undamaged and up to date."""
        stored = self.read_undamaged(name)
        return stored is not None and stored.made_from == self.made_from(name)

    def made_from(self, name: str) -> dict[str, Any]:
        """Return the digests of everything that the page would be made from now."""
        return self.chapters[name].made_from(self.root, self.executed)

    def reason(self, name: str) -> str | None:
        """Return in words why the page must be executed; None if it need not be. Raises Damaged."""
        before = self.read(name)
        if before is None:
            return "it has no stored outputs"
        changed = differences(before.made_from, self.made_from(name))
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        return f"{', '.join(changed[:3])}{more} changed" if changed else None

    def due(self) -> dict[str, str]:
        """Return the pages that must, or may have to, be executed, each with the reason.

        Raises Damaged, with a line for each page whose stored run is damaged.
        """
        reasons: dict[str, str] = {}
        damaged: list[str] = []
        for name in self.order:
            sources = [source for source in self.chapters[name].reads if source in reasons]
            try:
                reason = self.reason(name)
            except Damaged as error:
                damaged.append(str(error))
                continue
            if reason or sources:
                reasons[name] = reason or f"perhaps, since it reads results of {', '.join(sources)}"
        if damaged:
            raise Damaged("\n".join(damaged))
        return {name: reasons[name] for name in self.chapters if name in reasons}

    def problems(self) -> list[str]:
        """Return a line for each page that is out of date or damaged, or no longer exists."""
        lines = []
        for name in self.chapters:
            try:
                reason = self.reason(name)
            except BookError as error:
                lines.append(str(error))
            else:
                lines += [f"{name}: {reason}. Type: make site"] if reason else []
        for folder in sorted(self.executed.glob("*")):
            if folder.name not in self.chapters:
                place = storage.PLACE / folder.name
                lines.append(
                    f"{place} does not belong to a page with code cells. "
                    f"Type: rm -r {shlex.quote(str(place))}"
                )
        return lines

    def store(self, name: str, run: StoredRun) -> None:
        """Store the run of a page."""
        storage.write(self.folder(name), run)
