"""Two tasks that need a distant token, and the models that carry it.

The sequences are those of `sequences`, the models those of `models`. For every model, the best
learning rate is chosen on separate sequences. Then the model is trained with each of the book's
seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ...running.progress import say
from ...running.seeds import SEEDS
from .measures import accuracy_of_the_mean, gradient_norm, payload_weight
from .models import BODIES, SCALED_BODIES, AttentionBody, Reader
from .sequences import (
    DISTANCES,
    any_distance,
    one_payload,
    payload_after,
    two_payloads,
    with_twins,
)
from .training import TRIAL_CHECKPOINTS, accuracy, balanced_sequences, train

ORDER_STEPS = 640
"""The training steps on the second task, at the rate chosen for the first."""
BEFORE = 4
"""The fillers before the payload in one of the tests that keep the payload in its position."""

RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
"""The learning rates that are tried for every model."""
VALIDATION_SEED = 3
"""The seed of the models and sequences that choose the rate; it is not one of `SEEDS`."""
TRIALS = [(body, rate) for body in BODIES for rate in RATES]
"""Every model with every rate; the argument of `validate` is an index of this list."""


def validate(place: int) -> list[float]:
    """Train the model and rate of `TRIALS[place]`; return its accuracy at TRIAL_CHECKPOINTS."""
    body, rate = TRIALS[place]
    torch.manual_seed(VALIDATION_SEED)
    generator = torch.Generator().manual_seed(VALIDATION_SEED)
    held_out = balanced_sequences(generator)
    model = Reader(body)
    training = train(model, any_distance, rate, generator, TRIAL_CHECKPOINTS)
    reached = [accuracy(model, *held_out) for _ in training]
    say(f"far_token: {body} at the rate {rate} done")
    return reached


def best_rates(validated: list[list[float]]) -> dict[str, float]:
    """Return each model's rate with the highest mean over the checkpoints of `validate`."""
    scores = {
        trial: float(np.mean(reached)) for trial, reached in zip(TRIALS, validated, strict=True)
    }
    return {body: max(RATES, key=lambda rate: scores[body, rate]) for body in BODIES}


@dataclass(frozen=True)
class Measured:
    """The results of one model with one seed, as measured by `run`."""

    parameters: int
    gradients: list[float]
    """The gradient norm before training, for each of DISTANCES."""
    learning: list[float]
    """Accuracy over all distances, at each checkpoint."""
    by_distance: list[float]
    """Accuracy at the end of training, for each of DISTANCES."""
    payload_first: list[float]
    """The same on sequences that begin with the payload; then after BEFORE fillers."""
    payload_fifth: list[float]
    weights: list[float]
    """The payload's median weight before training and at each checkpoint; empty for others than
    self-attention."""
    as_mean: float
    """Accuracy of the trained model when its body is replaced by the mean."""


RUNS = [(body, seed) for body in BODIES for seed in SEEDS]
"""Every model with every seed; the argument of `run` is an index of this list."""


def run(rates: dict[str, float], place: int) -> Measured:
    """Train the model of `RUNS[place]` on the first task, at its rate in `rates`."""
    body, seed = RUNS[place]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    test = balanced_sequences(generator)
    model = Reader(body)
    gradients = [gradient_norm(model, k, generator) for k in DISTANCES]
    attends = isinstance(model.body, AttentionBody)
    weights = [payload_weight(model, *test)] if attends else []
    learning = []
    for _ in train(model, any_distance, rates[body], generator):
        learning.append(accuracy(model, *test))
        if attends:
            weights.append(payload_weight(model, *test))
    say(f"far_token: seed {seed}, {body} done")
    return Measured(
        parameters=sum(p.numel() for p in model.parameters()),
        gradients=gradients,
        learning=learning,
        by_distance=by_distance(model, generator),
        payload_first=by_distance_after(0, model, generator),
        payload_fifth=by_distance_after(BEFORE, model, generator),
        weights=weights,
        as_mean=accuracy_of_the_mean(model, *test),
    )


def by_distance(model: Reader, generator: torch.Generator) -> list[float]:
    """Return the accuracy for each of DISTANCES, on 500 sequences each."""
    return [accuracy(model, *one_payload(torch.full((500,), k), generator)) for k in DISTANCES]


def by_distance_after(before: int, model: Reader, generator: torch.Generator) -> list[float]:
    """Return the same for sequences that have `before` fillers before the payload."""
    return [accuracy(model, *payload_after(before, k, 500, generator)) for k in DISTANCES]


ORDER_RUNS = [(body, seed) for body in BODIES if body not in SCALED_BODIES for seed in SEEDS]
"""The models of the second task with every seed; `tell_order` takes an index of this list."""


def tell_order(rates: dict[str, float], place: int) -> float:
    """Train the model of `ORDER_RUNS[place]` on the second task.

    Returns its accuracy on sequences and their twins.
    """
    body, seed = ORDER_RUNS[place]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    twins = with_twins(*two_payloads(2000, generator))
    model = Reader(body)
    (later,) = (
        accuracy(model, *twins)
        for _ in train(model, two_payloads, rates[body], generator, checkpoints=(ORDER_STEPS,))
    )
    say(f"far_token: {body} on the second task, seed {seed} done")
    return later
