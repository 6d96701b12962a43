"""The second experiment of chapter 3: does a map of the looks show what was used?

Two captioners train in the same way for `SHORT`: the state of one receives *where* it looked, that
of the other *what* it saw. Then their looks are restricted and moved. The appendix tests the second
kind after `LONG` too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.pictures import KINDS
from .captions import caption, judge
from .hiding import LOOKS, Said, kinds_said
from .looking import LONG, SHORT, Budget, pictures_for, taught

TEN = tuple(range(10))
"""The seeds of the captioner whose state receives what it saw; its behaviour differs by seed."""


@dataclass(frozen=True)
class Remembering:
    """The results of one captioner of one seed, on combinations unseen in training.

    accuracy: the share of right captions. on_kinds: localisation at words for kinds. said: look ->
    what the captioner says at these words.
    """

    accuracy: float
    on_kinds: float
    said: dict[str, Said]


def where(seed: int) -> Remembering:
    """Train and test the captioner whose state receives where it looked."""
    return _ask("soft", seed, SHORT)


def what(seed: int) -> Remembering:
    """Train and test the captioner whose state receives what it saw."""
    return _ask("stored", seed, SHORT)


def what_for_long(seed: int) -> Remembering:
    """Train the captioner of `what` for `LONG`, and test it."""
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
