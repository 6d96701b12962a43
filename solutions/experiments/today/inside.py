"""Look inside SmolLM2: which heads copy, what the first token is for, how the stream grows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...data.book_text import three_parts
from ...published.looking_inside import N_HEADS, N_KV_HEADS, Head, Unseen, look
from ...published.smollm2 import SIZES, SmolLM2
from ...today import turned
from ...transformer_block import split_heads

PERIOD, TEXTS = 60, 8
"""The number of random tokens before a text repeats, and the number of texts."""

N_LAYERS = int(SIZES["n_layers"])
ALL_HEADS = [(block, head) for block in range(N_LAYERS) for head in range(N_HEADS)]


def repeated(seed: int = 0) -> Tensor:
    """Return texts of `PERIOD` random tokens, repeated once: (TEXTS, 2 PERIOD)."""
    draws = torch.Generator().manual_seed(seed)
    once = torch.randint(int(SIZES["vocab_size"]), (TEXTS, PERIOD), generator=draws)
    return once.repeat(1, 2)


def nats(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the nats of each token except the first, given those before it: (batch, n - 1)."""
    found: Tensor = -logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return found


@dataclass(frozen=True)
class Copying:
    """The nats of tokens in the first and in the second copy.

    scores: (30, 9), each head's mean weight on the token after the earlier copy.
    """

    first: float
    second: float
    scores: Tensor


def copying(published: SmolLM2, off: Collection[Head] = ()) -> Copying:
    """Read the repeated texts, with the heads `off` switched off."""
    ids = repeated()
    seen = look(published, ids, off)
    cost = nats(seen.logits, ids)  # (TEXTS, 2 PERIOD - 1)
    later = torch.arange(PERIOD, 2 * PERIOD - 1)  # the token after the earlier copy is known
    scores = [one[:, :, later, later - PERIOD + 1].mean(dim=(0, 2)) for one in seen.weights]
    return Copying(
        float(cost[:, : PERIOD - 1].mean()), float(cost[:, PERIOD:].mean()), torch.stack(scores)
    )


def passages(published: SmolLM2, count: int, n: int) -> Tensor:
    """Return the first n tokens of `count` pieces of the book's validation text: ids (count, n)."""
    ids = torch.tensor(published.ids(three_parts()[2]))
    return ids[: count * n].reshape(count, n)


def loss(published: SmolLM2, ids: Tensor, off: Collection[Head] = ()) -> float:
    """Return the mean loss, in nats per token."""
    return float(nats(look(published, ids, off).logits, ids).mean())


LATER = 16
"""The first position whose weights and nats are measured."""


@dataclass(frozen=True)
class Sink:
    """The results on the first token.

    share: (30, 9), each head's mean weight from tokens from `LATER` on to the first token. values:
    (30,), the length of the first token's values divided by that of those tokens' values. sizes:
    (31, n), the length of each token's stream, the mean over texts.
    """

    share: Tensor
    values: Tensor
    sizes: Tensor


def sink(published: SmolLM2, ids: Tensor) -> Sink:
    """Measure the first token's role in texts (batch, n)."""
    seen = look(published, ids)
    share = torch.stack([one[:, :, LATER:, 0].mean(dim=(0, 2)) for one in seen.weights])
    sizes = torch.stack([one.norm(dim=-1).mean(dim=0) for one in seen.stream])
    blocks: Any = published.model.blocks
    values = []
    for block, X in zip(blocks, seen.stream[:-1], strict=True):
        V = split_heads(block.attention.W_v(block.norm_1(X)), N_KV_HEADS).norm(dim=-1)
        values.append(V[..., 0].mean() / V[..., LATER:].mean())
    return Sink(share, torch.stack(values), sizes)


def loss_without(published: SmolLM2, ids: Tensor, position: int, begin: int = LATER) -> float:
    """Return nats a token from `LATER` on if tokens from `begin` on may not see a position."""
    seen = look(published, ids, unseen=Unseen(position, begin))
    return float(nats(seen.logits, ids)[:, LATER - 1 :].mean())


def on_the_token_before(published: SmolLM2, ids: Tensor) -> Tensor:
    """Return each head's mean weight on the token before: (30, 9)."""
    seen = look(published, ids)
    before = [one.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2)) for one in seen.weights]
    return torch.stack(before)


def score_by_distance(published: SmolLM2, ids: Tensor, farthest: int) -> Tensor:
    """Score every head's mean query on its mean key at distances 0 to `farthest`: (30, 9, d + 1).

    A score is linear in the query and in the key. So this is the mean score of all pairs of tokens
    from `LATER` on, as if they had that distance.
    """
    seen = look(published, ids)
    found = []
    blocks: Any = published.model.blocks
    for block, X in zip(blocks, seen.stream[:-1], strict=True):
        tokens = block.norm_1(X)[:, LATER:]
        Q = split_heads(block.attention.W_q(tokens), N_HEADS).mean(dim=(0, 2))  # (9, 64)
        K = split_heads(block.attention.W_k(tokens), N_KV_HEADS).mean(dim=(0, 2))  # (3, 64)
        K = K.repeat_interleave(N_HEADS // N_KV_HEADS, dim=0)
        ahead = turned(Q[:, None].expand(-1, farthest + 1, -1), 0, SIZES["base"])
        found.append((ahead * K[:, None]).sum(dim=-1) / Q.shape[-1] ** 0.5)
    return torch.stack(found)


def rises(published: SmolLM2, ids: Tensor) -> Tensor:
    """Return the rise of the loss, in nats a token, if a single head is switched off: (30, 9)."""
    whole = loss(published, ids)
    found = torch.tensor([loss(published, ids, [head]) - whole for head in ALL_HEADS])
    return found.reshape(N_LAYERS, N_HEADS)


@contextmanager
def misread(published: SmolLM2) -> Iterator[None]:
    """Read the rows of W_q and W_k as if the rotation paired halves, as in other libraries."""
    blocks: Any = published.model.blocks
    right = {}
    for block in blocks:
        for W in (block.attention.W_q, block.attention.W_k):
            right[W] = W.weight.data
            heads = W.weight.unflatten(0, (-1, 2, SIZES["d_model"] // N_HEADS // 2))
            W.weight.data = heads.transpose(1, 2).flatten(0, 2).contiguous()
    try:
        yield
    finally:
        for W, weight in right.items():
            W.weight.data = weight
