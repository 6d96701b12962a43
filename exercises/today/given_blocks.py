# Given. The grader uses its own copy: write code of yours into the notebook.
"""A block for the exercise `TodayModel`, so that it needs no earlier exercise."""

import torch
import torch.nn.functional as F
from torch import nn


class GivenBlock(nn.Module):
    """A block of a model of today, with a cache."""

    def __init__(self, d_model, n_heads, n_kv_heads, d_ff, base=10_000.0, eps=1e-5):
        """Make the block; `base` is that of the rotary positions, `eps` that of the norms."""
        super().__init__()
        self.heads = {"W_q": n_heads, "W_k": n_kv_heads, "W_v": n_kv_heads}
        self.d_head, self.base = d_model // n_heads, base
        maps = {
            name: nn.Linear(d_model, heads * self.d_head, bias=False)
            for name, heads in self.heads.items()
        }
        maps["W_o"] = nn.Linear(d_model, d_model, bias=False)
        self.attention = nn.ModuleDict(maps)
        sizes = {"W_gate": (d_model, d_ff), "W_up": (d_model, d_ff), "W_down": (d_ff, d_model)}
        self.feed_forward = nn.ModuleDict(
            {name: nn.Linear(*size, bias=False) for name, size in sizes.items()}
        )
        self.norm_1, self.norm_2 = nn.RMSNorm(d_model, eps), nn.RMSNorm(d_model, eps)

    def rotated(self, X, first):
        """Rotate the features of X, (..., n, d_head), whose first token is at position `first`."""
        positions = torch.arange(first, first + X.shape[-2])
        rates = self.base ** (-torch.arange(0, self.d_head, 2) / self.d_head)
        angles = positions[:, None] * rates  # (n, d_head / 2)
        x, y, cosine, sine = X[..., ::2], X[..., 1::2], angles.cos(), angles.sin()
        return torch.stack([x * cosine - y * sine, x * sine + y * cosine], dim=-1).flatten(-2)

    def forward(self, X, cache=None):
        """X: (..., n, d_model), after the tokens of the cache. Returns X's shape and the cache.

        A cache is the rotated keys and the values, (..., n_kv_heads, length, d_head) each.
        """
        Y, maps = self.norm_1(X), self.feed_forward
        Q, K, V = (
            self.attention[name](Y).unflatten(-1, (heads, -1)).transpose(-3, -2)
            for name, heads in self.heads.items()
        )
        length = 0 if cache is None else cache[0].shape[-2]
        Q, K = self.rotated(Q, length), self.rotated(K, length)
        if cache is not None:
            K, V = torch.cat([cache[0], K], dim=-2), torch.cat([cache[1], V], dim=-2)
        mask = torch.ones(X.shape[-2], K.shape[-2], dtype=torch.bool).tril(length)
        blend = F.scaled_dot_product_attention(Q, K, V, mask, enable_gqa=True)
        X = X + self.attention["W_o"](blend.transpose(-3, -2).flatten(-2))
        Y = self.norm_2(X)
        return X + maps["W_down"](F.silu(maps["W_gate"](Y)) * maps["W_up"](Y)), (K, V)
