"""Execute what is out of date and keep what that made: drafts first, then in the repository."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from solutions.running.readable import readable
from solutions.running.reporting import NUMBERS, TIMED

from . import committed, kept
from .chapters import BookError, Chapter, Settings, find_chapters
from .inputs import of_code
from .kept import Kept, Store
from .kernels import ChapterError, Execution, Kernels, relative
from .machine import description, lacking
from .schedule import Schedule, Watcher, in_turn

DRAFTS = Path("_build", "executed")
RESULTS = Path("_build", "results.json")


class Book:
    """The executed pages of the project in the folder `root`, and what is kept of them."""

    def __init__(self, root: Path, *first: Path) -> None:
        """first: folders of drafts that come before the usual one."""
        self.root, self.settings = root, Settings.of(root)
        self.kept = self.settings.book / "executed"
        self.store = Store(*first, root / DRAFTS, self.kept)
        self.chapters = find_chapters(self.settings)
        self.order = in_turn(self.chapters)  # a page after those that it reads

    def current(self) -> dict[str, Kept]:
        """Return what runs made of the pages as they stand now; a page without is left out."""
        found = {name: self.store.current(self.chapters[name], self.root) for name in self.order}
        return {name: one for name in self.chapters if (one := found[name])}

    def execute(
        self, watcher: Watcher, asked_for: Collection[str] = (), judged: bool = True
    ) -> list[str]:
        """Execute what is out of date, or what is asked for; return the names of these pages.

        The results are drafts, in the first folder of the store. judged: whether claims about time
        are. Raises BookError for a page that failed, or that this machine cannot execute.
        """
        names = set(asked_for) or set(self.chapters)
        chapters = {name: one for name, one in self.chapters.items() if name in names}
        bench = Bench(self, set(asked_for))
        self.refuse_what_is_lacking(bench, chapters)
        build = self.root / "_build"
        kernels = Kernels(build, self.settings, self.store.places, judged)
        schedule = Schedule(chapters, bench, kernels, watcher)
        schedule.run()
        return schedule.executed

    def refuse_what_is_lacking(self, bench: Bench, chapters: Mapping[str, Chapter]) -> None:
        """Raise BookError if a page is to be executed and its packages are not there."""
        problems = []
        for chapter in chapters.values():
            reason = bench.reason(chapter)
            missing = reason and lacking(self.store.made_from(chapter, self.root)["packages"])
            if missing:
                problems.append(f"{chapter.name}: {reason}; it must be executed. {missing}")
        if problems:
            raise BookError("\n".join(problems))

    def keep(self, names: Collection[str]) -> str | None:
        """Let the drafts of these pages take their places in the repository.

        Returns why they stay drafts, if they do: the tree differs from the last commit.
        """
        changes = committed.changes(self.root)
        if changes is None:
            return "Git does not know this folder, so what was executed stays in _build/."
        if changes:
            listed = ", ".join(changes[:3]) + (f" and {len(changes) - 3} more" * (len(changes) > 3))
            return (
                f"Executed, and not yet kept in book/executed/: {', '.join(sorted(names))}. "
                f"These files are not committed: {listed}. Commit them, then type: make site"
            )
        last = committed.commit(self.root)
        found = {
            n: self.store.current(self.chapters[n], self.root) for n in self.order if n in names
        }
        for name, one in found.items():
            if one and one.folder.parent != self.kept:
                run = {n: value for n, value in one.run.items() if n != "files"}
                run["commit"] = last
                kept.write(self.kept / name, name, one.made_from, run, one.files)
        for place in self.store.places[:-1]:  # when all have moved, since some read of others
            for name in names:
                shutil.rmtree(place / name, ignore_errors=True)
        self.store.forget()
        return None

    def drafts(self) -> list[str]:
        """Return the names of the pages whose current results are drafts."""
        return [name for name, one in self.current().items() if one.folder.parent != self.kept]

    def write_results(self) -> None:
        """Write the numbers of all pages into one file, for people and programs to read."""
        results = {name: numbers(one) for name, one in sorted(self.current().items())}
        (self.root / RESULTS).write_text(readable(results), encoding="utf-8")


class Bench:
    """Says of each page why it is to be executed, and writes what that made as a draft."""

    def __init__(self, book: Book, asked_for: set[str]) -> None:
        self.book, self.waiting = book, asked_for
        self.made_from: dict[str, Any] = {}

    def reason(self, chapter: Chapter) -> str | None:
        """Return in words why the page is to be executed; None if it need not be."""
        self.made_from[chapter.name] = self.book.store.made_from(chapter, self.book.root)
        if chapter.name in self.waiting:
            return "asked for"
        return self.book.store.reason(chapter, self.book.root)

    def seconds(self, name: str) -> float | None:
        """Return what the last execution of the page took, if there was one."""
        path = self.book.kept / name / kept.RUN
        if not path.exists():
            return None
        seconds: float = json.loads(path.read_bytes())["seconds"]
        return seconds

    def keep(self, chapter: Chapter, execution: Execution) -> None:
        """Write what an execution made, with what the page was made from when it began."""
        run = {
            "date": date.today().isoformat(),
            "commit": None,
            **description(),
            "seconds": round(execution.seconds, 1),
            "peak_mib": round(execution.peak_bytes / 2**20),
        }
        place = self.book.store.places[0] / chapter.name
        made_from = self.made_from[chapter.name]
        of_code.cache_clear()
        if made_from != self.book.store.made_from(chapter, self.book.root):
            raise ChapterError(relative(chapter.path), "its code changed while the book was built")
        kept.write(place, chapter.name, made_from, run, execution.files)
        self.waiting.discard(chapter.name)
        self.book.store.current(chapter, self.book.root)  # who reads it finds the new results


def numbers(one: Kept) -> dict[str, Any]:
    """Return the numbers that the prose of a page names, timings among them."""
    files = (one.files.get(name, b"{}") for name in (NUMBERS, f"{TIMED}/{NUMBERS}"))
    return {name: value for file in files for name, value in json.loads(file).items()}
