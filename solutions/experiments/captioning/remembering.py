"""The second experiment of chapter 3: does a map of the looks show what was used?

Two captioners train in the same way for `SHORT`: the state of one receives *where* it looked, that
of the other *what* it saw. Then their looks are restricted and moved. The appendix tests the second
kind after `LONG` too. `tests.benchmarks.captioning_apart` tests two more, which the appendix
reads: one that sees all places equally, after `LONG`, and one whose annotations have each seen the
whole picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...data.pictures import KINDS
from ...running.seeds import SEEDS, over_seeds
from .captioner import Captioner
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
APPENDIX = tuple(Run("stored", seed, LONG) for seed in TEN)
"""The runs of the two pages."""
APART = (
    *(Run("even", seed, LONG) for seed in SEEDS),
    *(Run("whole", seed) for seed in SEEDS),
)
"""The runs that are too long for the appendix, which reads what was measured."""


@dataclass(frozen=True)
class Remembering:
    """The results of one captioner of one seed, on combinations unseen in training.

    accuracy: the share of right captions. on_kinds: localisation at words for kinds. said: look ->
    what the captioner says at these words. state: its weights, unless the results were measured
    apart from the pages.
    """

    accuracy: float
    on_kinds: float
    said: dict[str, Said]
    state: dict[str, np.ndarray] = field(default_factory=dict)


def _ask(groups: Sequence[Sequence[Run]], number: int) -> list[Remembering]:
    """Train the captioners of runs with the same pictures and steps, and ask each."""
    runs = groups[number]
    _, seed, budget = runs[0]
    return [_asked(model, seed) for model in taught([run.name for run in runs], seed, budget)]


def _asked(model: Captioner, seed: int) -> Remembering:
    test = pictures_for(seed)
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
    by_pictures: dict[tuple[int, Budget], list[Run]] = {}
    for run in runs:
        by_pictures.setdefault((run.seed, run.budget), []).append(run)
    groups = list(by_pictures.values())
    found = over_seeds(partial(_ask, groups), range(len(groups)))
    asked = {
        run: one
        for group, some in zip(groups, found, strict=True)
        for run, one in zip(group, some, strict=True)
    }
    return {run: asked[run] for run in runs}


def as_row(run: Run, one: Remembering) -> dict[str, Any]:
    """Return the results of a run without the weights, for `from_row`."""
    said = {look: asdict(words) for look, words in one.said.items()}
    about = {"captioner": run.name, "seed": run.seed, "steps": run.budget.steps}
    return about | {"accuracy": one.accuracy, "on_kinds": one.on_kinds, "said": said}


def from_row(row: Mapping[str, Any]) -> Remembering:
    """Return the results of a run that `as_row` made plain."""
    said = {look: Said(**words) for look, words in row["said"].items()}
    return Remembering(row["accuracy"], row["on_kinds"], said)


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
