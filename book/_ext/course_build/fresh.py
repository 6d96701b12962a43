"""Execute pages anew and say what moved: `make fresh PAGES="alignment cost"`.

Without names, all pages. What is kept changes only where that is right: a page that was out of date
is kept; of one that was not, the timings are. A claim that fails, or a number that moves where a
machine that rounds alike computes the same code, is an error, and then what is kept stays.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from pathlib import Path

from .book import Book
from .chapters import BookError
from .comparison import in_words, lines_of
from .executing import Made, execute
from .progress import Screen, span
from .watching import watched


def fresh(screen: Screen, asked_for: Collection[str]) -> int:
    """Execute the pages anew, compare, and keep what may be kept; return 0 if all is well."""
    started = time.monotonic()
    book = Book(Path.cwd())
    unknown = sorted(set(asked_for) - set(book.chapters))
    if unknown:
        raise BookError(
            f"{', '.join(unknown)}: no page with code cells. There are: {', '.join(book.chapters)}."
        )
    lines, right, count = [""], True, 0
    for made in execute(book, screen, asked_for or list(book.chapters)):
        if made.now and (made.out_of_date or not made.moved):
            book.keep(made.name, made.now)
            count += 1
        right &= not wrong(made)
        lines += table(made)
    screen.say("\n".join(lines))
    screen.say(f"Pages kept: {count}, in {span(time.monotonic() - started)}.")
    return 0 if right else 1


def wrong(made: Made) -> bool:
    """Tell whether a page failed, or gave something else where it must not."""
    return made.now is None or bool(made.moved and made.rounds_alike and not made.out_of_date)


def table(made: Made) -> list[str]:
    """Return the lines that say what moved on a page, and what that means."""
    if made.now is None:
        assert made.error is not None
        detail = [made.error.detail] if made.error.detail else []
        return [*detail, f"{made.name}: {made.error}", "    What is kept of it stays as it was."]
    seconds = f"{made.now.run['seconds']:.0f} s"
    if made.before is None:
        return [f"{made.name}: {seconds}; nothing was kept of it before"]
    seconds += f" ({made.before.run['seconds']:.0f} before)"
    line = f"{made.name}: {in_words(made.moved)}; {seconds}. {_meaning(made)}"
    return [line, *lines_of(made.moved)]


def _meaning(made: Made) -> str:
    if made.out_of_date:
        return "Its claims hold. It was out of date."
    if not made.moved:
        return "Its claims hold."
    if made.rounds_alike:
        return "ERROR: the same code on such a machine gave something else; what is kept stays."
    return "Its claims hold. Another machine rounds otherwise; what is kept stays."


def main() -> int:
    """Execute the pages that are named, or all; return 0 if nothing moved that must not."""
    return watched(
        lambda screen: fresh(screen, sys.argv[1:]), "Stopped. What is kept stays as it was."
    )


if __name__ == "__main__":
    sys.exit(main())
