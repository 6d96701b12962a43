"""What people see of a build: one line while it runs, or a plain line for each chapter in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text


@dataclass
class Progress:
    """How far a build is, from what it has announced.

    chapters: of each that may be executed, the seconds that it takes (None: nobody knows yet).
    """

    clock: Callable[[], float] = time.monotonic
    chapters: dict[str, float | None] = field(default_factory=dict)
    at_once: int = 1
    begun: dict[str, float] = field(default_factory=dict)  # chapters that run, and since when
    over: set[str] = field(default_factory=set)  # chapters that need no more time
    executed: int = 0
    told: tuple[str, str] = ("", "")  # the chapter that told something last, and what
    stage: str = "looking for what has changed"

    def __post_init__(self) -> None:
        self.start = self.clock()

    def update(self, event: str, **what: Any) -> str | None:
        """Take in one event. Return the line that is worth keeping, if there is one."""
        name = what.get("chapter", "")
        if event == "plan":
            self.chapters, self.at_once = what["chapters"], what["at_once"]
            return (
                "\n".join(f"{name}: {reason}" for name, reason in what["reasons"].items()) or None
            )
        elif event == "begun":
            self.begun[name] = self.clock()
            self.told = (name, "starting")
        elif event == "doing":
            self.told = (name, what["text"])
        elif event in ("done", "failed", "unchanged"):
            return self.end(event, name, what)
        elif event == "pages":
            self.stage = "writing the pages"
        return what["text"] if event == "note" else None

    def end(self, event: str, name: str, what: dict[str, Any]) -> str | None:
        """Note that a chapter is over; return its line."""
        self.begun.pop(name, None)
        self.over.add(name)
        if event == "done":
            self.executed += 1
            self.chapters[name] = what["seconds"]
            return f"{self.number(name)}, {name}: {what['seconds']:.0f} s"
        return f"{self.number(name)}, {name}: failed\n{what['text']}" if event == "failed" else None

    def number(self, name: str) -> str:
        """Return which of the chapters this one is."""
        return f"chapter {list(self.chapters).index(name) + 1} of {len(self.chapters)}"

    def seconds_left(self) -> float | None:
        """Return how long the chapters will take yet; None as long as nothing is known of any.

        A chapter of which nothing is known counts as the mean of the others.
        """
        known = [seconds for seconds in self.chapters.values() if seconds is not None]
        if not known:
            return None
        mean = sum(known) / len(known)
        left = {
            name: mean if seconds is None else seconds
            for name, seconds in self.chapters.items()
            if name not in self.over
        }
        for name, since in tuple(self.begun.items()):
            left[name] = max(0, left[name] - (self.clock() - since))
        return max([sum(left.values()) / self.at_once, *left.values()], default=0)

    def time(self) -> str:
        """Return the time left in words, or else the time gone."""
        left = self.seconds_left() if self.chapters else None
        return f"{span(self.clock() - self.start)} so far" if left is None else f"{span(left)} left"

    def __rich__(self) -> Table:
        """Draw the line. It never takes more than one, however narrow the terminal is."""
        label, doing = "the book", self.stage
        if self.begun:
            name, doing = self.told if self.told[0] in self.begun else (next(iter(self.begun)), "")
            others = f" and {len(self.begun) - 1} more" if len(self.begun) > 1 else ""
            label = f"{self.number(name)}, {name}{others}"
        line = Table.grid(padding=(0, 1), expand=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        line.add_column(no_wrap=True, justify="right")
        line.add_row(Text(f"{label}:"), Text(doing), Text(self.time()))
        return line


def span(seconds: float) -> str:
    """Return a time as people say it."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Screen:
    """Where the progress is shown: as one moving line on a terminal, as plain lines elsewhere."""

    def __init__(self, console: Console, progress: Progress) -> None:
        self.console, self.progress, self.lock = console, progress, Lock()
        self.live = Live(progress, console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> Screen:
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.live:
            self.live.stop()

    def update(self, event: str, **what: Any) -> None:
        """Show an event. Several threads may do so at once."""
        with self.lock:
            line = self.progress.update(event, **what)
        if line and (event != "done" or not self.live):
            self.say(line)

    def say(self, text: str) -> None:
        """Print lines that stay."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)
