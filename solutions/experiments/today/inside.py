"""What goes on in SmolLM2: who copies, what the first token is for, how the stream grows."""

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
"""Random tokens, written twice: how many in a row, and how many such texts."""

N_LAYERS = int(SIZES["n_layers"])
ALL_HEADS = [(block, head) for block in range(N_LAYERS) for head in range(N_HEADS)]


def repeated(seed: int = 0) -> Tensor:
    """Texts of `PERIOD` random tokens that are written twice: (TEXTS, 2 PERIOD)."""
    draws = torch.Generator().manual_seed(seed)
    once = torch.randint(int(SIZES["vocab_size"]), (TEXTS, PERIOD), generator=draws)
    return once.repeat(1, 2)


def nats(logits: Tensor, ids: Tensor) -> Tensor:
    """What each token but the first costs, given those before it: (batch, n - 1)."""
    found: Tensor = -logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return found


@dataclass(frozen=True)
class Copying:
    """What the tokens cost that are written for the first time, and for the second.

    scores: (30, 9), of each head the mean weight behind the earlier copy.
    """

    first: float
    second: float
    scores: Tensor


def copying(published: SmolLM2, off: Collection[Head] = ()) -> Copying:
    """Read the repeated texts, with some heads silent."""
    ids = repeated()
    seen = look(published, ids, off)
    cost = nats(seen.logits, ids)  # (TEXTS, 2 PERIOD - 1)
    later = torch.arange(PERIOD, 2 * PERIOD - 1)  # what follows its copy is in the text
    scores = [one[:, :, later, later - PERIOD + 1].mean(dim=(0, 2)) for one in seen.weights]
    return Copying(
        float(cost[:, : PERIOD - 1].mean()), float(cost[:, PERIOD:].mean()), torch.stack(scores)
    )


def passages(published: SmolLM2, count: int, n: int) -> Tensor:
    """The beginnings of this book's own validation text in `count` pieces: ids (count, n)."""
    ids = torch.tensor(published.ids(three_parts()[2]))
    return ids[: count * n].reshape(count, n)


def loss(published: SmolLM2, ids: Tensor, off: Collection[Head] = ()) -> float:
    """The mean nats a token."""
    return float(nats(look(published, ids, off).logits, ids).mean())


LATER = 16
"""From this position on a token is asked where it looks, and what it costs."""


@dataclass(frozen=True)
class Sink:
    """What the first token gets.

    share: (30, 9), of each head the weight that tokens from `LATER` on give the first token, the
    mean over them. values: (30,), how long its values are, as a share of those tokens'. sizes:
    (31, n), how long the stream of each token is, the mean over texts.
    """

    share: Tensor
    values: Tensor
    sizes: Tensor


def sink(published: SmolLM2, ids: Tensor) -> Sink:
    """Read texts (batch, n)."""
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
    """Nats a token from `LATER` on, where those from `begin` on may not attend to one position."""
    seen = look(published, ids, unseen=Unseen(position, begin))
    return float(nats(seen.logits, ids)[:, LATER - 1 :].mean())


def previous_head(published: SmolLM2, ids: Tensor) -> Head:
    """The head that gives most of its weight to the token before."""
    seen = look(published, ids)
    before = torch.stack(
        [one.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2)) for one in seen.weights]
    )
    return divmod(int(before.argmax()), N_HEADS)


def score_by_distance(published: SmolLM2, ids: Tensor, farthest: int) -> Tensor:
    """Score every head's mean query on its mean key, 0 to `farthest` tokens behind: (30, 9, d + 1).

    A score is linear in the query and in the key, so this is the mean over all pairs of tokens from
    `LATER` on, were they that far apart.
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
    """By how many nats a token the loss rises when a head alone is silent: (30, 9)."""
    whole = loss(published, ids)
    found = torch.tensor([loss(published, ids, [head]) - whole for head in ALL_HEADS])
    return found.reshape(N_LAYERS, N_HEADS)


@contextmanager
def misread(published: SmolLM2) -> Iterator[None]:
    """Take the rows of W_q and W_k for those of a rotation that pairs halves, as others do."""
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
