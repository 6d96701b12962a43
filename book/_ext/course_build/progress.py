"""What people see of a build: a line that moves on a terminal, and lines that stay."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text


class Screen:
    """Shows how far a build is. Where there is no terminal, only the lines that stay are shown."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.status = console.status("looking for what has changed")
        self.seconds: dict[str, float | None] = {}  # of the pages that are not over
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
        """Let the moving line say `text`. It never takes more than one, however long that is."""
        line = Table.grid()
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(Text(text))
        self.status.update(line)

    def plan(self, reasons: Mapping[str, str], seconds: Mapping[str, float | None]) -> None:
        """Say which pages are due, and why. seconds: what each took before, if that is known."""
        self.seconds = dict(seconds)
        self.total = len(seconds)
        for name, reason in reasons.items():
            self.say(f"{name}: {reason}")

    def begin(self, name: str) -> None:
        """Say that a page is executed from now on."""
        self.name, self.since = name, time.monotonic()
        self.doing("starting")

    def doing(self, text: str) -> None:
        """Say what the page does."""
        self.show(f"{self._number()}, {self.name}{self._left()}: {text}")

    def end(self, name: str, text: str) -> None:
        """Say how a page ended, in a line that stays; nothing of one that was not executed."""
        if text:
            self.say(f"{self._number()}, {name}: {text}")
        del self.seconds[name]

    def _number(self) -> str:
        return f"chapter {self.total - len(self.seconds) + 1} of {self.total}"

    def _left(self) -> str:
        """Return how long all will take yet. An unknown page counts as the mean of the others."""
        known = [seconds for seconds in self.seconds.values() if seconds is not None]
        if not known:
            return ""
        mean = sum(known) / len(known)
        each = {name: mean if took is None else took for name, took in self.seconds.items()}
        each[self.name] = max(0, each[self.name] - (time.monotonic() - self.since))
        return f" ({span(sum(each.values()))} left in all)"


def span(seconds: float) -> str:
    """Return a time as people say it."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
