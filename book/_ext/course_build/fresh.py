"""Execute pages anew, beside what is kept, and say what moved: `make fresh PAGES="alignment cost"`.

Without names, all pages. What is kept changes only where that is right: a page that was out of date
is kept; of one that was not, the timings are. A claim that fails, or a number that moves where the
same processor computes the same code, is an error, and then nothing of the page is kept.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Collection
from pathlib import Path

from . import kept
from .bench import Book
from .chapters import BookError
from .comparison import Moved, compare, in_words
from .kept import Damaged, Kept
from .line import Screen, span
from .machine import processor
from .watching import watched

FRESH = Path("_build", "fresh")
SHOWN = 12
"""Numbers of a page that the table names."""


def fresh(screen: Screen, asked_for: Collection[str]) -> int:
    """Execute the pages anew, compare, and keep what may be kept; return 0 if all is well."""
    started = time.monotonic()
    book = begin(Path.cwd())
    unknown = sorted(set(asked_for) - set(book.chapters))
    if unknown:
        raise BookError(
            f"{', '.join(unknown)}: no page with code cells. There are: {', '.join(book.chapters)}."
        )
    problem = ""
    try:
        book.execute(screen, asked_for or list(book.chapters))
    except BookError as error:
        problem = f"{error}\nWhat is kept of these pages stays as it was."
    lines, sound, same = table(book)
    stay = book.keep(sound) if sound else None
    screen.say("\n".join(["", *lines, *filter(None, [stay, problem])]))
    took = span(time.monotonic() - started)
    screen.say(f"Pages whose results are right: {len(sound)}, in {took}.")
    return 0 if same and not problem else 1


def begin(root: Path) -> Book:
    """Return the book with an empty folder for what is executed now."""
    shutil.rmtree(root / FRESH, ignore_errors=True)
    return Book(root, root / FRESH)


def table(book: Book) -> tuple[list[str], list[str], bool]:
    """Return the lines that say what moved, the pages that may be kept, and if all are right."""
    lines, sound, right = [], [], True
    for name in book.chapters:
        now = kept.read(book.root / FRESH / name, name)
        if now is None:
            continue
        seconds = f"{now.run['seconds']:.0f} s"
        before = _before(book, name)
        if before is None:
            lines.append(f"{name}: {seconds}; nothing was kept of it before")
            sound.append(name)
            continue
        moved = compare(before, now)
        out_of_date = before.made_from != now.made_from
        alike = before.run["processor"] == processor()
        wrong = bool(moved) and alike and not out_of_date
        state = _state(moved, out_of_date, alike)
        was = f"{before.run['seconds']:.0f}"
        lines.append(f"{name}: {in_words(moved)}; {seconds} ({was} before). {state}")
        lines += [f"    {number}" for number in moved.numbers[:SHOWN]]
        more = len(moved.numbers) - SHOWN
        lines += [f"    and {more} more"] if more > 0 else []
        if wrong:
            right = False
        elif out_of_date or not moved:
            sound.append(name)
    return lines, sound, right


def _state(moved: Moved, out_of_date: bool, alike: bool) -> str:
    if out_of_date:
        return "Its claims hold. It was out of date."
    if not moved:
        return "Its claims hold."
    if alike:
        return "ERROR: the same code on the same processor gave something else."
    return "Its claims hold. Another processor rounds otherwise; what is kept stays."


def _before(book: Book, name: str) -> Kept | None:
    try:
        return kept.read(book.kept / name, name)
    except Damaged:
        return None


def main() -> int:
    """Execute the pages that are named, or all; return 0 if nothing moved that must not."""
    return watched(
        lambda screen: fresh(screen, sys.argv[1:]), "Stopped. What is kept stays as it was."
    )


if __name__ == "__main__":
    sys.exit(main())
