"""Execute pages, one after the other, and compare what that makes with what is kept.

Whoever asks for it takes each page when it is done, and decides whether it is kept before the next
one begins: a page reads the results that are kept, and no others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

from .book import Book
from .chapters import BookError
from .comparison import Moved, compare
from .kept import Kept
from .kernels import ChapterError, Execution, Kernels, relative
from .machine import description, lacking, rounds_alike
from .progress import Screen


@dataclass(frozen=True)
class Made:
    """What executing a page made.

    before: what was kept of it, if that was whole. now: None where it failed, with the error.
    out_of_date: whether `before` was made from something else.
    """

    name: str
    before: Kept | None
    now: Kept | None
    out_of_date: bool
    error: ChapterError | None = None

    @property
    def moved(self) -> Moved:
        """What differs from what was kept."""
        return compare(self.before, self.now) if self.before and self.now else Moved((), 0, ())

    @property
    def rounds_alike(self) -> bool:
        """Whether what was kept was made on a machine that rounds as this one does."""
        return self.before is not None and rounds_alike(self.before.run)


def execute(
    book: Book, screen: Screen, asked_for: Collection[str] = (), judged: bool = True
) -> Iterator[Made]:
    """Execute the pages that are asked for, or else those that are out of date; yield each.

    judged: whether claims about time are. Raises BookError, before anything is executed, where a
    page cannot be.
    """
    due = dict.fromkeys(asked_for, "asked for") if asked_for else book.due()
    _refuse(book, due)
    order = [name for name in book.order if name in due]
    before = {name: book.whole(name) for name in order}
    screen.plan(due, {name: one.run["seconds"] if one else None for name, one in before.items()})
    kernels = Kernels(book.root / "_build", book.settings, book.kept, judged)
    with ThreadPoolExecutor(1) as pool:
        for name in order:
            if not asked_for and book.current(name):  # what it reads came out as it was
                screen.end(name, "")
                continue
            screen.begin(name)
            try:
                made = _made(book, name, before[name], kernels, screen, pool)
            except ChapterError as error:
                made = Made(name, before[name], None, not book.current(name), error)
                screen.end(name, f"failed\n{error}")
            else:
                assert made.now is not None
                screen.end(name, f"{made.now.run['seconds']:.0f} s")
            yield made


def _refuse(book: Book, due: Mapping[str, str]) -> None:
    """Raise BookError if something is missing that a page needs."""
    problems = []
    for name, why in due.items():
        for one in book.chapters[name].reads:
            if one not in due and (reason := book.reason(one)):
                problems.append(f"{name}: it reads of {one}, which is out of date: {reason}")
        if missing := lacking(book.made_from(name)["packages"]):
            problems.append(f"{name}: {why}; it must be executed. {missing}")
    if problems:
        raise BookError("\n".join(problems))


def _made(
    book: Book,
    name: str,
    before: Kept | None,
    kernels: Kernels,
    screen: Screen,
    pool: ThreadPoolExecutor,
) -> Made:
    """Execute one page. Raises ChapterError."""
    chapter = book.chapters[name]
    if missing := [one for one in chapter.reads if not book.current(one)]:
        raise ChapterError(
            relative(chapter.path), f"not executed, since it reads of {', '.join(missing)}"
        )
    made_from = book.made_from(name)
    future = pool.submit(kernels.execute, chapter, screen.doing)
    try:
        execution = future.result()
    except KeyboardInterrupt:  # it reaches this thread alone
        kernels.stop()
        raise
    if made_from != book.made_from(name):
        raise ChapterError(relative(chapter.path), "its code changed while it was executed")
    out_of_date = before is None or before.made_from != made_from
    return Made(name, before, Kept(made_from, _record(execution), execution.files), out_of_date)


def _record(execution: Execution) -> dict[str, object]:
    return {
        "date": date.today().isoformat(),
        **description(),
        "seconds": round(execution.seconds, 1),
        "peak_mib": round(execution.peak_bytes / 2**20),
    }
