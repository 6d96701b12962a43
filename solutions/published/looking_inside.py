"""Record SmolLM2's residual stream and attention weights while it reads, and switch parts off."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ..today import Cache, turned
from ..transformer_block import split_heads
from .smollm2 import SIZES, SmolLM2, checked

N_HEADS, N_KV_HEADS = int(SIZES["n_heads"]), int(SIZES["n_kv_heads"])
Head = tuple[int, int]
"""A block and one of its heads, both counted from 0."""


@dataclass(frozen=True)
class Inside:
    """The record of reading `batch` texts of n tokens.

    logits: (batch, n, vocab_size). stream: the states after the embedding and after each block, 31
    tensors (batch, n, 576). weights: for each of the 30 blocks, (batch, 9, n, n).
    """

    logits: Tensor
    stream: list[Tensor] = field(repr=False)
    weights: list[Tensor] = field(repr=False)


@dataclass(frozen=True)
class Unseen:
    """A hidden token: from position `begin` on, no token may attend to the one at `position`."""

    position: int
    begin: int


@torch.no_grad()
def look(
    published: SmolLM2, ids: Tensor, off: Collection[Head] = (), unseen: Unseen | None = None
) -> Inside:
    """Read the texts `ids` (batch, n), and return a record of it.

    off: the heads to switch off; they add 0 to the stream.
    """
    stream: list[Tensor] = []
    weights: list[Tensor] = []
    with _opened(published.model, off, unseen, stream, weights):
        logits = published.model(checked(ids))[0]
    return Inside(logits, stream, weights)


@contextmanager
def _opened(
    model: Any,
    off: Collection[Head],
    unseen: Unseen | None,
    stream: list[Tensor],
    weights: list[Tensor],
) -> Iterator[None]:
    def pass_by(_: object, given: tuple[Tensor, ...]) -> None:
        stream.append(given[0])

    def opened(attention: Any, silent: list[int]) -> Callable[..., tuple[Tensor, Cache]]:
        def forward(X: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
            found, one, kept = attend(attention, X, unseen)
            weights.append(one)
            found[:, silent] = 0
            return attention.W_o(found.transpose(-3, -2).flatten(-2)), kept

        return forward

    hooks = [part.register_forward_pre_hook(pass_by) for part in (*model.blocks, model.norm)]
    for at, block in enumerate(model.blocks):
        silent = [head for one, head in off if one == at]
        block.attention.forward = opened(block.attention, silent)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for block in model.blocks:
            del block.attention.forward  # the class's method is visible again


def attend(attention: Any, X: Tensor, unseen: Unseen | None = None) -> tuple[Tensor, Tensor, Cache]:
    """Compute `GroupedQueryAttention` for the texts X (batch, n, 576), with its weights.

    Returns the output of each head, (batch, 9, n, 64), its weights, (batch, 9, n, n), and the
    cache.
    """
    base, group = SIZES["base"], N_HEADS // N_KV_HEADS
    Q = turned(split_heads(attention.W_q(X), N_HEADS), 0, base)
    K = turned(split_heads(attention.W_k(X), N_KV_HEADS), 0, base)
    V = split_heads(attention.W_v(X), N_KV_HEADS)
    keys, values = (one.repeat_interleave(group, dim=-3) for one in (K, V))
    scores = Q @ keys.mT / Q.shape[-1] ** 0.5  # (batch, 9, n, n)
    n = X.shape[-2]
    seen = torch.ones(n, n, dtype=torch.bool).tril()
    if unseen is not None:
        seen[unseen.begin :, unseen.position] = False
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return weights @ values, weights, (K, V)
