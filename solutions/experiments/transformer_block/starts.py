"""What a stack does before training: its stream, the gradient of the stream, and the tokens in it.

All of it is measured in float64, so that small numbers are not rounded to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import nn

from .stacks import Block, Design, Stack, loss_of, sample
from .weights import attention_weights

SAMPLE = 64  # sequences for one measurement


@dataclass(frozen=True)
class Start:
    """A stack before training: each list has a number for 0, 1, ... blocks passed.

    loss: of the untrained stack. size: the root mean square of the stream. gradient: the norm of
    the gradient of the loss with respect to the stream, the state gradient. unlike: the
    `unlikeness` of the tokens. gradient_unlike: that of the tokens' gradients.
    """

    loss: float
    size: list[float]
    gradient: list[float]
    unlike: list[float]
    gradient_unlike: list[float]


def at_start(design: Design, depth: int, seed: int, *, even: bool = False) -> Start:
    """Measure a stack before training.

    even: whether all scores are 0, so that every token looks at all tokens equally.
    """
    torch.manual_seed(seed)
    model = Stack(design, depth).double()
    if even:
        for name, parameter in model.named_parameters():
            if name.endswith(("W_q.weight", "W_k.weight")):
                nn.init.zeros_(parameter)
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
            gradient_unlike=[unlikeness(gradient) for gradient in gradients],
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


def looks(design: Design, depth: int, seed: int, block: int) -> tuple[float, float]:
    """Measure where the tokens look in a block before training.

    Returns the mean largest weight of a token, and the share of the tokens that look most at the
    key most looked at, the mean over sequences and heads.
    """
    torch.manual_seed(seed)
    model = Stack(design, depth).double()
    letters, _ = sample(SAMPLE, torch.Generator().manual_seed(1000 + seed))
    attention = cast(Block, model.blocks[block]).attention
    with torch.no_grad():
        weights = attention_weights(attention, model.states(letters)[block])
    n = weights.shape[-1]
    counts = F.one_hot(weights.argmax(dim=-1), n).sum(dim=-2)  # (SAMPLE, HEADS, n)
    return weights.amax(dim=-1).mean().item(), (counts.amax(dim=-1) / n).mean().item()
