"""Execute pages, one after the other, and compare the results with the stored ones.

`execute` yields each page when it is finished. The caller decides whether to store its results
before the next page begins, since a page only reads stored results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

from .book import Book
from .chapters import BookError
from .comparison import Changes, compare
from .kernels import ChapterError, Execution, Kernels, relative
from .machine import description, missing_packages, missing_weights, rounds_alike
from .progress import Screen
from .storage import StoredRun


@dataclass(frozen=True)
class Outcome:
    """The outcome of executing a page.

    before: its stored run, if there was an undamaged one. now: the new run; None if the execution
    failed with `error`. out_of_date: whether `before` is missing or was made from other inputs.
    """

    name: str
    before: StoredRun | None
    now: StoredRun | None
    out_of_date: bool
    error: ChapterError | None = None

    @property
    def changes(self) -> Changes:
        """The differences to the stored run."""
        return compare(self.before, self.now) if self.before and self.now else Changes((), 0, ())

    @property
    def rounds_alike(self) -> bool:
        """Whether the stored run was made on a machine that rounds as this one does."""
        return self.before is not None and rounds_alike(self.before.run)


def execute(
    book: Book, screen: Screen, requested: Collection[str] = (), judged: bool = True
) -> Iterator[Outcome]:
    """Execute the requested pages, or by default those that are out of date; yield each outcome.

    judged: whether claims about time are judged. Raises BookError, before anything is executed, if
    a page cannot be executed.
    """
    due = dict.fromkeys(requested, "requested") if requested else book.due()
    _refuse(book, due)
    order = [name for name in book.order if name in due]
    before = {name: book.read_undamaged(name) for name in order}
    screen.plan(due, {name: run.run["seconds"] if run else None for name, run in before.items()})
    kernels = Kernels(book.root / "_build", book.settings, book.executed, judged)
    with ThreadPoolExecutor(1) as pool:
        for name in order:
            if not requested and book.is_current(name):  # the results that it reads are unchanged
                screen.end(name, "")
                continue
            screen.begin(name)
            try:
                outcome = _execute_page(book, name, before[name], kernels, screen, pool)
            except ChapterError as error:
                outcome = Outcome(name, before[name], None, not book.is_current(name), error)
                screen.end(name, f"failed\n{error}")
            else:
                assert outcome.now is not None
                screen.end(name, in_budget(outcome.now.run["seconds"], book.settings.budget))
            yield outcome


def in_budget(seconds: float, budget: int) -> str:
    """Return how long a page took. More than its budget is no error: the machine may be busy."""
    took = f"{seconds:.0f} s"
    return took if seconds <= budget else f"{took}; its budget on two idle cores is {budget} s"


def _refuse(book: Book, due: Mapping[str, str]) -> None:
    """Raise BookError if a page needs a missing package or model, or results out of date."""
    problems = []
    for name, why in due.items():
        for source in book.chapters[name].reads:
            if source not in due and (reason := book.reason(source)):
                problems.append(
                    f"{name}: it reads results of {source}, which is out of date: {reason}"
                )
        needs = book.made_from(name)
        missing = missing_packages(needs["packages"]) or missing_weights(needs["code"])
        if missing:
            problems.append(f"{name}: {why}; it must be executed. {missing}")
    if problems:
        raise BookError("\n".join(problems))


def _execute_page(
    book: Book,
    name: str,
    before: StoredRun | None,
    kernels: Kernels,
    screen: Screen,
    pool: ThreadPoolExecutor,
) -> Outcome:
    """Execute a page and return the outcome. Raises ChapterError if it fails."""
    chapter = book.chapters[name]
    if missing := [source for source in chapter.reads if not book.is_current(source)]:
        raise ChapterError(
            relative(chapter.path), f"not executed, since it reads results of {', '.join(missing)}"
        )
    made_from = book.made_from(name)
    try:
        execution = pool.submit(kernels.execute, chapter, screen.doing).result()
    except KeyboardInterrupt:  # Python raises it only in the main thread, which waits here
        kernels.stop()
        raise
    if made_from != book.made_from(name):
        raise ChapterError(relative(chapter.path), "its code changed while it was executed")
    out_of_date = before is None or before.made_from != made_from
    return Outcome(
        name, before, StoredRun(made_from, _record(execution), execution.files), out_of_date
    )


def _record(execution: Execution) -> dict[str, object]:
    return {
        "date": date.today().isoformat(),
        **description(),
        "seconds": round(execution.seconds, 1),
        "peak_mib": round(execution.peak_bytes / 2**20),
    }
