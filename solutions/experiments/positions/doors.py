"""The three doors by which positions can enter an attention layer, and a class for each scheme.

The question is the only query. It is the last token, so a key's distance is the number of tokens
back to it.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from ...positions import frequencies, linear_bias, sinusoidal_positions

REACH = 8  # the reach of a relative table
BUCKETS, EXACT, FARTHEST = 12, 6, 16  # of T5's bias


class Doors(nn.Module):
    """A layer with all three doors shut, which knows no positions."""

    def add(self, X: torch.Tensor) -> torch.Tensor:
        """Return the tokens, (batch, n, d), with positions added."""
        return X

    def turn(self, Q: torch.Tensor, K: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return turned queries (batch, heads, 1, d_head) and keys (batch, heads, n, d_head)."""
        return Q, K

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the scores: (batch, heads, 1, n), or broadcastable to that."""
        return Q.new_zeros(())


class Added(Doors):
    """A row for each position, added to the tokens; learned rows start with deviation .02."""

    rows: torch.Tensor

    def __init__(self, longest: int, d: int, *, learned: bool) -> None:
        """Create a row for each of `longest` positions: parameters, or sinusoids."""
        super().__init__()
        if learned:
            self.rows = nn.Parameter(0.02 * torch.randn(longest, d))
        else:
            rows = torch.from_numpy(sinusoidal_positions(longest, d)).float()
            self.register_buffer("rows", rows)

    def add(self, X: torch.Tensor) -> torch.Tensor:
        """Add each token's row."""
        return X + self.rows[: X.shape[1]]


class Drawn(Added):
    """Rows of positions drawn at random from all rows, in order (Ruoss et al. 2023).

    Every sequence gets positions of its own, in training and in a test.
    """

    def __init__(self, longest: int, d: int, *, learned: bool) -> None:
        """Create the rows, and a generator that draws from them."""
        super().__init__(longest, d, learned=learned)
        self.draws = torch.Generator().manual_seed(torch.initial_seed())

    def add(self, X: torch.Tensor) -> torch.Tensor:
        """Add to each token the row of the position that was drawn for it."""
        batch, n = X.shape[:2]
        order = torch.rand(batch, len(self.rows), generator=self.draws).argsort(dim=1)
        return X + self.rows[order[:, :n].sort(dim=1).values]


class Rotary(Doors):
    """Queries and keys turned by their positions, as in `positions.rotary`."""

    waves: torch.Tensor

    def __init__(self, longest: int, d_head: int) -> None:
        """Compute the sines and cosines of `longest` positions, for heads of width d_head."""
        super().__init__()
        self.longest = longest
        self.register_buffer("waves", torch.empty(0))
        self.set_speeds(frequencies(d_head))

    def set_speeds(self, speeds: np.ndarray, length: float = 1.0) -> None:
        """Make pair i turn by speeds[i] a position, and multiply queries and keys by length."""
        angles = np.arange(self.longest)[:, None] * speeds  # (longest, d_head/2)
        waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(self.longest, -1)
        self.waves = torch.from_numpy(length * waves).float()

    def turn(self, Q: torch.Tensor, K: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Turn the question, which is last, and all keys."""
        n = K.shape[-2]
        return _turned(Q, self.waves[n - 1 : n]), _turned(K, self.waves[:n])


def _turned(X: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of features; waves: (n, d_head), sine and cosine of every angle."""
    sine, cosine, first, second = waves[:, ::2], waves[:, 1::2], X[..., ::2], X[..., 1::2]
    pairs = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.stack(pairs, dim=-1).flatten(-2)


class LinearBias(Doors):
    """A penalty for distance, as in `positions.linear_bias`."""

    slopes: torch.Tensor

    def __init__(self, longest: int, heads: int) -> None:
        """Compute the bias of `longest` tokens."""
        super().__init__()
        self.register_buffer("slopes", torch.from_numpy(linear_bias(longest, heads)).float())

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which is the last token."""
        return self.slopes[:, n - 1 : n, :n]


class RelativeTable(Doors):
    """A vector for each distance from 0 to REACH, as in `positions.relative_scores`.

    The table starts with standard deviation .02. No token follows the question, so it has one side
    only.
    """

    def __init__(self, d_head: int) -> None:
        """Draw the table."""
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(REACH + 1, d_head))

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which is the last token."""
        back = torch.arange(n).flip(0).clamp(max=REACH)
        return (Q @ self.table.T)[..., back] / math.sqrt(Q.shape[-1])


class Buckets(Doors):
    """T5's bias (Raffel et al. 2020): a number for each head and bucket, initially 0."""

    def __init__(self, heads: int) -> None:
        """Create BUCKETS numbers for each head."""
        super().__init__()
        self.numbers = nn.Parameter(torch.zeros(heads, BUCKETS))

    def bias(self, Q: torch.Tensor, n: int) -> torch.Tensor:
        """Return the bias of the question, which is the last token."""
        back = bucket(np.arange(n)[::-1], BUCKETS, EXACT, FARTHEST)
        return self.numbers[:, None, back]


def bucket(distance: np.ndarray, buckets: int, exact: int, farthest: int) -> np.ndarray:
    """Return the bucket of each distance, 0 or more: one for each below `exact`, then wider ones.

    From `exact` to `farthest` the buckets are equally wide on a logarithmic scale. Distances of
    `farthest` or more are in the last bucket.
    """
    steps = np.log(np.maximum(distance, exact) / exact) / math.log(farthest / exact)
    far = exact + np.floor(steps * (buckets - exact)).astype(int)
    return np.where(distance < exact, distance, np.minimum(far, buckets - 1))
