"""The executed pages of a project, what is kept of each, and why one must be executed anew."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from . import kept
from .chapters import BookError, Settings, find_chapters, in_turn
from .inputs import differences
from .kept import Damaged, Kept


class Book:
    """The executed pages of the project in the folder `root`.

    chapters: the pages in the order of the contents. order: their names, each after those that it
    reads.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.settings = root, Settings.of(root)
        self.kept = root / kept.PLACE
        self.kept.mkdir(parents=True, exist_ok=True)
        kept.restore(self.kept)
        self.chapters = find_chapters(self.settings)
        self.order = in_turn(self.chapters)

    def folder(self, name: str) -> Path:
        """Return the folder in which the page is kept."""
        return self.kept / name

    def read(self, name: str) -> Kept | None:
        """Return what is kept of the page, if anything is. Raises Damaged."""
        return kept.read(self.folder(name))

    def whole(self, name: str) -> Kept | None:
        """Return what is kept of the page, if that is whole."""
        try:
            return self.read(name)
        except Damaged:
            return None

    def current(self, name: str) -> bool:
        """Tell whether what is kept of the page is whole, and of the page as it is now."""
        one = self.whole(name)
        return one is not None and one.made_from == self.made_from(name)

    def made_from(self, name: str) -> dict[str, Any]:
        """Return what the page is made from now."""
        return self.chapters[name].made_from(self.root, self.kept)

    def reason(self, name: str) -> str | None:
        """Return in words why the page must be executed; None if it need not be. Raises Damaged."""
        before = self.read(name)
        if before is None:
            return "nothing is kept of it"
        changed = differences(before.made_from, self.made_from(name))
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        return f"{', '.join(changed[:3])}{more} changed" if changed else None

    def due(self) -> dict[str, str]:
        """Return the pages that must be executed, or perhaps must, each with the reason.

        Raises Damaged, with a line for each page whose record is damaged.
        """
        found: dict[str, str] = {}
        damaged: list[str] = []
        for name in self.order:
            above = [one for one in self.chapters[name].reads if one in found]
            try:
                reason = self.reason(name)
            except Damaged as error:
                damaged.append(str(error))
                continue
            if reason or above:
                found[name] = reason or f"perhaps, since it reads of {', '.join(above)}"
        if damaged:
            raise Damaged("\n".join(damaged))
        return {name: found[name] for name in self.chapters if name in found}

    def problems(self) -> list[str]:
        """Return a line for each page that is out of date, damaged or no page any more."""
        lines = []
        for name in self.chapters:
            try:
                reason = self.reason(name)
            except BookError as error:
                lines.append(str(error))
            else:
                lines += [f"{name}: {reason}. Type: make site"] if reason else []
        for folder in sorted(self.kept.iterdir()):
            if folder.name not in self.chapters:
                place = kept.PLACE / folder.name
                lines.append(
                    f"{place} is of no page with code cells. Type: rm -r {shlex.quote(str(place))}"
                )
        return lines

    def keep(self, name: str, one: Kept) -> None:
        """Keep what a run made of the page."""
        kept.write(self.folder(name), one)
