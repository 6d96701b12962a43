"""Compare a published model's weights on the token before with what its rotation alone says.

A head's curve is the score of its mean query on its mean key, turned to each distance. Its softmax
is a forecast of the head's weights that knows nothing of the words. The model is SmolLM2, with 30
blocks of nine heads; the texts are pieces of this book.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...published.looking_inside import N_HEADS, N_KV_HEADS, Inside, look
from ...published.smollm2 import SIZES, SmolLM2
from ...today import turned
from ...transformer_block import split_heads
from ..today.inside import LATER, passages

TEXTS, TOKENS = 8, 128
FARTHEST = 32
"""The largest distance of a curve; weights are measured from tokens with so many before them."""
NULLS = 200


@dataclass(frozen=True)
class Heads:
    """The weights of all heads by distance, from 0 to FARTHEST: (270, FARTHEST + 1) each.

    forecast: by the curve. measured: the mean weight; that on farther tokens is missing in a row.
    nulls: (NULLS, 270), forecasts for the token before in which every mean query meets the mean key
    of a head that was drawn at random.
    """

    forecast: Tensor
    measured: Tensor
    nulls: Tensor


def published_heads() -> Heads:
    """Measure all heads. Raises PublishedFileError if the model is missing."""
    published = SmolLM2()
    ids = passages(published, TEXTS, TOKENS)
    seen = look(published, ids)
    Q, K = means(published, seen)
    draws = torch.Generator().manual_seed(0)
    orders = [torch.randperm(len(K), generator=draws) for _ in range(NULLS)]
    return Heads(
        forecast=forecast(Q, K),
        measured=torch.cat([by_distance(block) for block in seen.weights]),
        nulls=torch.stack([forecast(Q, K[order])[:, 1] for order in orders]),
    )


def by_distance(weights: Tensor) -> Tensor:
    """Return a block's mean weights, (9, FARTHEST + 1). weights: (batch, 9, n, n)."""
    rows = torch.arange(LATER + FARTHEST, weights.shape[-1])
    near = [weights[:, :, rows, rows - d].mean(dim=(0, 2)) for d in range(FARTHEST + 1)]
    return torch.stack(near, dim=-1)


def means(published: SmolLM2, seen: Inside) -> tuple[Tensor, Tensor]:
    """Return each head's mean query and mean key, unturned, from LATER on: (270, 64) each."""
    blocks: Any = published.model.blocks
    queries, keys = [], []
    for block, X in zip(blocks, seen.stream[:-1], strict=True):
        tokens = block.norm_1(X)[:, LATER:]
        queries.append(split_heads(block.attention.W_q(tokens), N_HEADS).mean(dim=(0, 2)))
        K = split_heads(block.attention.W_k(tokens), N_KV_HEADS).mean(dim=(0, 2))  # (3, 64)
        keys.append(K.repeat_interleave(N_HEADS // N_KV_HEADS, dim=0))
    return torch.cat(queries), torch.cat(keys)


def forecast(Q: Tensor, K: Tensor) -> Tensor:
    """Return the softmax, over the distances, of the scores of each query on its key.

    Q, K: (heads, d_head). Returns (heads, FARTHEST + 1).
    """
    ahead = turned(Q[:, None].expand(-1, FARTHEST + 1, -1), 0, SIZES["base"])
    curves = (ahead * K[:, None]).sum(dim=-1) / Q.shape[-1] ** 0.5  # (heads, FARTHEST + 1)
    return curves.softmax(dim=-1)
