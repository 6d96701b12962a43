"""The exercise `MultiHeadAttention`: chapter 6's layer, with autograd and another sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from solutions import transformer_block as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Promise, Raises, Setup, Tensor, draw_setup
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
    row = np.array([True, False, True])
    yield from _edges(rng, 4, 2, _mask(rng, 3, 3), row)
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1)
    yield _case(rng, "one token answers", (2, 3, 4), 2, n_k=1, mask=row[:, None])
    mask = rng.permuted(np.tile([True, True, False], (2, 3, 1)), axis=-1)
    yield _case(rng, "as many sequences as heads, each with a mask", (2, 3, 4), 2, mask=mask)
    yield _not_made("5 features, 3 heads", 5, 3)
    mask = np.ones((3, 4), dtype=bool)
    yield _mask_refused(rng, "a mask with a column too many", (3, 4), mask)
    yield _mask_refused(rng, "a mask with a row too many", (3, 4), mask.T)
    yield _not_made("1 feature, 2 heads", 1, 2)
    yield _mask_refused(rng, "a mask for three tokens, one token", (1, 4), np.ones(3, dtype=bool))
    note = "as many sequences as tokens, one mask for all"
    yield _case(rng, note, (3, 3, 4), 2, mask=_mask(rng, 3, 3))
    case = _case(
        rng, "a context token of zeros, a mask", (2, 3, 4), 2, n_k=4, mask=_mask(rng, 3, 4)
    )
    case.keywords["context"].array[:, :2] = 0
    yield case
    yield _lowest(_case(rng, "scores below any stand-in for infinity", (3, 4), 2, mask=row))


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
    yield from _edges(rng, d_model, n_heads, _mask(rng, n, n), rng.permutation(n) < n - 1)
    yield _case(rng, "three leading axes", (2, 1, 3, n, d_model), n_heads, mask=_mask(rng, n, n))
    mask = np.stack([_mask(rng, n, n) for _ in range(n_heads)])
    note = "as many sequences as heads, each with a mask"
    yield _case(rng, note, (n_heads, n, d_model), n_heads, mask=mask)
    yield _not_made("features that cannot be shared out", d_model + 1, n_heads)
    mask = np.ones((n, n + 1), dtype=bool)
    yield _mask_refused(rng, "a mask with a column too many", (n, d_model), mask, n_heads)
    yield _mask_refused(rng, "a mask with a row too many", (n, d_model), mask.T, n_heads)


def _edges(
    rng: np.random.Generator, d_model: int, n_heads: int, mask: np.ndarray, row: np.ndarray
) -> Iterator[Case]:
    """What is at an edge, in public and in hidden cases: n is the length of `row`."""
    n = len(row)
    yield _case(rng, "large scores, a mask", (n, d_model), n_heads, mask=mask, size=100.0)
    yield _case(rng, "a mask of one axis", (2, n, d_model), n_heads, mask=row)
    yield _case(rng, "a mask of one column", (n, d_model), n_heads, mask=row[:, None])
    yield _case(rng, "one head", (n, d_model), 1, mask=row[None])
    yield _case(rng, "a head for each feature", (n, d_model), d_model)
    yield _case(rng, "nobody asks", (2, 0, d_model), n_heads, n_k=n)
    yield _case(rng, "nobody answers", (2, n, d_model), n_heads, n_k=0)
    yield _case(
        rng, "nobody answers, and a mask", (2, n, d_model), n_heads, n_k=0, mask=mask[:, :0]
    )
    yield _case(rng, "no tokens, and a mask", (2, 0, d_model), n_heads, mask=mask[:0, :0])


def _not_made(note: str, d_model: int, n_heads: int) -> Case:
    """A module that must not be made."""
    refused = Raises("ValueError", (str(d_model), str(n_heads)))
    setup = Setup((d_model, n_heads), {}, {})
    return Case(note, (Tensor(np.zeros((2, d_model))),), {}, setup, refused)


def _mask_refused(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    mask: np.ndarray,
    n_heads: int = 2,
) -> Case:
    """A mask that does not broadcast."""
    case = _case(rng, note, shape, n_heads, mask=mask)
    return replace(case, raises=Raises("ValueError"))


def _lowest(case: Case) -> Case:
    """The case with all scores far below 0, and far from one another."""
    setup = case.setup
    assert setup is not None
    weights = dict(setup.weights)
    for name, sign in (("W_q", 1e6), ("W_k", -1e6)):
        weights[f"{name}.weight"] = Tensor(sign * np.abs(setup.weights[f"{name}.weight"].array))
        weights[f"{name}.bias"] = Tensor(0 * setup.weights[f"{name}.bias"].array)
    tokens = Tensor(np.abs(case.arguments[0].array) + 0.1)
    return replace(case, arguments=(tokens,), setup=replace(setup, weights=weights))


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
        if d_model % n_heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of n_heads ({n_heads})")
        super().__init__()
        self.n_heads = n_heads
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        def heads(Y):
            return Y.view(*Y.shape[:-1], self.n_heads, X.shape[-1] // self.n_heads).movedim(-2, -3)

        context = X if context is None else context
        if mask is not None:
            try:
                mask = mask.expand(*X.shape[:-1], context.shape[-2]).unsqueeze(-3)
            except RuntimeError as error:
                raise ValueError("the mask has another shape") from error
        Y = F.scaled_dot_product_attention(
            heads(self.W_q(X)), heads(self.W_k(context)), heads(self.W_v(context)), mask
        )
        return self.W_o(Y.movedim(-3, -2).reshape(X.shape))


class MultiHeadAttention__head_by_head(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        if self.d_head * n_heads != d_model:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        wanted = (*X.shape[:-1], context.shape[-2])
        if mask is not None:
            axes = zip(reversed(mask.shape), reversed(wanted), strict=False)
            if mask.dim() > len(wanted) or any(one not in (1, other) for one, other in axes):
                raise ValueError(f"mask {list(mask.shape)} against scores {list(wanted)}")
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
        if not (d_model / n_heads).is_integer():
            raise ValueError(f"Cannot split {d_model} features into {n_heads} heads.")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        heads = (self.n_heads, X.shape[-1] // self.n_heads)
        Q = self.W_q(X).unflatten(-1, heads)
        K = self.W_k(context).unflatten(-1, heads)
        V = self.W_v(context).unflatten(-1, heads)
        scores = torch.einsum("...qhd,...khd->...hqk", Q, K) * Q.shape[-1] ** -0.5
        shape = (*X.shape[:-1], context.shape[-2])
        mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask
        try:
            mask = torch.broadcast_to(mask, shape)
        except RuntimeError:
            raise ValueError("mask and scores do not go together") from None
        shown = scores.masked_fill(~mask.unsqueeze(-3), -1e30)
        largest = F.pad(shown, (0, 1), value=-1e30).detach().amax(dim=-1, keepdim=True)
        weights = torch.where(mask.unsqueeze(-3), torch.exp(shown - largest), 0)
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
    promises=(
        Promise(
            "with a bias in each of the four projections",
            ("three tokens, two heads", "one head", "a head for each feature"),
        ),
        Promise(
            "d_model: the features of a token, in and out. n_heads: at least 1.",
            ("three tokens, two heads", "one head", "a head for each feature"),
        ),
        Promise(
            "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
            "n_heads.",
            ("5 features, 3 heads", "features that cannot be shared out"),
        ),
        Promise(
            "X: (..., n_q, d_model), the tokens that ask. Returns the same shape.",
            (
                "three tokens, two heads",
                "float32, a batch, padding hidden",
                "float32, two leading batch axes, padding hidden",
                "three leading axes",
                "one token, one feature, a batch of one",
            ),
        ),
        Promise(
            "context: (..., n_k, d_model), the tokens that answer; None for `X` itself",
            ("another sequence answers", "one token answers", "tokens"),
        ),
        Promise(
            "mask: boolean, broadcastable to (..., n_q, n_k), such as (n_k,), True where a token "
            "may attend",
            (
                "a mask",
                "float32, a batch, padding hidden",
                "a mask of one axis",
                "a mask of one column",
            ),
        ),
        Promise(
            "the same for all heads",
            ("a mask", "as many sequences as heads, each with a mask"),
        ),
        Promise(
            "ValueError if it is for another number of tokens",
            ("a mask with a column too many", "a mask with a row too many"),
        ),
        Promise("None lets every token attend to every token", ("three tokens, two heads",)),
        Promise(
            "n_q and n_k may be 0",
            (
                "nobody asks",
                "nobody answers",
                "nobody answers, and a mask",
                "no tokens, and a mask",
            ),
        ),
        Promise(
            "The first d_model / n_heads features of a query, a key and a value belong to the "
            "first head, and so on.",
            ("three tokens, two heads", "a token that may attend to nothing"),
        ),
        Promise(
            "Scores are scaled dot products, and may be large.",
            ("three tokens, two heads", "large scores", "large scores, a mask"),
        ),
        Promise(
            "A token that may attend to nothing gets 0 from every head, so that its output is the "
            "bias of `W_o`.",
            ("a token that may attend to nothing", "nobody answers"),
        ),
    ),
    forbidden=forbidden.MULTI_HEAD_ATTENTION,
)
