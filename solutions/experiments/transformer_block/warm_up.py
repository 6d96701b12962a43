"""Twenty-four blocks with the norm after each sum: rates, warm-up, and smaller first weights.

The task and the stacks are those of `depth`. What a stack can say that has lost which token is
which, but not which letters there were, is measured beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from . import depth

BLOCKS = 24
WARM_UP = 40
"""Steps in which the rate rises; as many steps at the full rate follow as without them."""
RATES = (3e-4, 1e-3, 3e-3)
LEARNT = 0.95
"""A run that gets so large a share of new letters right has learnt the task."""


@dataclass(frozen=True)
class WarmUp:
    """What one seed shows; accuracies are shares of letters right on new sequences, by rate.

    constant: at a constant rate. warm_up: after a warm-up. smaller: at a constant rate, with the
    last matrix of each sublayer smaller at the start. start_smaller: that one before training.
    letters_alone: of the best answer that knows which letters there are, and not where they stand.
    """

    constant: dict[float, float]
    warm_up: dict[float, float]
    smaller: dict[float, float]
    start_smaller: depth.Start
    letters_alone: float


def compare_rates(seed: int, designs: depth.Comparison) -> WarmUp:
    """Train the stack with the norm after in all these ways, but for what `designs` has of it."""
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
    """Return the share right if every place is answered with the commonest letter of its sequence.

    letters: (batch, n).
    """
    counts = F.one_hot(letters, depth.LETTERS).sum(dim=1)  # (batch, LETTERS)
    return (counts.amax(dim=-1).double() / letters.shape[1]).mean().item()
