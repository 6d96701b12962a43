"""The exercise `ParallelBlock`: two sublayers that do not wait for each other. To transfer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from solutions.variants import blocks as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Kind, Promise, Tensor, draw_setup
from .encoder_block import LONELY, ONE_EACH, lonely, sharp
from .parallel_block_wrong import MISCONCEPTIONS


def parallel_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "three tokens", (1, 3, 4), 2, 5)
    yield _case(rng, "one head, two sequences", (2, 3, 4), 1, 3)
    yield _case(rng, "tokens of another size", (2, 3, 4), 2, 3, size=10.0)
    mask = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 2, 3, mask)
    mask = np.array([[[True, True, False]], [[False, False, False]]])
    yield _case(rng, "float32, a sequence that is all padding", (2, 3, 6), 3, 4, mask, np.float32)
    row = np.array([True, False, True])
    yield _case(rng, "a mask of one axis", (2, 3, 4), 2, 3, row)
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1, 1)
    yield _case(rng, "no tokens", (2, 0, 4), 2, 3)
    yield _case(rng, "no tokens, and a mask", (2, 0, 4), 2, 3, row[None, :0])
    yield _case(rng, "tiny tokens", (1, 3, 4), 2, 3, size=1e-4)
    yield sharp(_case(rng, "large scores", (1, 3, 4), 2, 3), "attention", 100.0)
    yield lonely(_unshifted(_case(rng, LONELY, (1, 3, 4), 2, 3, ONE_EACH)))
    case = _case(rng, "a token of zeros", (2, 3, 4), 2, 3, np.tril(np.ones((3, 3), dtype=bool)))
    case.arguments[0].array[:, 1] = 0
    yield case


def parallel_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n, d_ff = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    shape = (2, n, n_heads * d_head)
    yield _case(rng, "tokens", shape, n_heads, d_ff)
    yield _case(rng, "tokens of another size", shape, n_heads, d_ff, size=10.0)
    mask = np.tril(np.ones((n, n), dtype=bool))
    yield _case(rng, "a causal mask", shape, n_heads, d_ff, mask)
    mask = np.arange(n) < rng.permutation([0, n - 1])[:, None, None]
    yield _case(
        rng, "float32, a sequence that is all padding", shape, n_heads, d_ff, mask, np.float32
    )
    yield _case(rng, "a mask of one axis", shape, n_heads, d_ff, rng.permutation(n) < n - 1)
    yield _case(rng, "no tokens, and a mask", (2, 0, shape[-1]), n_heads, d_ff, mask[..., :0])
    shape = (2, 3, shape[-1])
    yield sharp(_case(rng, "large scores", shape, n_heads, d_ff), "attention", 100.0)
    yield lonely(_unshifted(_case(rng, LONELY, shape, n_heads, d_ff, ONE_EACH)))


def _unshifted(case: Case) -> Case:
    """The case with a norm that shifts nothing: opposite tokens stay opposite."""
    setup = case.setup
    assert setup is not None
    bias = setup.weights["norm.bias"]
    weights = {**setup.weights, "norm.bias": Tensor(0 * bias.array)}
    return replace(case, setup=replace(setup, weights=weights))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_heads: int,
    d_ff: int,
    mask: np.ndarray | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
) -> Case:
    """A case with tokens of `shape`, and a mask where one is given."""
    setup = draw_setup(rng, solutions.ParallelBlock, shape[-1], n_heads, d_ff, dtype=dtype)
    X = Tensor((size * rng.normal(size=shape)).astype(dtype))
    return Case(note, (X,), {} if mask is None else {"mask": Tensor(mask)}, setup)


class ParallelBlock__two_functions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.n_heads = n_heads
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm = nn.LayerNorm(d_model)

    def attend(self, X, mask):
        Q, K, V = (
            torch.stack(self.attention[name](X).chunk(self.n_heads, dim=-1), dim=-3)
            for name in ("W_q", "W_k", "W_v")
        )
        if mask is not None:
            mask = mask.expand(len(X), X.shape[1], X.shape[1]).unsqueeze(1)
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.attention["W_o"](Y.transpose(-3, -2).flatten(-2))

    def transform(self, X):
        return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

    def forward(self, X, mask=None):
        Y = self.norm(X)
        return X + (self.attend(Y, mask) + self.transform(Y))


class ParallelBlock__loop(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential()
        self.feed_forward.add_module("W_1", nn.Linear(d_model, d_ff))
        self.feed_forward.add_module("bend", nn.ReLU())
        self.feed_forward.add_module("W_2", nn.Linear(d_ff, d_model))
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})

    def forward(self, X, mask=None):
        found, Y, maps = [], self.norm(X), self.attention
        Q, K, V = (maps[x](Y).chunk(self.n_heads, -1) for x in ("W_q", "W_k", "W_v"))
        for q, k, v in zip(Q, K, V, strict=True):
            scores = q @ k.mT / q.shape[-1] ** 0.5
            shown = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
            weights = scores.masked_fill(~shown, -1e30).softmax(-1) * shown
            found.append(weights @ v)
        for added in (maps["W_o"](torch.cat(found, -1)), self.feed_forward(Y)):
            X = X + added
        return X


class ParallelBlock__one_norm_written_out(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.heads = (n_heads, d_model // n_heads)
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, X, mask=None):
        centred = X - X.mean(-1, keepdim=True)
        spread = torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5)
        Y = centred / spread * self.norm.weight + self.norm.bias
        Q, K, V = (self.attention[f"W_{x}"](Y).unflatten(-1, self.heads) for x in "qkv")
        scores = torch.einsum("bqhd,bkhd->bhqk", Q, K) / self.heads[1] ** 0.5
        if mask is None:
            mask = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool)
        mask = mask.expand(len(X), X.shape[1], X.shape[1]).unsqueeze(1)
        weights = scores.masked_fill(~mask, -1e30).softmax(-1).masked_fill(~mask, 0)
        heads = torch.einsum("bhqk,bkhd->bqhd", weights, V).flatten(-2)
        hidden = self.feed_forward["W_1"](Y).clamp(min=0)
        return self.feed_forward["W_2"](hidden) + self.attention["W_o"](heads) + X


PARALLEL_BLOCK = Exercise(
    name="ParallelBlock",
    points=4,
    difficulty=3,
    minutes=15,
    reference=solutions.ParallelBlock,
    cases=parallel_cases,
    hidden=parallel_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        ParallelBlock__two_functions,
        ParallelBlock__loop,
        ParallelBlock__one_norm_written_out,
    ),
    help=(
        "Draw the encoder block with the norm before, one arrow for each sum. Then draw this one: "
        "what does its second sublayer read, and how many norms are left?",
        "One arrow goes straight through. Two leave it at the same point, and come back to it at "
        "the same point.",
        "Chapter 8, the section on the encoder block, for the norm before; the rest is yours.",
    ),
    promises=(
        Promise("Both read `norm(X)`, with one norm for the two.", ("three tokens", "tiny tokens")),
        Promise(
            "Its parts are called `attention`, `feed_forward` (with ReLU) and `norm`.",
            ("three tokens", "one head, two sequences"),
        ),
        Promise(
            "d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.",
            ("three tokens", "one token, one feature, a batch of one"),
        ),
        Promise(
            "X: (batch, n, d_model), n may be 0.",
            ("three tokens", "tokens of another size", "no tokens", "large scores", LONELY),
        ),
        Promise(
            "mask: as in `EncoderBlock`.",
            (
                "a causal mask",
                "a mask of one axis",
                "no tokens, and a mask",
                "float32, a sequence that is all padding",
            ),
        ),
        Promise("Returns X's shape.", ("three tokens", "no tokens")),
    ),
    kind=Kind.TRANSFER,
    forbidden=forbidden.ENCODER_LAYER,
)
