"""Prove what is kept in the repository: `make proof`, a part of continuous integration.

Every page that takes less than SHORT seconds is executed anew each time. The others stand in
groups, each of which fits into SECONDS; one group's turn comes with each run, so that every page is
proved once in as many runs as there are groups. Nothing is kept. Claims must hold; where the
processor is that of the record, nothing but timings may move. Claims about time are only told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from . import committed
from .chapters import BookError
from .fresh import begin, table
from .line import Screen
from .watching import watched

SHORT = 10
SECONDS = 600
"""How long the pages of a group may take together, by the records of their runs."""

TURN = "GITHUB_RUN_NUMBER"
"""The variable that counts the runs. Without it, the commits are counted."""


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


def turn(root: Path) -> int:
    """Return the number of this run."""
    counted = os.environ.get(TURN) or committed.git(root, "rev-list", "--count", "HEAD")
    return int(counted or 0)


def prove(screen: Screen) -> int:
    """Execute the pages whose turn it is; return 0 if they give what is kept."""
    book = begin(Path.cwd())
    kept = book.current()
    seconds = {name: one.run["seconds"] for name, one in kept.items()}
    long, number = groups(seconds), turn(book.root)
    now = number % len(long) if long else 0
    chosen = [name for name, took in seconds.items() if took < SHORT]
    chosen += long[now] if long else []
    for at, names in enumerate(long):
        when = (at - now) % len(long)
        due = "in this run" if not when else f"in {when} run{'s' * (when > 1)}"
        for name in names:
            run = kept[name].run
            screen.say(f"{name}: proved {due}; kept since {run['date']}, {run['seconds']:.0f} s")
    screen.say(f"{len(chosen)} of {len(kept)} pages are executed now; all in {len(long)} runs.")
    problem = ""
    try:
        book.execute(screen, chosen, judged=False)
    except BookError as error:
        problem = str(error)
    lines, _, right = table(book)
    screen.say("\n".join(["", *lines, *filter(None, [problem])]))
    return 0 if right and not problem else 1


def main() -> int:
    """Prove what is kept; return 0 if it holds."""
    return watched(prove, "Stopped.")


if __name__ == "__main__":
    sys.exit(main())
