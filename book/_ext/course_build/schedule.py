"""Which chapter is executed when: after those whose results it reads, side by side with others."""

import os
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging

from .chapters import Chapter
from .events import announce
from .kernels import THREADS, ChapterError, Kernels
from .records import Records

logger = logging.getLogger(__name__)


def at_once() -> int:
    """Return how many chapters this machine has cores for; one more may run beside them."""
    return max(1, (os.cpu_count() or 1) // THREADS)


class Schedule:
    """One pass over the chapters, given in the order of the contents.

    Whether a chapter is out of date is decided when those that it reads are done: if they come out
    with the results that they had before, it need not be executed again.
    """

    def __init__(
        self, chapters: Mapping[str, Chapter], root: Path, records: Records, kernels: Kernels
    ) -> None:
        self.chapters, self.root, self.records, self.kernels = chapters, root, records, kernels
        self.digests: dict[str, str] = {}  # of the chapters that are up to date or have begun
        self.executed: set[str] = set()
        self.failures: list[ChapterError] = []

    def run(self) -> None:
        """Execute what is out of date.

        A chapter that was executed is in the cache, even if the pass is interrupted. Raises
        ExtensionError if chapters failed, when all that do not read their results are done.
        """
        needs = {name: list(chapter.reads) for name, chapter in self.chapters.items()}
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            circle = " <- ".join(error.args[1])
            raise ExtensionError(f"chapters read each other's results: {circle}") from None
        self.announce_plan(order)
        with ThreadPoolExecutor(len(order) or 1) as pool:
            try:
                self.work(TopologicalSorter(needs), pool)
            except BaseException:
                self.kernels.stop()
                raise
        if self.failures:
            raise ExtensionError(self.report())

    def announce_plan(self, order: list[str]) -> None:
        """Announce which chapters may have to be executed, and what they took the last time."""
        due: set[str] = set()
        for name in order:
            chapter = self.chapters[name]
            if chapter.reads.keys() & due or not self.is_current(chapter):
                due.add(name)
        seconds = {name: self.records.seconds(name) for name in self.chapters if name in due}
        logger.info("%d of %d chapters to execute", len(due), len(order))
        announce("plan", chapters=seconds, at_once=at_once())

    def work(self, sorter: TopologicalSorter[str], pool: ThreadPoolExecutor) -> None:
        """Give chapters to `pool` as soon as they may begin."""
        places = list(self.chapters)
        ready: list[str] = []
        running: dict[Future[float], str] = {}
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

    def begin(self, chapter: Chapter, pool: ThreadPoolExecutor) -> Future[float] | None:
        """Start to execute `chapter`; return None if it is up to date."""
        current = self.is_current(chapter)
        self.digests[chapter.name] = chapter.digest(self.root)
        if current:
            announce("unchanged", chapter=chapter.name)
            return None
        self.records.drop(chapter)
        logger.info("%s: executing", chapter.name)
        announce("begun", chapter=chapter.name)

        def tell(text: str) -> None:
            logger.info("%s: %s", chapter.name, text)
            announce("doing", chapter=chapter.name, text=text)

        return pool.submit(self.kernels.execute, chapter, tell)

    def finish(self, chapter: Chapter, future: Future[float]) -> bool:
        """Keep what an execution gave; return False if the chapter failed."""
        try:
            seconds = future.result()
        except ChapterError as error:
            self.failures.append(error)
            logger.info("failed: %s", error)
            announce("failed", chapter=chapter.name, text=str(error))
            return False
        self.records.keep(chapter, self.digests[chapter.name], seconds)
        self.executed.add(chapter.name)
        logger.info("%s: executed in %.1f s", chapter.name, seconds)
        announce("done", chapter=chapter.name, seconds=seconds)
        return True

    def is_current(self, chapter: Chapter) -> bool:
        """Tell whether the cache holds `chapter`, and the build all that others read of it."""
        kept = (path for one in self.chapters.values() for path in one.reads.get(chapter.name, ()))
        return self.records.holds(chapter, chapter.digest(self.root)) and all(
            path.exists() for path in kept
        )

    def report(self) -> str:
        """Return what failed, at length, and at the end once more in a line for each chapter."""
        details = [error.detail for error in self.failures if error.detail]
        lines = [str(error) for error in self.failures]
        waiting = [name for name in self.chapters if name not in self.digests]
        if waiting:
            lines.append(f"not executed, since they read its results: {', '.join(waiting)}")
        return "\n".join([*details, "", *lines])
