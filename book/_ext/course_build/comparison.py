"""The differences between two runs of a page: numbers, figures, data and printed output."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from solutions.running.reporting import MODEL, NUMBERS

from .outputs import OUTPUTS
from .storage import StoredRun

FAR = 10
"""Rounding does not explain that a number becomes more than FAR times as large, or as small."""

REMAINS = 1e-6
"""Numbers below this are rounding errors, and may change in any way."""


@dataclass(frozen=True)
class Number:
    """A number that changed. before, now: None if it did not exist, or no longer exists."""

    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        share = ""
        pair = (self.before, self.now)
        if all(isinstance(value, int | float) for value in pair) and self.before:
            share = f" ({self.relative:.1%})"
        return f"{self.name}: {_short(self.before)} to {_short(self.now)}{share}"

    @property
    def relative(self) -> float:
        """The relative change of the number; infinite if one of the values is not a number."""
        if any(not isinstance(value, int | float) for value in (self.before, self.now)):
            return float("inf")
        scale = max(abs(self.before), abs(self.now))
        return abs(self.now - self.before) / scale if scale else 0.0

    @property
    def far(self) -> bool:
        """Whether its sign changed, or it changed by more than the factor FAR.

        An integer may always change by 1. A value that is not a number is always far.
        """
        pair = (self.before, self.now)
        if any(not isinstance(value, int | float) for value in pair):
            return True
        if all(isinstance(value, int) for value in pair) and abs(self.now - self.before) <= 1:
            return False
        small, large = sorted(map(abs, pair))
        return bool(large > REMAINS and (self.before * self.now < 0 or large > FAR * small))


@dataclass(frozen=True)
class Changes:
    """The differences between two runs of a page, except timings.

    numbers: the numbers in the prose that changed. count: how many numbers the prose has. files:
    the names of other files that differ.
    """

    numbers: tuple[Number, ...]
    count: int
    files: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.numbers or self.files)

    @property
    def far(self) -> tuple[Number, ...]:
        """The numbers that changed more than rounding explains, even on pages that train models."""
        return tuple(number for number in self.numbers if number.far)


def compare(before: StoredRun, now: StoredRun) -> Changes:
    """Compare two runs of a page."""
    old, new = (json.loads(run.files.get(NUMBERS, b"{}")) for run in (before, now))
    numbers = tuple(
        Number(name, old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )
    others = sorted({*before.stable, *now.stable} - {NUMBERS})
    files = tuple(name for name in others if before.stable.get(name) != now.stable.get(name))
    return Changes(numbers, len(new), files)


def lines_of(changes: Changes, most: int = 12) -> list[str]:
    """Return a line for each number that changed, but only for the first `most` numbers."""
    more = len(changes.numbers) - most
    lines = [f"    {number}" for number in changes.numbers[:most]]
    return [*lines, f"    and {more} more"] if more > 0 else lines


def in_words(changes: Changes) -> str:
    """Return a summary of the changes, in a line."""
    if not changes:
        return f"none of {changes.count} numbers changed, and everything else is the same"
    figures = sum(name.endswith((".svg", ".png", ".jpg")) for name in changes.files)
    data = sum(name.endswith(".json") and name != OUTPUTS for name in changes.files)
    models = sum(name.endswith(MODEL) for name in changes.files)
    words = [f"changed: {len(changes.numbers)} of {changes.count} numbers"]
    if changes.numbers:
        largest = max(number.relative for number in changes.numbers)
        words[0] += f" (by at most {largest:.1%})"
    words += [f"{figures} figures"] if figures else []
    words += [f"{data} data files"] if data else []
    words += [f"{models} models"] if models else []
    words += ["printed output"] if OUTPUTS in changes.files else []
    return ", ".join(words)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
