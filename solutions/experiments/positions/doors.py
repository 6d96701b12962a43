"""The three doors by which a position can enter an attention layer, and one class a scheme.

The question is the only query. It stands last, so a key's distance is how far back it stands.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from ...positions import frequencies, linear_bias, sinusoidal_positions

REACH = 8  # how far a relative table reaches
BUCKETS, EXACT, FARTHEST = 12, 6, 16  # of T5's bias


class Doors(nn.Module):
    """All three doors shut: a layer that knows no position."""

    def add(self, X: torch.Tensor) -> torch.Tensor:
        """Add something to the tokens, (batch, n, d)."""
        return X

    def turn(self, Q: torch.Tensor, K: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Turn queries (batch, heads, 1, d_head) and keys (batch, heads, n, d_head)."""
        return Q, K

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return what is added to the scores (batch, heads, 1, n), or broadcasts to them."""
        return Q.new_zeros(())


class Added(Doors):
    """A row for each position, added to the tokens; learned rows start at deviation .02."""

    rows: torch.Tensor

    def __init__(self, longest: int, d: int, *, learned: bool) -> None:
        """Make a row for each of `longest` positions: parameters, or sinusoids."""
        super().__init__()
        if learned:
            self.rows = nn.Parameter(0.02 * torch.randn(longest, d))
        else:
            rows = torch.from_numpy(sinusoidal_positions(longest, d)).float()
            self.register_buffer("rows", rows)

    def add(self, X: torch.Tensor) -> torch.Tensor:
        """Add each token its row."""
        return X + self.rows[: X.shape[1]]


class Rotary(Doors):
    """Queries and keys turned by their positions, as `positions.rotary` does it."""

    waves: torch.Tensor

    def __init__(self, longest: int, d_head: int) -> None:
        """Make the waves of `longest` positions, for heads of width d_head."""
        super().__init__()
        self.longest = longest
        self.register_buffer("waves", torch.empty(0))
        self.set_speeds(frequencies(d_head))

    def set_speeds(self, speeds: np.ndarray, length: float = 1.0) -> None:
        """Let pair i turn by speeds[i] a position, and multiply all queries and keys by length."""
        angles = np.arange(self.longest)[:, None] * speeds  # (longest, d_head/2)
        waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(self.longest, -1)
        self.waves = torch.from_numpy(length * waves).float()

    def turn(self, Q: torch.Tensor, K: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Turn the question, which stands last, and all keys."""
        n = K.shape[-2]
        return _turned(Q, self.waves[n - 1 : n]), _turned(K, self.waves[:n])


def _turned(X: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of features; waves: (n, d_head), sine and cosine of every angle."""
    sine, cosine, first, second = waves[:, ::2], waves[:, 1::2], X[..., ::2], X[..., 1::2]
    pairs = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.stack(pairs, dim=-1).flatten(-2)


class LinearBias(Doors):
    """Points taken off for distance, as `positions.linear_bias` does it."""

    slopes: torch.Tensor

    def __init__(self, longest: int, heads: int) -> None:
        """Make the bias of `longest` tokens."""
        super().__init__()
        self.register_buffer("slopes", torch.from_numpy(linear_bias(longest, heads)).float())

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which stands last."""
        return self.slopes[:, n - 1 : n, :n]


class RelativeTable(Doors):
    """A vector for each distance, 0 to REACH back, as `positions.relative_scores` has them.

    It starts at standard deviation .02. Nothing stands after the question, so it has one side only.
    """

    def __init__(self, d_head: int) -> None:
        """Draw the table."""
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(REACH + 1, d_head))

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which stands last."""
        back = torch.arange(n).flip(0).clamp(max=REACH)
        return (Q @ self.table.T)[..., back] / math.sqrt(Q.shape[-1])


class Buckets(Doors):
    """T5's bias (Raffel et al. 2020): a number for each head and bucket, 0 at first."""

    def __init__(self, heads: int) -> None:
        """Make BUCKETS numbers for each head."""
        super().__init__()
        self.numbers = nn.Parameter(torch.zeros(heads, BUCKETS))

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which stands last."""
        back = bucket(np.arange(n)[::-1], BUCKETS, EXACT, FARTHEST)
        return self.numbers[:, None, back]


def bucket(distance: np.ndarray, buckets: int, exact: int, farthest: int) -> np.ndarray:
    """Return the bucket of each distance, 0 or more: one each up to exact, then wider and wider.

    From `exact` to `farthest` the buckets are equally wide on a logarithmic scale. All that is as
    far as `farthest`, or farther, is in the last one.
    """
    steps = np.log(np.maximum(distance, exact) / exact) / math.log(farthest / exact)
    far = exact + np.floor(steps * (buckets - exact)).astype(int)
    return np.where(distance < exact, distance, np.minimum(far, buckets - 1))
