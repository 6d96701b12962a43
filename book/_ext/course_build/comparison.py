"""What has moved between two runs of a page: its numbers, its figures, what it shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from solutions.running.reporting import MODEL, NUMBERS

from .kept import Kept
from .outputs import OUTPUTS

FAR = 10
"""A number that becomes so many times as large, or as small, has moved farther than by rounding."""

REMAINS = 1e-6
"""Numbers below this are what rounding leaves, and may become any others."""


@dataclass(frozen=True)
class Number:
    """A number that moved. before and now: None where there was none, or is none any more."""

    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        share = ""
        if all(isinstance(one, int | float) for one in (self.before, self.now)) and self.before:
            share = f" ({(self.now - self.before) / abs(self.before):+.2g} of it)"
        return f"{self.name}: {_short(self.before)} to {_short(self.now)}{share}"

    @property
    def relative(self) -> float:
        """By which share of it the number moved; infinite for one that is no number, or new."""
        if any(not isinstance(one, int | float) for one in (self.before, self.now)):
            return float("inf")
        scale = max(abs(self.before), abs(self.now))
        return abs(self.now - self.before) / scale if scale else 0.0

    @property
    def far(self) -> bool:
        """Whether its sign changed, or it is FAR times what it was; no count that moved by 1."""
        pair = (self.before, self.now)
        if any(not isinstance(one, int | float) for one in pair):
            return True
        if all(isinstance(one, int) for one in pair) and abs(self.now - self.before) <= 1:
            return False
        small, large = sorted(map(abs, pair))
        return large > REMAINS and (self.before * self.now < 0 or large > FAR * small)


@dataclass(frozen=True)
class Moved:
    """What differs between two runs of one page, timings apart.

    numbers: of those that the prose names. count: how many it names. files: the others that differ.
    """

    numbers: tuple[Number, ...]
    count: int
    files: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.numbers or self.files)

    @property
    def far(self) -> tuple[Number, ...]:
        """The numbers that moved farther than rounding explains, even where it trains a model."""
        return tuple(number for number in self.numbers if number.far)


def compare(before: Kept, now: Kept) -> Moved:
    """Compare two runs of a page."""
    old, new = (json.loads(one.files.get(NUMBERS, b"{}")) for one in (before, now))
    numbers = tuple(
        Number(name, old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )
    others = sorted({*before.stable, *now.stable} - {NUMBERS})
    files = tuple(name for name in others if before.stable.get(name) != now.stable.get(name))
    return Moved(numbers, len(new), files)


def lines_of(moved: Moved, shown: int = 12) -> list[str]:
    """Return a line for each number that moved, the first `shown` of them."""
    more = len(moved.numbers) - shown
    lines = [f"    {number}" for number in moved.numbers[:shown]]
    return [*lines, f"    and {more} more"] if more > 0 else lines


def in_words(moved: Moved) -> str:
    """Return a line that says what moved."""
    if not moved:
        return f"none of {moved.count} numbers moved; all else is the same"
    figures = sum(name.endswith((".svg", ".png", ".jpg")) for name in moved.files)
    data = sum(name.endswith(".json") and name != OUTPUTS for name in moved.files)
    models = sum(name.endswith(MODEL) for name in moved.files)
    words = [f"{len(moved.numbers)} of {moved.count} numbers moved"]
    if moved.numbers:
        words.append(f"at most by {max(one.relative for one in moved.numbers):.1%}")
    words += [f"{figures} figures"] if figures else []
    words += [f"{data} files of data"] if data else []
    words += [f"{models} models"] if models else []
    words += ["what is printed"] if OUTPUTS in moved.files else []
    return ", ".join(words)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
