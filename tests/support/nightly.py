"""Choose what the tests sample: `make nightly` runs in full what `make test` runs in part.

CONTRIBUTING.md lists the differences; no other code distinguishes the two runs.
"""

import os
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TypeVar

One = TypeVar("One")

NIGHTLY = bool(os.environ.get("NIGHTLY"))


def some(values: Iterable[One], most: int = 1) -> list[One]:
    """Return all values in the nightly run, the first `most` otherwise."""
    return list(values if NIGHTLY else islice(values, most))


def in_places(
    names: Iterable[str], places: Collection[str], everywhere: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Pair each name with each place by night; by day, only the first place or `everywhere`."""
    first = next(iter(places))
    return [
        (name, place)
        for name in names
        for place in places
        if NIGHTLY or place == first or name in everywhere
    ]
