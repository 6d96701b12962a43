"""The exercise `MultiHeadAttention`: chapter 6's layer, with autograd and another sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from solutions import transformer_block as solutions

from ...judging.exercise import Case, Exercise, Tensor, draw_setup
from .multi_head_attention_wrong import MISCONCEPTIONS


def attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "three tokens, two heads", (3, 4), 2)
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    yield _case(rng, "a mask", (3, 4), 2, mask=mask)
    yield _case(rng, "another sequence answers", (2, 4), 2, n_k=3)
    mask = np.array([[True, True, False], [False, False, False], [False, True, True]])
    yield _case(rng, "a token that may attend to nothing", (3, 6), 2, mask=mask)
    yield _case(rng, "large scores", (2, 3, 6), 3, size=40.0)
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    yield _case(
        rng, "float32, a batch, padding hidden", (2, 3, 6), 3, n_k=4, mask=mask, dtype=np.float32
    )


def attention_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n, n_k = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    d_model = n_heads * d_head
    yield _case(rng, "tokens", (n, d_model), n_heads)
    yield _case(rng, "a mask", (n, d_model), n_heads, mask=_mask(rng, n, n))
    yield _case(rng, "another sequence answers", (n, d_model), n_heads, n_k=n_k)
    mask = _mask(rng, n, n)
    mask[rng.integers(n)] = False
    yield _case(rng, "a token that may attend to nothing", (n, d_model), n_heads, mask=mask)
    yield _case(rng, "large scores", (2, n, d_model), n_heads, size=40.0)
    lengths = rng.permutation(np.arange(1, n_k + 1))[:2]  # a mask of its own for each sequence
    mask = np.arange(n_k) < lengths[:, None, None, None]
    yield _case(
        rng,
        "float32, two leading batch axes, padding hidden",
        (2, 3, n, d_model),
        n_heads,
        n_k=n_k,
        mask=mask,
        dtype=np.float32,
    )


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_heads: int,
    n_k: int | None = None,
    mask: np.ndarray | None = None,
    size: float = 1.0,
    dtype: type = np.float64,
) -> Case:
    """A case with tokens of `shape`; a context of `n_k` tokens answers, where that is given."""
    setup = draw_setup(rng, solutions.MultiHeadAttention, shape[-1], n_heads, dtype=dtype)
    keywords: dict[str, Any] = {}
    if n_k is not None:
        context = rng.normal(size=(*shape[:-2], n_k, shape[-1])) * size
        keywords["context"] = Tensor(context.astype(dtype))
    if mask is not None:
        keywords["mask"] = Tensor(mask)
    return Case(note, (Tensor((rng.normal(size=shape) * size).astype(dtype)),), keywords, setup)


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))


class MultiHeadAttention__fused(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        def heads(Y):
            return Y.view(*Y.shape[:-1], self.n_heads, -1).movedim(-2, -3)

        context = X if context is None else context
        mask = None if mask is None else mask.unsqueeze(-3)
        Y = F.scaled_dot_product_attention(
            heads(self.W_q(X)), heads(self.W_k(context)), heads(self.W_v(context)), mask
        )
        return self.W_o(Y.movedim(-3, -2).reshape(X.shape))


class MultiHeadAttention__head_by_head(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        found = []
        for head in range(self.n_heads):
            part = slice(head * self.d_head, (head + 1) * self.d_head)
            scores = Q[..., part] @ K[..., part].transpose(-2, -1) / self.d_head**0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e30)
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights * mask
            found.append(weights @ V[..., part])
        return self.W_o(torch.cat(found, dim=-1))


class MultiHeadAttention__einsum(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q = self.W_q(X).unflatten(-1, (self.n_heads, -1))
        K = self.W_k(context).unflatten(-1, (self.n_heads, -1))
        V = self.W_v(context).unflatten(-1, (self.n_heads, -1))
        scores = torch.einsum("...qhd,...khd->...hqk", Q, K) * Q.shape[-1] ** -0.5
        largest = scores.detach().amax(dim=-1, keepdim=True)
        if mask is not None:
            shown = scores.masked_fill(~mask.unsqueeze(-3), -1e30)
            largest = shown.detach().amax(dim=-1, keepdim=True)
            weights = torch.where(mask.unsqueeze(-3), torch.exp(shown - largest), 0)
        else:
            weights = torch.exp(scores - largest)
        total = weights.sum(dim=-1, keepdim=True)
        weights = weights / torch.where(total > 0, total, 1)
        return self.W_o(torch.einsum("...hqk,...khd->...qhd", weights, V).flatten(-2))


MULTI_HEAD_ATTENTION = Exercise(
    name="MultiHeadAttention",
    points=5,
    difficulty=4,
    minutes=30,
    reference=solutions.MultiHeadAttention,
    cases=attention_cases,
    hidden=attention_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        MultiHeadAttention__fused,
        MultiHeadAttention__head_by_head,
        MultiHeadAttention__einsum,
    ),
    help=(
        "Project: queries from `X`, keys and values from `context`. Split each among the heads. "
        "Attend. Merge, and apply `W_o`.",
        "Between projecting and attending, the axes go from (..., n, d_model) to "
        "(..., n, n_heads, d_head) to (..., n_heads, n, d_head), and at the end all the way back. "
        "The mask knows nothing of heads: where does it need an axis of length 1?",
        "Chapter 8, the section on attention with autograd, and chapter 6, on splitting and "
        "merging.",
    ),
)
