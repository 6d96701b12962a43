"""Verify the stored results in the repository: `make proof`, a part of continuous integration.

Every page that takes less than SHORT seconds is executed each time. The others are divided into
groups that each fit into SECONDS. Each day has its group, and `make nightly` verifies it as well,
so every page is verified once in as many days as there are groups. If the time is limited
(`make proof WITHIN=600`, in seconds), the pages that may not fit are named and left to the nightly
run. Nothing is stored, and claims about time are only reported, not judged.

If this machine rounds like the machine of the stored results, only timings may change. Otherwise, a
claim that fails or a number that changes far is reported: as an error if the last commit (or the
branch that it merges) changed the stored results of that page, else as a warning. So a change to a
chapter is not rejected because of how another chapter rounds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path

from . import storage, versions
from .book import Book
from .chapters import BookError
from .executing import Outcome, execute
from .fresh import is_error, table
from .progress import Screen
from .watching import run_command

SHORT = 10
SLOWER = 4
"""How many times as long as in its stored run a page may take on another machine."""

SECONDS = 600
"""The time that the pages of a group may take together, according to their stored runs."""


def groups(seconds: Mapping[str, float]) -> list[list[str]]:
    """Divide the long pages into groups that take at most SECONDS, or have a single page."""
    result: list[list[str]] = []
    left = 0.0
    for name, took in seconds.items():
        if took < SHORT:
            continue
        if not result or took > left:
            result.append([])
            left = SECONDS
        result[-1].append(name)
        left -= took
    return result


def that_fit(names: list[str], seconds: Mapping[str, float], within: float) -> list[str]:
    """Return the pages, in their order, that are done within so many seconds on a slow machine."""
    result: list[str] = []
    for name in names:
        if SLOWER * seconds[name] <= within:
            within -= SLOWER * seconds[name]
            result.append(name)
    return result


class Judgement(Enum):
    """The judgement about the stored results of a page; the value is the message for it."""

    HOLDS = ""
    WARNS = (
        "Warning: its stored results do not hold on this machine; as far as git knows, the last "
        "commit did not change them."
    )
    FAILS = "ERROR: its stored results do not hold."


def judgement(outcome: Outcome, changed: Collection[str]) -> Judgement:
    """Judge a page that was executed. changed: pages whose results the last commit changed."""
    if outcome.rounds_alike:
        return Judgement.FAILS if is_error(outcome) else Judgement.HOLDS
    if outcome.now and not outcome.changes.far:
        return Judgement.HOLDS
    return Judgement.FAILS if outcome.name in changed else Judgement.WARNS


def prove(within: float, screen: Screen) -> int:
    """Execute the pages whose turn it is, as far as they fit; return 0 if their results hold."""
    book = Book(Path.cwd())
    if problems := book.problems():
        raise BookError("\n".join(problems))
    seconds = {name: run.run["seconds"] for name in book.chapters if (run := book.read(name))}
    changed = versions.changed_folders(book.root, storage.PLACE)
    if changed is None:
        screen.say("git does not know what the last commit changed. So if this machine rounds")
        screen.say("differently, problems are reported as warnings only.")
    long, today = groups(seconds), date.today().toordinal()
    chosen = [name for name, took in seconds.items() if took < SHORT]
    chosen += long[today % len(long)] if long else []
    for at, names in enumerate(long):
        days = (at - today) % len(long)
        due = f"in {days} day{'s' * (days > 1)}" if days else "now"
        screen.say(f"verified {due}: {', '.join(names)}")
    fit = that_fit(chosen, seconds, within)
    screen.say(
        f"{len(fit)} of {len(seconds)} pages are executed now, and all within {len(long)} days."
    )
    for name in chosen:
        if name not in fit:
            screen.say(f"NOT verified now, as it takes {seconds[name]:.0f} s or more: {name}")
    lines, right = [""], True
    for outcome in execute(book, screen, fit, judged=False):
        verdict = judgement(outcome, changed or ())
        right &= verdict is not Judgement.FAILS
        lines += [*table(outcome), *([f"    {verdict.value}"] if verdict.value else [])]
    screen.say("\n".join(lines))
    return 0 if right else 1


def main() -> int:
    """Verify the stored results; return 0 if they hold. An argument limits the seconds."""
    within = float(sys.argv[1]) if len(sys.argv) > 1 else math.inf
    return run_command(partial(prove, within), "Stopped.")


if __name__ == "__main__":
    sys.exit(main())
