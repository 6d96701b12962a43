"""What a stack does before training: its stream, the gradient of the stream, and the tokens in it.

All of it is measured in float64, so that small numbers are not rounded to 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .stacks import Design, Stack, loss_of, sample

SAMPLE = 64  # sequences for one measurement


@dataclass(frozen=True)
class Start:
    """A stack before training: each list has a number for 0, 1, ... blocks passed.

    size: the root mean square of the stream. gradient: the norm of the loss's gradient by the
    stream, the state gradient. unlike: the `unlikeness` of the tokens.
    """

    loss: float
    size: list[float]
    gradient: list[float]
    unlike: list[float]


def at_start(design: Design, depth: int, seed: int) -> Start:
    """Measure a stack before training."""
    torch.manual_seed(seed)
    model = Stack(design, depth).double()
    letters, answers = sample(SAMPLE, torch.Generator().manual_seed(1000 + seed))
    states = model.states(letters)
    loss = loss_of(model.answers(states[-1]), answers)
    gradients = torch.autograd.grad(loss, states)
    with torch.no_grad():
        return Start(
            loss=loss.item(),
            size=[root_mean_square(X) for X in states],
            gradient=[one.norm().item() for one in gradients],
            unlike=[unlikeness(X) for X in states],
        )


def root_mean_square(X: torch.Tensor) -> float:
    """Return the root of the mean of all squares."""
    return X.square().mean().sqrt().item()


def unlikeness(X: torch.Tensor) -> float:
    """Return how far the tokens of a sequence are from their mean, relative to their size.

    X: (batch, n, d). It is 0 if all tokens of a sequence are equal, and 1 if their mean is 0.
    """
    deviation = X - X.mean(dim=1, keepdim=True)
    return (deviation.norm() / X.norm()).item()
