"""Recall with four query heads that share keys and values, or make them from one small vector."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...cost import grouped_query_attention
from ...cost_of_today import mla_absorb
from .recall import D_MODEL, KEYS, PAIRS, RATES, VALUES, Task, fitted

D_HEAD, D_VALUE = 2, 16
"""The usual widths of a head's queries and keys, and of its values."""


@dataclass(frozen=True)
class Sharing:
    """heads: of queries. kv_heads: of keys and values. latent: the width of the vector, or 0.

    d_head, d_value: the widths of a head's queries and keys, and of its values.
    """

    heads: int
    kv_heads: int
    latent: int = 0
    d_head: int = D_HEAD
    d_value: int = D_VALUE

    @property
    def cached(self) -> int:
        """Return how many numbers a pair leaves in the cache."""
        return self.latent or self.kv_heads * (self.d_head + self.d_value)


WAYS = {
    "own": Sharing(4, 4),
    "two": Sharing(4, 2),
    "one": Sharing(4, 1),
    "latent": Sharing(4, 4, D_HEAD + D_VALUE),
    "single": Sharing(1, 1),
    "divided": Sharing(4, 1, d_head=8, d_value=10),
}
"""Four heads with their own keys, two or one for all, a shared latent vector; and a single head.

"divided" caches as many numbers as "one", but more of them in the key.
"""


class SharedRecall(nn.Module):
    """Embeddings, one layer of several heads from questions to pairs, and a linear read-out."""

    def __init__(self, sharing: Sharing) -> None:
        """sharing: what the heads share."""
        super().__init__()
        self.sharing = sharing
        heads, kv = sharing.heads, sharing.kv_heads
        d_head, d_value = sharing.d_head, sharing.d_value
        self.key, self.value = nn.Embedding(KEYS, D_MODEL), nn.Embedding(VALUES, D_MODEL)
        self.W_q = nn.Linear(D_MODEL, heads * d_head, bias=False)
        if sharing.latent:
            self.down = nn.Linear(2 * D_MODEL, sharing.latent, bias=False)
            scale = sharing.latent**-0.5
            self.W_uk = nn.Parameter(scale * torch.randn(heads, sharing.latent, d_head))
            self.W_uv = nn.Parameter(scale * torch.randn(heads, sharing.latent, d_value))
        else:
            self.W_k = nn.Linear(D_MODEL, kv * d_head, bias=False)
            self.W_v = nn.Linear(D_MODEL, kv * d_value, bias=False)
        self.read_out = nn.Linear(heads * d_value, VALUES)

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """keys, values: (batch, n). asked: (batch, q). Returns logits (batch, q, VALUES)."""
        Q = self.W_q(self.key(asked)).unflatten(-1, (self.sharing.heads, -1)).transpose(-3, -2)
        K, V = self.key(keys), self.value(values)  # (batch, n, D_MODEL)
        if self.sharing.latent:
            C = self.down(torch.cat([K, V], dim=-1))  # (batch, n, latent)
            found = mla_absorb(Q, C, self.W_uk, self.W_uv)  # (batch, heads, q, d_value)
        else:
            kv = self.sharing.kv_heads
            K = self.W_k(K).unflatten(-1, (kv, -1)).transpose(-3, -2)
            V = self.W_v(V).unflatten(-1, (kv, -1)).transpose(-3, -2)
            found = grouped_query_attention(Q, K, V)
        return self.read_out(found.transpose(-3, -2).flatten(-2))


def compare_sharing(seed: int) -> dict[str, float]:
    """Return name of WAYS -> accuracy with the most pairs, at the rate best on validation."""
    found = {}
    for name, sharing in WAYS.items():
        runs = []
        for rate in RATES:
            torch.manual_seed(seed)
            runs.append(fitted(SharedRecall(sharing), Task(PAIRS[-1]), rate, seed))
        found[name] = max(runs, key=lambda run: run.validation).accuracy
    return found
