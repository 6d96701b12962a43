"""Prove what is kept in the repository: `make proof`, a part of continuous integration.

Every page that takes less than SHORT seconds is executed anew each time. The others stand in
groups, each of which fits into SECONDS; each day one group's turn comes, and `make nightly` proves
that one, too, so that every page is proved once in as many days as there are groups. Nothing is
kept, and claims about time are only told.

On a machine that rounds as that of the record does, nothing but timings may move. On another one,
where a claim fails or a number moves far, that is told; it is an error if the last commit (or the
branch that it merges) changed what is kept of the page, and else a warning: whoever changes one
chapter is not refused for another one's rounding.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from datetime import date
from enum import Enum
from pathlib import Path

from . import kept, versions
from .book import Book
from .chapters import BookError
from .executing import Made, execute
from .fresh import table, wrong
from .progress import Screen
from .watching import watched

SHORT = 10
SECONDS = 600
"""How long the pages of a group may take together, by the records of their runs."""


def groups(seconds: Mapping[str, float]) -> list[list[str]]:
    """Share out the long pages; each group takes at most SECONDS, or is a single page."""
    found: list[list[str]] = []
    left = 0.0
    for name, took in seconds.items():
        if took < SHORT:
            continue
        if not found or took > left:
            found.append([])
            left = SECONDS
        found[-1].append(name)
        left -= took
    return found


class Judgement(Enum):
    """What it means that a page was executed anew; the value is said of it."""

    HOLDS = ""
    WARNS = "Warning: on this machine it does not hold; the last commit is not known to change it."
    FAILS = "ERROR: what is kept of it does not hold."


def judgement(made: Made, changed: Collection[str]) -> Judgement:
    """Judge a page that was executed anew. changed: the pages that the last commit changed."""
    if made.rounds_alike:
        return Judgement.FAILS if wrong(made) else Judgement.HOLDS
    if made.now and not made.moved.far:
        return Judgement.HOLDS
    return Judgement.FAILS if made.name in changed else Judgement.WARNS


def prove(screen: Screen) -> int:
    """Execute the pages whose turn it is; return 0 if they give what is kept."""
    book = Book(Path.cwd())
    if problems := book.problems():
        raise BookError("\n".join(problems))
    seconds = {name: one.run["seconds"] for name in book.chapters if (one := book.read(name))}
    changed = versions.changed(book.root, kept.PLACE)
    if changed is None:
        screen.say("What the last commit changed is not known here: where rounding differs, all")
        screen.say("that is found is a warning.")
    long, today = groups(seconds), date.today().toordinal()
    chosen = [name for name, took in seconds.items() if took < SHORT]
    chosen += long[today % len(long)] if long else []
    for at, names in enumerate(long):
        days = (at - today) % len(long)
        due = f"in {days} day{'s' * (days > 1)}" if days else "now"
        screen.say(f"proved {due}: {', '.join(names)}")
    screen.say(f"{len(chosen)} of {len(seconds)} pages are executed now; all in {len(long)} days.")
    lines, right = [""], True
    for made in execute(book, screen, chosen, judged=False):
        found = judgement(made, changed or ())
        right &= found is not Judgement.FAILS
        lines += [*table(made), *([f"    {found.value}"] if found.value else [])]
    screen.say("\n".join(lines))
    return 0 if right else 1


def main() -> int:
    """Prove what is kept; return 0 if it holds."""
    return watched(prove, "Stopped.")


if __name__ == "__main__":
    sys.exit(main())
