"""Layers that read pairs of a key and a value: a softmax, sums of features, and the delta rule.

The sums come from Katharopoulos et al. (2020), "Transformers are RNNs"; the delta rule as a layer
from Schlag, Irie and Schmidhuber (2021), "Linear Transformers are secretly fast weight
programmers", and its form without a loop from Yang et al. (2024), "Parallelizing linear
Transformers with the delta rule over sequence length".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

RANDOM = 64
"""The number of features that a fixed random map makes of queries and keys."""


@dataclass(frozen=True)
class Kind:
    """A kind of layer. d_k: the width of its queries and keys.

    read: "softmax", "near" (a softmax that takes points off for distance), "sum", "share" (a sum
    divided by the sum of the weights) or "delta". features: "elu", "identity", "relu" for both
    signs, "random elu" and "random relu" after a fixed random map, "centred" for elu + 1 less its
    mean, or "half" for what is above 0 only.
    """

    read: str
    d_k: int = 16
    features: str = "identity"

    @property
    def width(self) -> int:
        """Return the number of features of a key."""
        if self.features.startswith("random"):
            return RANDOM
        return 2 * self.d_k if self.features == "relu" else self.d_k

    def numbers(self, pairs: int, d_v: int) -> int:
        """Return how many numbers the layer remembers of as many pairs."""
        if self.read in ("softmax", "near"):
            return pairs * (self.d_k + d_v)
        return self.width * (d_v + (self.read == "share"))


class Reader(nn.Module):
    """Let questions read pairs, by a layer of some kind."""

    def __init__(self, kind: Kind, d_model: int) -> None:
        """d_model: the features of questions, keys and values."""
        super().__init__()
        self.kind = kind
        self.W_q, self.W_k = (nn.Linear(d_model, kind.d_k, bias=False) for _ in range(2))
        if kind.features.startswith("random"):
            half = RANDOM // 2 if kind.features.endswith("relu") else RANDOM
            draws = torch.Generator().manual_seed(half)  # the same map for every seed
            fixed = torch.randn(kind.d_k, half, generator=draws) / math.sqrt(kind.d_k)
            self.register_buffer("fixed", fixed)
        if kind.read == "delta":
            self.gate = nn.Linear(d_model, 1)
        if kind.read == "near":
            self.slope = nn.Parameter(torch.zeros(()))

    def forward(self, questions: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """questions: (batch, q, d_model). keys and values: (batch, n, d_model), in order.

        Returns (batch, q, d_model).
        """
        Q, K = self.W_q(questions), self.W_k(keys)  # (batch, q or n, d_k)
        if self.kind.read in ("softmax", "near"):
            back = torch.arange(K.shape[-2] - 1, -1, -1.0)
            bias = -self.slope * back if self.kind.read == "near" else torch.zeros_like(back)
            return F.scaled_dot_product_attention(Q, K, values, bias.expand(len(Q), 1, -1))
        if self.kind.read == "delta":
            K = F.normalize(K, dim=-1)
            return Q @ delta_state(K, values, self.gate(keys).sigmoid())
        Q, K = self.featured(Q), self.featured(K)  # (batch, q or n, width)
        found = Q @ (K.mT @ values)
        return found / (Q @ K.sum(dim=-2)[..., None]) if self.kind.read == "share" else found

    def featured(self, X: Tensor) -> Tensor:
        """Return the features of queries or keys: (batch, n, width)."""
        if self.kind.features.startswith("random"):
            X = X @ self.get_buffer("fixed")
        if self.kind.features.endswith("relu"):  # the small number keeps the sum above 0
            return torch.cat([F.relu(X), F.relu(-X)], dim=-1) + 1e-6
        if self.kind.features == "half":
            return F.relu(X) + 1e-6
        if self.kind.features == "centred":
            X = F.elu(X)
            return X - X.mean(dim=-1, keepdim=True)
        return F.elu(X) + 1 if self.kind.features.endswith("elu") else X


def delta_state(K: Tensor, V: Tensor, shares: Tensor) -> Tensor:
    """Return the state after all pairs have been written by the delta rule, without a loop.

    K: (..., n, d_k), of length 1. V: (..., n, d_v). shares: (..., n, 1), from 0 to 1. Each write
    replaces that share of what the state returned for the key. What is really added for a key is
    its share of its value, less what the writes before it return: a triangular system. Returns
    (..., d_k, d_v). Source: Yang et al. (2024), section 3.2.
    """
    system = (shares * (K @ K.mT)).tril(-1) + torch.eye(K.shape[-2], dtype=K.dtype)
    added = torch.linalg.solve_triangular(system, shares * V, upper=False, unitriangular=True)
    return K.mT @ added
