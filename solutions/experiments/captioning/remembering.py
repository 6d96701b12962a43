"""The second experiment of chapter 3: does a map of the looks tell what was used?

A captioner whose state is told *where* it looked, and one that is told *what* it saw, learn alike
for `SHORT`. Then their looks are taken away, and moved. The appendix asks the second kind after
`LONG` too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.pictures import KINDS
from .captions import caption, judge
from .hiding import LOOKS, Said, kinds_said
from .looking import LONG, SHORT, Budget, pictures_for, taught

TEN = tuple(range(10))
"""The seeds of the captioner that is told what it saw: how it goes about it differs by seed."""


@dataclass(frozen=True)
class Remembering:
    """One captioner of one seed, on combinations that it was not taught.

    accuracy: the share of captions right. on_kinds: localisation at words for kinds. said: look ->
    what it says at these words.
    """

    accuracy: float
    on_kinds: float
    said: dict[str, Said]


def where(seed: int) -> Remembering:
    """Train and ask the captioner whose state is told where it looked."""
    return _ask("soft", seed, SHORT)


def what(seed: int) -> Remembering:
    """Train and ask the captioner whose state is told what it saw."""
    return _ask("stored", seed, SHORT)


def what_for_long(seed: int) -> Remembering:
    """The same, after `LONG`."""
    return _ask("stored", seed, LONG)


def _ask(name: str, seed: int, budget: Budget) -> Remembering:
    model, test = taught(name, seed, budget), pictures_for(seed)
    found = judge(test, caption(model, [picture.image for picture in test]))
    kinds = np.isin(found.named, KINDS)
    return Remembering(
        accuracy=found.accuracy,
        on_kinds=float(found.localisation[kinds].mean()),
        said={look: kinds_said(model, test, look) for look in LOOKS},
    )
