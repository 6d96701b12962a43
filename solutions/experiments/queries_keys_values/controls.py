"""Controls of `associative_recall`: an antisymmetric score, and first scores of another size.

The layer "one projection, rotated" has one matrix, as many parameters as the others, and the score
s(a, b) = -s(b, a). The other controls ask what it is about a usual start of the letters' embeddings
that keeps the layer without parameters from learning: their length, or the scores that follow.
"""

import math
from functools import partial

import torch
from torch import nn

from ...running.seeds import SEEDS
from .associative_recall import (
    D_MODEL,
    LONG_STEPS,
    RATES,
    SMALL,
    STEPS,
    TASKS,
    USUAL,
    Recall,
    Run,
    Start,
    best_of,
    compare_layers,
    train,
    train_longer,
)

ROTATED = "one projection, rotated"

FACTOR = (SMALL[0] / USUAL[0]) ** 2
"""The size of the first scores from the small start, relative to those from the usual one."""

SCORES = {"small scores": (USUAL, FACTOR), "large scores": (SMALL, 1 / FACTOR)}
"""Name -> a start, and the factor that gives it first scores as from the other start."""

FAST, FAST_RATE = "fast", 0.3
"""The layer without parameters from the usual start, at ten times the largest of RATES."""

Arm = tuple[str, Start, str]
"""A task, a start, and the name of a layer or of a control, as in `associative_recall.ARMS`."""


class QuarterTurn(nn.Module):
    """Rotate the entries of a vector by 90 degrees, two by two: (x, y) becomes (-y, x)."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """vectors: (..., d), d even. Returns the same shape."""
        x, y = vectors.unflatten(-1, (-1, 2)).unbind(dim=-1)  # (..., d / 2) each
        return torch.stack((-y, x), dim=-1).flatten(-2)


def rotated(start: Start = SMALL) -> Recall:
    """Return a model with one projection, whose query is rotated before it meets the keys."""
    model = Recall("one projection", start)
    model.W_q = nn.Sequential(model.W_k, QuarterTurn())
    return model


def with_scores_times(factor: float, start: Start) -> Recall:
    """Return a model without parameters whose scores are multiplied by `factor`."""
    return Recall("parameter-free", start, power=0.5 - math.log(factor, D_MODEL))


def compare_controls(seed: int) -> dict[Arm, Run]:
    """Train every control at every rate of RATES, but FAST; keep the best rate of each."""
    models = {
        (task, start, ROTATED): partial(rotated, start)
        for task in TASKS
        for start in (SMALL, USUAL)
    } | {
        ("partner", start, name): partial(with_scores_times, factor, start)
        for name, (start, factor) in SCORES.items()
    }
    runs = {
        arm: best_of(train(model, arm[0], rate, seed, STEPS) for rate in RATES)
        for arm, model in models.items()
    }
    fast = partial(Recall, "parameter-free", USUAL)
    runs["partner", USUAL, FAST] = train(fast, "partner", FAST_RATE, seed, STEPS)
    return runs


def compare(part: int) -> dict[Arm, Run]:
    """Train the layers with seed `part`, or the controls if it is beyond the seeds.

    So the cores that wait for the last seed of the layers train the controls.
    """
    beyond, seed = divmod(part, len(SEEDS))
    return compare_controls(seed) if beyond else compare_layers(seed)


def longer(rates: dict[tuple[str, str], float], part: int) -> dict[tuple[str, str], Run]:
    """Train LONG_STEPS from the small start, in the parts of `compare`.

    rates: the learning rate for a task and a layer.
    """
    beyond, seed = divmod(part, len(SEEDS))
    if not beyond:
        unrotated = {arm: rate for arm, rate in rates.items() if arm[1] != ROTATED}
        return train_longer(unrotated, seed)
    return {
        (task, layer): train(rotated, task, rate, seed, LONG_STEPS)
        for (task, layer), rate in rates.items()
        if layer == ROTATED
    }
