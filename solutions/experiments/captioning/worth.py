"""What a baseline is worth in chapter 3: captioners that learn from draws with each of three.

Each starts from the same soft captioner, after the first part of `SHORT`, and sees the same new
pictures. It is tried at the hard captioner's rate, which was chosen for the linear baseline, and at
a lower one. `tests.benchmarks.captioning_apart` runs it, and the chapter reads what was measured.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from .baselines import BASELINES
from .captioner import strongest
from .learning import ByDraws, Stream, together
from .looking import (
    BESIDE,
    HARD_RATE,
    RATES,
    SHORT,
    Curve,
    begin,
    fitted,
    pictures_for,
    right,
)

TRIED = (HARD_RATE, 0.003)
"""The learning rates at the first step."""
EVERY = 50
"""The number of steps between two tests."""
Arm = tuple[str, float]
"""The name of a baseline, and a rate."""


def learn_by_draws(seed: int) -> dict[Arm, Curve]:
    """Train a captioner of each arm for the second part of `SHORT`; return its test accuracies.

    The first point of each curve is the soft captioner with the hard look, which all start from.
    """
    test = pictures_for(seed)
    soft, stream = begin("soft", seed, RATES["soft"], SHORT)
    arms = {(name, rate): make for rate in TRIED for name, make in BASELINES.items()}
    learners = {
        arm: ByDraws(
            copy.deepcopy(soft), fitted(soft, Stream(BESIDE + seed), make()), arm[1], SHORT.then
        )
        for arm, make in arms.items()
    }
    start = right(soft, test, strongest)
    curves: dict[Arm, Curve] = {arm: {0: start} for arm in arms}
    for done in range(EVERY, SHORT.then + 1, EVERY):
        together(list(learners.values()), stream, EVERY)
        for arm, learner in learners.items():
            curves[arm][done] = right(learner.model, test, strongest)
    return curves


def as_rows(learned: Sequence[Mapping[Arm, Curve]]) -> list[dict[str, Any]]:
    """Return the curves of all seeds, a row for each arm, for `from_rows`."""
    return [
        {
            "baseline": name,
            "rate": rate,
            "steps": list(curve),
            "right": [list(curves[name, rate].values()) for curves in learned],
        }
        for (name, rate), curve in learned[0].items()
    ]


def from_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[Arm, Curve]]:
    """Return for each seed what `learn_by_draws` returned, from the rows of `as_rows`."""
    return [
        {
            (row["baseline"], row["rate"]): dict(zip(row["steps"], right, strict=True))
            for row, right in zip(rows, of_seed, strict=True)
        }
        for of_seed in zip(*(row["right"] for row in rows), strict=True)
    ]
