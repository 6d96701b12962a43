"""The progress of a build on a terminal: a status line that changes, and lines that stay."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text


class Screen:
    """The display of a build's progress. Without a terminal, it shows only the lines that stay."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.status = console.status("looking for changes")
        self.seconds: dict[str, float | None] = {}  # of the pages that are not finished
        self.total, self.name, self.since = 0, "", 0.0

    def __enter__(self) -> Screen:
        self.status.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.status.stop()

    def say(self, text: str) -> None:
        """Print lines that stay."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, text: str) -> None:
        """Show `text` in the status line, cut off so that it never takes more than a line."""
        line = Table.grid()
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(Text(text))
        self.status.update(line)

    def plan(self, reasons: Mapping[str, str], seconds: Mapping[str, float | None]) -> None:
        """Print which pages are due, and why. seconds: the time of each one's last run, or None."""
        self.seconds = dict(seconds)
        self.total = len(seconds)
        for name, reason in reasons.items():
            self.say(f"{name}: {reason}")

    def begin(self, name: str) -> None:
        """Show that the execution of a page begins."""
        self.name, self.since = name, time.monotonic()
        self.doing("starting")

    def doing(self, text: str) -> None:
        """Show what the page is doing."""
        self.show(f"{self._number()}, {self.name}{self._left()}: {text}")

    def end(self, name: str, text: str) -> None:
        """Print how a page ended; text: "" for a page that was not executed, prints nothing."""
        if text:
            self.say(f"{self._number()}, {name}: {text}")
        del self.seconds[name]

    def _number(self) -> str:
        return f"chapter {self.total - len(self.seconds) + 1} of {self.total}"

    def _left(self) -> str:
        """Return the remaining time of all pages. A page without a last run counts as the mean."""
        known = [seconds for seconds in self.seconds.values() if seconds is not None]
        if not known:
            return ""
        mean = sum(known) / len(known)
        left = {name: mean if took is None else took for name, took in self.seconds.items()}
        left[self.name] = max(0, left[self.name] - (time.monotonic() - self.since))
        return f" ({span(sum(left.values()))} left in all)"


def span(seconds: float) -> str:
    """Return a time as text, in seconds or minutes."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
