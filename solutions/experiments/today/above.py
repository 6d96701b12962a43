"""Silence heads of SmolLM2, and compute again only what stands above the lowest of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from ...published.looking_inside import Head, attend, look
from ...published.smollm2 import SmolLM2


class Kept:
    """The streams of texts (batch, n) before each block; they do not depend on the blocks above."""

    def __init__(self, published: SmolLM2, ids: Tensor) -> None:
        """Read the texts once, with all heads."""
        self.model: Any = published.model
        self.ids = ids
        self.stream = look(published, ids).stream

    @torch.no_grad()
    def nats(self, off: Collection[Head] = (), first: int = 1) -> Tensor:
        """Return the nats of each token from position `first` on: (batch, n - first).

        off: the heads to switch off; they add 0 to the stream. first: at least 1.
        """
        lowest = min((block for block, _ in off), default=len(self.model.blocks))
        X = self.stream[lowest]
        for at, block in enumerate(self.model.blocks[lowest:], start=lowest):
            found, _, _ = attend(block.attention, block.norm_1(X))  # (batch, 9, n, 64)
            found[:, [head for one, head in off if one == at]] = 0
            X = X + block.attention.W_o(found.transpose(-3, -2).flatten(-2))
            X = X + block.feed_forward(block.norm_2(X))
        logits = self.model.norm(X[:, first - 1 : -1]) @ self.model.embedding.weight.T
        right = logits.gather(-1, self.ids[:, first:, None])[..., 0]
        nats: Tensor = logits.logsumexp(dim=-1) - right
        return nats

    def loss(self, off: Collection[Head] = (), first: int = 1) -> float:
        """Return the mean of `nats`."""
        return float(self.nats(off, first).mean())
