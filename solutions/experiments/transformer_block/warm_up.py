"""Twenty-four blocks with the norm after each sum: rates, warm-up, and smaller first weights.

The task and the stacks are those of `depth`. They are compared with the best answer that knows
which letters occur but not their positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from . import depth

BLOCKS = 24
WARM_UP = 40
"""The steps in which the rate rises; they are added to those at the full rate."""
RATES = (3e-4, 1e-3, 3e-3)
LEARNT = 0.95
"""A run has learned the task if it gets at least this share of new letters right."""


@dataclass(frozen=True)
class WarmUp:
    """The results of one seed; accuracies are shares of right letters in new sequences, by rate.

    constant: with a constant rate. warm_up: with a warm-up. smaller: with a constant rate, and a
    smaller initial last matrix of each sublayer. start_smaller: the stack of `smaller` before
    training. letters_alone: the accuracy of the best answer that knows which letters occur but not
    their positions.
    """

    constant: dict[float, float]
    warm_up: dict[float, float]
    smaller: dict[float, float]
    start_smaller: depth.Start
    letters_alone: float


def compare_rates(seed: int, designs: depth.Comparison) -> WarmUp:
    """Train the stack with the norm after each sum in all ways that `designs` does not have."""
    constant = {rate: _trained(seed, rate) for rate in RATES if rate != depth.RATE}
    constant[depth.RATE] = designs.runs["norm after", BLOCKS].accuracy
    return WarmUp(
        constant={rate: constant[rate] for rate in RATES},
        warm_up={rate: _trained(seed, rate, warm_up=WARM_UP) for rate in RATES},
        smaller={rate: _trained(seed, rate, smaller=True) for rate in RATES},
        start_smaller=depth.at_start("norm after", BLOCKS, seed, smaller=True),
        letters_alone=letters_alone(depth.new_sequences(seed)[0]),
    )


def _trained(seed: int, rate: float, warm_up: int = 0, smaller: bool = False) -> float:
    steps = warm_up + depth.STEPS
    return depth.train("norm after", BLOCKS, seed, steps, rate, warm_up, smaller).accuracy


def letters_alone(letters: torch.Tensor) -> float:
    """Return the share right if every answer is the most frequent letter of its sequence.

    letters: (batch, n).
    """
    counts = F.one_hot(letters, depth.LETTERS).sum(dim=1)  # (batch, LETTERS)
    return (counts.amax(dim=-1).double() / letters.shape[1]).mean().item()
