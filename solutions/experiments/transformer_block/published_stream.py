"""The stream of a published model of 30 blocks: its size, its gradient, and the tokens in it.

SmolLM2 has the norm before each part. The first token of a text is left out: its stream is a
hundred times as large as the others' (chapter 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch

from ...published.smollm2 import SIZES, SmolLM2
from ...today import TodayModel
from ..today.inside import passages
from .stacks import loss_of
from .starts import root_mean_square, unlikeness

TEXTS, TOKENS = 4, 64


@dataclass(frozen=True)
class Stream:
    """The means over the texts, each for 0 to 30 blocks passed: (31,).

    size: the root mean square of the stream. gradient: the norm of the gradient of the next-token
    loss with respect to the stream. unlike: the `unlikeness` of the tokens.
    """

    size: list[float]
    gradient: list[float]
    unlike: list[float]


def published_stream() -> tuple[Stream, Stream]:
    """Return the stream of the published model, and that of the same model with fresh weights."""
    published = SmolLM2()
    ids = passages(published, TEXTS, TOKENS)
    torch.manual_seed(0)
    fresh = TodayModel(**SIZES)  # type: ignore[arg-type]
    return stream_of(cast(TodayModel, published.model), ids), stream_of(fresh, ids)


def stream_of(model: TodayModel, ids: torch.Tensor) -> Stream:
    """Measure the stream while the model reads the texts `ids` (batch, n)."""
    X = model.embedding(ids).detach().requires_grad_()
    states = [X]
    for block in model.blocks:
        X, _ = block(X)
        states.append(X)
    logits = model.norm(X) @ model.embedding.weight.T
    gradients = torch.autograd.grad(loss_of(logits[:, :-1], ids[:, 1:]), states)
    with torch.no_grad():
        later = [state[:, 1:] for state in states]
        return Stream(
            size=[root_mean_square(state) for state in later],
            gradient=[gradient[:, 1:].norm().item() for gradient in gradients],
            unlike=[unlikeness(state) for state in later],
        )
