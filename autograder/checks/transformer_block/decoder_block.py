"""The exercise `DecoderBlock`: a third sublayer that asks another sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from solutions import transformer_block as solutions

from ...judging.exercise import Case, Exercise, Tensor, draw_setup
from .decoder_block_wrong import MISCONCEPTIONS


def decoder_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "no masks, the norm after", (1, 3, 4), 2, 2, 5)
    yield _case(rng, "no masks, the norm before", (1, 3, 4), 2, 2, 5, norm="pre")
    causal = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 4, 2, 3, {"mask": causal})
    padding = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    masks = {"mask": causal, "context_mask": padding}
    yield _case(rng, "both masks, the norm before", (2, 3, 4), 4, 2, 3, masks, norm="pre")
    yield _case(rng, "float32, both masks", (2, 3, 6), 4, 3, 4, masks, np.float32)


def decoder_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n, n_k, d_ff = (int(one) for one in rng.permutation([2, 3, 4, 5, 6]))
    sizes = (2, n, n_heads * d_head), n_k, n_heads, d_ff
    causal = np.tril(np.ones((n, n), dtype=bool))
    masks = {
        "mask": causal,
        "context_mask": np.arange(n_k) < rng.permutation([1, n_k])[:, None, None],
    }
    yield _case(rng, "no masks, the norm after", *sizes)
    yield _case(rng, "no masks, the norm before", *sizes, norm="pre")
    yield _case(rng, "a causal mask", *sizes, {"mask": causal})
    yield _case(rng, "both masks, the norm before", *sizes, masks, norm="pre")
    yield _case(rng, "float32, both masks", *sizes, masks, np.float32)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_k: int,
    n_heads: int,
    d_ff: int,
    masks: dict[str, np.ndarray] | None = None,
    dtype: type = np.float64,
    **keywords: str,
) -> Case:
    """A case with target tokens of `shape`, and a context of `n_k` tokens that are no norm's."""
    sizes = (shape[-1], n_heads, d_ff)
    setup = draw_setup(rng, solutions.DecoderBlock, *sizes, dtype=dtype, **keywords)
    X = rng.normal(size=shape)
    context = 1 + 2 * rng.normal(size=(shape[0], n_k, shape[-1]))
    arguments = (Tensor(X.astype(dtype)), Tensor(context.astype(dtype)))
    return Case(note, arguments, {name: Tensor(one) for name, one in (masks or {}).items()}, setup)


class DecoderBlock__three_functions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.pre = n_heads, norm == "pre"
        self.norm_3, self.norm_2, self.norm_1 = (nn.LayerNorm(d_model) for _ in range(3))
        self.cross_attention = nn.ModuleDict(
            {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"}
        )
        self.self_attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        mask = None if mask is None else mask.unsqueeze(-3)
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return maps["W_o"](Y.transpose(-3, -2).flatten(-2))

    def forward(self, X, context, mask=None, context_mask=None):
        before = self.norm_1(X) if self.pre else X
        X = X + self.attend(self.self_attention, before, before, mask)
        X = X if self.pre else self.norm_1(X)
        before = self.norm_2(X) if self.pre else X
        X = X + self.attend(self.cross_attention, before, context, context_mask)
        X = X if self.pre else self.norm_2(X)
        before = self.norm_3(X) if self.pre else X
        X = X + self.feed_forward["W_2"](self.feed_forward["W_1"](before).clamp(min=0))
        return X if self.pre else self.norm_3(X)


class DecoderBlock__loop(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.norm = n_heads, norm
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        for part in ("self_attention", "cross_attention"):
            maps = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
            setattr(self, part, maps)
        self.feed_forward = nn.Sequential()
        self.feed_forward.add_module("W_1", nn.Linear(d_model, d_ff))
        self.feed_forward.add_module("bend", nn.ReLU())
        self.feed_forward.add_module("W_2", nn.Linear(d_ff, d_model))

    def forward(self, X, context, mask=None, context_mask=None):
        def attend(maps, X, context, mask):
            found = []
            Q, K, V = maps["W_q"](X), maps["W_k"](context), maps["W_v"](context)
            parts = (one.chunk(self.n_heads, -1) for one in (Q, K, V))
            for q, k, v in zip(*parts, strict=True):
                scores = q @ k.mT / q.shape[-1] ** 0.5
                shown = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
                found.append((scores.masked_fill(~shown, -1e30).softmax(-1) * shown) @ v)
            return maps["W_o"](torch.cat(found, -1))

        steps = (
            (lambda Y: attend(self.self_attention, Y, Y, mask), self.norm_1),
            (lambda Y: attend(self.cross_attention, Y, context, context_mask), self.norm_2),
            (self.feed_forward, self.norm_3),
        )
        for sublayer, norm in steps:
            X = norm(X + sublayer(X)) if self.norm == "post" else X + sublayer(norm(X))
        return X


class DecoderBlock__einsum(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.pre = n_heads, norm == "pre"
        for part in ("cross_attention", "self_attention"):
            maps = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
            setattr(self, part, maps)
        self.feed_forward = nn.ModuleDict(
            {"W_2": nn.Linear(d_ff, d_model), "W_1": nn.Linear(d_model, d_ff)}
        )
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1))
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        weights = torch.einsum("bqhd,bkhd->bhqk", Q, K) / Q.shape[-1] ** 0.5
        if mask is not None:
            weights = weights.masked_fill(~mask.unsqueeze(-3), -1e30)
        return maps["W_o"](torch.einsum("bhqk,bkhd->bqhd", weights.softmax(-1), V).flatten(-2))

    def forward(self, X, context, mask=None, context_mask=None):
        W_1, W_2 = self.feed_forward["W_1"], self.feed_forward["W_2"]
        own, other = self.self_attention, self.cross_attention
        if self.pre:
            Y = self.norm_1(X)
            X = X + self.attend(own, Y, Y, mask)
            X = X + self.attend(other, self.norm_2(X), context, context_mask)
            return X + W_2(W_1(self.norm_3(X)).relu())
        X = self.norm_1(X + self.attend(own, X, X, mask))
        X = self.norm_2(X + self.attend(other, X, context, context_mask))
        return self.norm_3(X + W_2(W_1(X).relu()))


DECODER_BLOCK = Exercise(
    name="DecoderBlock",
    points=4,
    difficulty=3,
    minutes=20,
    reference=solutions.DecoderBlock,
    cases=decoder_cases,
    hidden=decoder_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        DecoderBlock__three_functions,
        DecoderBlock__loop,
        DecoderBlock__einsum,
    ),
    help=(
        "Three sublayers: the target attends to itself, then to the context, then each token is "
        "transformed. Each has a residual and a norm, as in the encoder block.",
        "Which mask belongs to which attention? Its last axis tells. Where do the queries come "
        "from in the second sublayer, and where the keys and values?",
        "Chapter 8, the section on the decoder block.",
    ),
)
