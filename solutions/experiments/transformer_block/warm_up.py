"""Twenty-four blocks with the norm after each sum: rates, warm-up, and smaller first weights.

The task and the stacks are those of `depth`. What a stack can say that has lost which token is
which, but not which letters there were, is measured beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from . import depth

BLOCKS, STEPS, WARM_UP = 24, 200, 100
RATES = (3e-4, 1e-3, 3e-3)
SCALED_RATE = 1e-3
LEARNT = 0.95
"""A run that gets so large a share of new letters right has learnt the task."""


@dataclass(frozen=True)
class WarmUp:
    """What one seed shows; accuracies are shares of letters right on new sequences.

    constant, warm_up: of the norm after, by rate. scaled: of the norm after at SCALED_RATE and no
    warm-up, with the last matrix of each sublayer smaller at the start. unlike, unlike_scaled: how
    different the tokens are after the last block, before training. letters_alone: of the best
    answer that depends on which letters there are, and not on where they stand.
    """

    constant: dict[float, float]
    warm_up: dict[float, float]
    scaled: float
    unlike: float
    unlike_scaled: float
    letters_alone: float


def compare_rates(seed: int) -> WarmUp:
    """Train the stack with the norm after in all these ways."""
    return WarmUp(
        constant={rate: _trained(seed, rate) for rate in RATES},
        warm_up={rate: _trained(seed, rate, warm_up=WARM_UP) for rate in RATES},
        scaled=_trained(seed, SCALED_RATE, scaled=True),
        unlike=depth.at_start("norm after", BLOCKS, seed).unlike[-1],
        unlike_scaled=depth.at_start("norm after", BLOCKS, seed, scaled=True).unlike[-1],
        letters_alone=letters_alone(depth.test_sequences(seed)[0]),
    )


def _trained(seed: int, rate: float, warm_up: int = 1, scaled: bool = False) -> float:
    return depth.train("norm after", BLOCKS, seed, STEPS, rate, warm_up, scaled).accuracy


def letters_alone(letters: torch.Tensor) -> float:
    """Return the share right if every place is answered with the commonest letter of its sequence.

    letters: (batch, n).
    """
    counts = F.one_hot(letters, depth.LETTERS).sum(dim=1)  # (batch, LETTERS)
    return (counts.amax(dim=-1).double() / letters.shape[1]).mean().item()
