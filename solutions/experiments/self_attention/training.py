"""Train a model of chapter 4, and pause at checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from .models import Reader
from .sequences import DISTANCES, Batch, one_payload

BATCH, LARGEST_GRADIENT = 64, 1.0
"""The sequences in a batch, and the norm to which longer gradients are clipped."""
CHECKPOINTS = (5, 10, 20, 40, 80, 160, 320, 640, 1280)
"""The training steps after which a model is tested; the last one ends the training."""
TRIAL_CHECKPOINTS = CHECKPOINTS[:-2]
"""The checkpoints of the trials that choose a rate, which end after a quarter of the steps."""

Make = Callable[[int, torch.Generator], Batch]
"""A function that makes a batch of so many sequences."""


def train(
    model: Reader,
    make: Make,
    rate: float,
    generator: torch.Generator,
    checkpoints: Sequence[int] = CHECKPOINTS,
) -> Iterator[int]:
    """Train `model` with Adam on batches from `make`, up to the last of `checkpoints`.

    Yields the number of steps at each checkpoint, so that the caller can measure the model there.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(1, checkpoints[-1] + 1):
        tokens, answer = make(BATCH, generator)
        loss = nn.functional.cross_entropy(model(tokens), answer)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        if step in checkpoints:
            yield step


@torch.no_grad()
def accuracy(model: Reader, tokens: Tensor, answer: Tensor) -> float:
    """Return the share of sequences that the model answers correctly."""
    return float((model(tokens).argmax(dim=-1) == answer).float().mean())


def balanced_sequences(generator: torch.Generator, nearest: int = 1) -> Batch:
    """Make about 1000 sequences, with equally many payloads at each distance from `nearest` on."""
    distances = DISTANCES[nearest - 1 :]
    return one_payload(torch.tensor(distances * (1000 // len(distances))), generator)
