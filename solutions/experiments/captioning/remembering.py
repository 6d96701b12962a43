"""The second experiment of chapter 3: does a map of the looks show what was used?

Two captioners train in the same way for `SHORT`: the state of one receives *where* it looked, that
of the other *what* it saw. Then their looks are restricted and moved. The appendix tests the second
kind after `LONG` too, and one whose annotations have each seen the whole picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ...data.pictures import KINDS
from ...running.seeds import SEEDS, over_seeds
from .captions import caption, judge
from .hiding import FREE, LOOKS, ON_NAMED, ON_OTHER, Said, kinds_said
from .looking import LONG, SHORT, Budget, pictures_for, state_of, taught

TEN = tuple(range(10))
"""The seeds of the captioner whose state receives what it saw; its behaviour differs by seed."""


class Run(NamedTuple):
    """A captioner's name in `looking`, its seed, and its budget."""

    name: str
    seed: int
    budget: Budget = SHORT


CHAPTER = (
    *(Run(name, seed) for name in ("even", "soft") for seed in SEEDS),
    *(Run("stored", seed) for seed in TEN),
)
APPENDIX = (
    *(Run("even", seed, LONG) for seed in SEEDS),
    *(Run("stored", seed, LONG) for seed in TEN),
    *(Run("whole", seed) for seed in SEEDS),
)
"""The runs of the two pages, the longest first."""


@dataclass(frozen=True)
class Remembering:
    """The results of one captioner of one seed, on combinations unseen in training.

    accuracy: the share of right captions. on_kinds: localisation at words for kinds. said: look ->
    what the captioner says at these words. state: its weights.
    """

    accuracy: float
    on_kinds: float
    said: dict[str, Said]
    state: dict[str, np.ndarray]


def _ask(runs: Sequence[Run], number: int) -> Remembering:
    name, seed, budget = runs[number]
    model, test = taught(name, seed, budget), pictures_for(seed)
    found = judge(test, caption(model, [picture.image for picture in test]))
    kinds = np.isin(found.named, KINDS)
    return Remembering(
        accuracy=found.accuracy,
        on_kinds=float(found.localisation[kinds].mean()),
        said={look: kinds_said(model, test, look) for look in LOOKS},
        state=state_of(model),
    )


def ask_all(runs: Sequence[Run]) -> dict[Run, Remembering]:
    """Train the captioner of each run, test it, and ask what it says if its look is moved."""
    found = over_seeds(partial(_ask, runs), range(len(runs)))
    return dict(zip(runs, found, strict=True))


def ranges(some: Sequence[Remembering]) -> dict[str, list[float]]:
    """Return for each measure the mean, the lowest and the highest of some captioners."""

    def at_kinds(look: str, what: str) -> list[float]:
        return [getattr(one.said[look], what) for one in some]

    measures = {
        "right": [one.accuracy for one in some],
        "weight inside the box": [one.on_kinds for one in some],
        "right, its own look": at_kinds(FREE, "named"),
        "right, sees the named": at_kinds(ON_NAMED, "named"),
        "right, sees another": at_kinds(ON_OTHER, "named"),
        "says the other's": at_kinds(ON_OTHER, "other"),
    }
    return {
        name: [float(of(values)) for of in (np.mean, np.min, np.max)]
        for name, values in measures.items()
    }
