"""Execute pages again and report the changes: `make fresh PAGES="alignment cost"`.

Without names, all pages are executed. Results are stored if the page was out of date, or if only
timings have changed. It is an error if a claim fails, or if the same code gives different results
on a machine that rounds alike; then the stored results stay as they were.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from pathlib import Path

from .book import Book
from .chapters import BookError
from .comparison import in_words, lines_of
from .executing import Outcome, execute
from .progress import Screen, span
from .watching import run_command


def fresh(screen: Screen, requested: Collection[str]) -> int:
    """Execute the pages, compare, and store what may be stored; return 0 if there is no error."""
    started = time.monotonic()
    book = Book(Path.cwd())
    unknown = sorted(set(requested) - set(book.chapters))
    if unknown:
        raise BookError(
            f"{', '.join(unknown)}: not a page with code cells. "
            f"These are: {', '.join(book.chapters)}."
        )
    lines, right, count = [""], True, 0
    for outcome in execute(book, screen, requested or list(book.chapters)):
        if outcome.now and (outcome.out_of_date or not outcome.changes):
            book.store(outcome.name, outcome.now)
            count += 1
        right &= not is_error(outcome)
        lines += table(outcome)
    screen.say("\n".join(lines))
    screen.say(f"Pages stored: {count}, in {span(time.monotonic() - started)}.")
    return 0 if right else 1


def is_error(outcome: Outcome) -> bool:
    """Return whether a page failed, or gave different results although it must not."""
    return outcome.now is None or bool(
        outcome.changes and outcome.rounds_alike and not outcome.out_of_date
    )


def table(outcome: Outcome) -> list[str]:
    """Return lines that say what has changed on a page, and what that means."""
    if outcome.now is None:
        assert outcome.error is not None
        detail = [outcome.error.detail] if outcome.error.detail else []
        return [
            *detail,
            f"{outcome.name}: {outcome.error}",
            "    Its stored results stay as they were.",
        ]
    seconds = f"{outcome.now.run['seconds']:.0f} s"
    if outcome.before is None:
        return [f"{outcome.name}: {seconds}; it had no undamaged results to compare with"]
    seconds += f" ({outcome.before.run['seconds']:.0f} before)"
    line = f"{outcome.name}: {in_words(outcome.changes)}; {seconds}. {_meaning(outcome)}"
    return [line, *lines_of(outcome.changes)]


def _meaning(outcome: Outcome) -> str:
    if outcome.out_of_date:
        return "Its claims hold. It was out of date."
    if not outcome.changes:
        return "Its claims hold."
    if outcome.rounds_alike:
        return (
            "ERROR: the same code gave different results, on a machine that rounds alike; "
            "the stored results stay as they were."
        )
    return (
        "Its claims hold. The stored results are from a machine that rounds differently, "
        "and stay as they were."
    )


def main() -> int:
    """Execute the named pages, or all; return 0 if there is no error."""
    return run_command(
        lambda screen: fresh(screen, sys.argv[1:]),
        "Stopped. The stored results of unfinished pages stay as they were.",
    )


if __name__ == "__main__":
    sys.exit(main())
