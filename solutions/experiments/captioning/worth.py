"""What a baseline is worth in chapter 3: captioners that learn from draws with each of three.

Each starts from the same soft captioner, after the first part of `SHORT`, and sees the same new
pictures. It is tried at the hard captioner's rate, which was chosen for the linear baseline, and at
a lower one.
"""

from __future__ import annotations

import copy

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
