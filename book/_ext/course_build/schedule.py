"""Which page is executed when: after those whose results it reads, side by side with others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import CycleError, TopologicalSorter
from typing import Any, Protocol

from .chapters import BookError, Chapter
from .kernels import ChapterError, Execution, Kernels
from .settings import THREADS


def at_once() -> int:
    """Return how many pages this machine has cores for; one more may run beside them."""
    return max(1, (os.cpu_count() or 1) // THREADS)


def needed(chapters: Mapping[str, Chapter]) -> dict[str, list[str]]:
    """Return for each page those of the others that it reads."""
    return {
        name: [one for one in chapter.reads if one in chapters]
        for name, chapter in chapters.items()
    }


def in_turn(chapters: Mapping[str, Chapter]) -> list[str]:
    """Return the names of the pages, each after those that it reads.

    Raises BookError for pages that read each other's results.
    """
    try:
        return list(TopologicalSorter(needed(chapters)).static_order())
    except CycleError as error:
        circle = " <- ".join(error.args[1])
        raise BookError(f"chapters read each other's results: {circle}") from None


class Bench(Protocol):
    """What decides whether a page is executed, and takes what that made."""

    def reason(self, chapter: Chapter) -> str | None:
        """Return in words why the page is to be executed; None if it need not be."""

    def seconds(self, name: str) -> float | None:
        """Return what the last execution of the page took, if there was one."""

    def keep(self, chapter: Chapter, execution: Execution) -> None:
        """Take what an execution made."""


class Watcher(Protocol):
    """Who is told what happens."""

    def update(self, event: str, **what: Any) -> None:
        """Take notice of an event."""


class Schedule:
    """One pass over the pages, given in the order of the contents.

    Whether a page is out of date is decided when those that it reads are done: if they come out
    with the results that they had before, it need not be executed again.
    """

    def __init__(
        self, chapters: Mapping[str, Chapter], bench: Bench, kernels: Kernels, watcher: Watcher
    ) -> None:
        self.chapters, self.bench, self.kernels, self.watcher = chapters, bench, kernels, watcher
        self.looked_at: set[str] = set()
        self.executed: list[str] = []
        self.failures: list[ChapterError] = []

    def run(self) -> None:
        """Execute what is out of date.

        A page that was executed is kept, even if the pass is interrupted. Raises BookError if
        pages failed, when all that do not read their results are done.
        """
        self.tell_plan(in_turn(self.chapters))
        needs = needed(self.chapters)
        with ThreadPoolExecutor(len(needs) or 1) as pool:
            try:
                self.work(TopologicalSorter(needs), pool)
            except BaseException:
                self.kernels.stop()
                raise
        if self.failures:
            raise BookError(self.report())

    def tell_plan(self, order: list[str]) -> None:
        """Tell which pages may have to be executed and why, and what they took the last time."""
        due: dict[str, str] = {}
        for name in order:
            reason = self.bench.reason(self.chapters[name])
            above = [one for one in self.chapters[name].reads if one in due]
            if reason or above:
                due[name] = reason or f"perhaps, since it reads of {', '.join(above)}"
        names = [name for name in self.chapters if name in due]
        seconds = {name: self.bench.seconds(name) for name in names}
        reasons = {name: due[name] for name in names}
        self.watcher.update("plan", chapters=seconds, reasons=reasons, at_once=at_once())

    def work(self, sorter: TopologicalSorter[str], pool: ThreadPoolExecutor) -> None:
        """Give pages to `pool` as soon as they may begin."""
        places = list(self.chapters)
        ready: list[str] = []
        running: dict[Future[Execution], str] = {}
        sorter.prepare()
        while True:
            ready += sorter.get_ready()
            ready.sort(key=places.index)
            name = self.following(ready, list(running.values()))
            if name:
                ready.remove(name)
                future = self.begin(self.chapters[name], pool)
                if future:
                    running[future] = name
                else:
                    sorter.done(name)
            elif running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(future)
                    if self.finish(self.chapters[name], future):
                        sorter.done(name)
            else:
                return

    def following(self, ready: list[str], running: list[str]) -> str | None:
        """Return which of `ready`, in the order of the contents, may begin beside `running`.

        The first, as long as there are cores for it; and before its turn one that is to run beside
        others, or more of them once nothing else is left. One that is to run alone waits in its
        turn until all others are done.
        """
        kinds = [self.chapters[name].runs for name in running]
        if "alone" in kinds:
            return None
        full = len(kinds) - kinds.count("beside") >= at_once()
        only = all(self.chapters[name].runs == "beside" for name in ready)
        for name in ready:
            kind = self.chapters[name].runs
            if kind == "beside":
                may = "beside" not in kinds or (only and len(kinds) <= at_once())
            else:
                may = not running if kind == "alone" else not full
            if may:
                return name
            if kind == "alone" and not full:
                return None
        return None

    def begin(self, chapter: Chapter, pool: ThreadPoolExecutor) -> Future[Execution] | None:
        """Start to execute `chapter`; return None if it is up to date."""
        self.looked_at.add(chapter.name)
        if not self.bench.reason(chapter):
            self.watcher.update("unchanged", chapter=chapter.name)
            return None
        self.watcher.update("begun", chapter=chapter.name)

        def tell(text: str) -> None:
            self.watcher.update("doing", chapter=chapter.name, text=text)

        return pool.submit(self.kernels.execute, chapter, tell)

    def finish(self, chapter: Chapter, future: Future[Execution]) -> bool:
        """Keep what an execution made; return False if the page failed."""
        try:
            execution = future.result()
            self.bench.keep(chapter, execution)
        except ChapterError as error:
            self.failures.append(error)
            self.watcher.update("failed", chapter=chapter.name, text=str(error))
            return False
        self.executed.append(chapter.name)
        self.watcher.update("done", chapter=chapter.name, seconds=execution.seconds)
        return True

    def report(self) -> str:
        """Return what failed, at length, and at the end once more in a line for each page."""
        details = [error.detail for error in self.failures if error.detail]
        lines = [str(error) for error in self.failures]
        waiting = [name for name in self.chapters if name not in self.looked_at]
        if waiting:
            lines.append(f"not executed, since they read its results: {', '.join(waiting)}")
        return "\n".join([*details, "", *lines])
