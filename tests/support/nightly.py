"""What a night proves and a day samples: `make nightly` runs whole what `make test` runs in part.

CONTRIBUTING.md says what that is. Nothing else tells the two apart.
"""

import os
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TypeVar

One = TypeVar("One")

NIGHTLY = bool(os.environ.get("NIGHTLY"))


def some(values: Iterable[One], most: int = 1) -> list[One]:
    """All values by night, the first `most` by day."""
    return list(values if NIGHTLY else islice(values, most))


def in_places(
    names: Iterable[str], places: Collection[str], everywhere: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Each name in each place by night; by day in the first place, and `everywhere` in all."""
    first = next(iter(places))
    return [
        (name, place)
        for name in names
        for place in places
        if NIGHTLY or place == first or name in everywhere
    ]
