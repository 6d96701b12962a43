"""The exercise `ParallelBlock`: two sublayers that do not wait for each other. To transfer."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor, draw_setup
from solutions.variants import blocks as solutions

from .. import forbidden
from .encoder_block import LONELY, ONE_EACH, lonely, sharp

parallel_block = Declaration(
    solutions.ParallelBlock,
    points=4,
    difficulty=3,
    minutes=15,
    kind=Kind.TRANSFER,
    forbidden=forbidden.ENCODER_LAYER,
    help=(
        "Draw the encoder block with the norm before, one arrow for each sum. Then draw this one: "
        "what does its second sublayer read, and how many norms are left?",
        "One arrow goes straight through. Two leave it at the same point, and come back to it at "
        "the same point.",
        "Section “The encoder block”, for the norm before; the rest is yours.",
    ),
)


@parallel_block.right
class TwoFunctions(nn.Module):
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


@parallel_block.right
class Loop(nn.Module):
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


@parallel_block.right
class OneNormWrittenOut(nn.Module):
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


class Plain(nn.Module):
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
            self.attention[name](X).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
            for name in ("W_q", "W_k", "W_v")
        )
        mask = None if mask is None else torch.atleast_2d(mask).unsqueeze(-3)
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.attention["W_o"](Y.transpose(-3, -2).flatten(-2))

    def transform(self, X):
        return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

    def forward(self, X, mask=None):
        Y = self.norm(X)
        return X + self.attend(Y, mask) + self.transform(Y)


plain = parallel_block.right(Plain)
parallel_block.wrong(
    "one after the other",
    "What does the feed-forward part read: the result of the attention sublayer, or the tokens "
    "that attention read?",
    plain.edit(
        "Y = self.norm(X)\nreturn X + self.attend(Y, mask) + self.transform(Y)",
        "X = X + self.attend(self.norm(X), mask)\nreturn X + self.transform(self.norm(X))",
    ),
)
parallel_block.wrong(
    "the feed-forward part reads what attention found",
    "Change a token that the mask hides from all others. Does the feed-forward part's "
    "contribution to the others change?",
    plain.edit(
        "Y = self.norm(X)\nreturn X + self.attend(Y, mask) + self.transform(Y)",
        "Y = self.attend(self.norm(X), mask)\nreturn X + Y + self.transform(Y)",
    ),
)
parallel_block.wrong(
    "the feed-forward part reads X as it is",
    "Multiply `X` by 10. Should the feed-forward part's contribution grow?",
    plain.edit("self.transform(Y)", "self.transform(X)"),
)
parallel_block.wrong(
    "attention reads X as it is",
    "Multiply `X` by 10. Should attention's contribution grow?",
    plain.edit(
        "Y = self.norm(X)\nreturn X + self.attend(Y, mask) + self.transform(Y)",
        "return X + self.attend(X, mask) + self.transform(self.norm(X))",
    ),
)
parallel_block.wrong(
    "the norm after the sum",
    "Set all weights of the two sublayers to 0. Should `X` come out, or `X` normalised?",
    plain.edit(
        "Y = self.norm(X)\nreturn X + self.attend(Y, mask) + self.transform(Y)",
        "return self.norm(X + self.attend(X, mask) + self.transform(X))",
    ),
)
parallel_block.wrong(
    "the norm on the residual path",
    "What are the two results added to: `X`, or the tokens that the sublayers read?",
    plain.edit("X + self.attend(Y, mask)", "Y + self.attend(Y, mask)"),
)
parallel_block.wrong(
    "no residual",
    "Set all weights of the two sublayers to 0. What is left of `X`?",
    plain.edit("X + self.attend(Y, mask)", "self.attend(Y, mask)"),
)
parallel_block.wrong(
    "the residual added twice",
    "Set all weights of the two sublayers to 0. Does your block return `X`?",
    plain.edit(
        "X + self.attend(Y, mask) + self.transform(Y)",
        "(X + self.attend(Y, mask)) + (X + self.transform(Y))",
    ),
)
parallel_block.wrong(
    "the mean of the two",
    "Set all weights of the feed-forward part to 0. Is the whole output of attention added, or "
    "half of it?",
    plain.edit(
        "self.attend(Y, mask) + self.transform(Y)", "(self.attend(Y, mask) + self.transform(Y)) / 2"
    ),
)
parallel_block.wrong(
    "mask not passed on",
    "Change a token that the mask hides. Which outputs should change, and which do?",
    plain.edit("self.attend(Y, mask)", "self.attend(Y, None)"),
)
parallel_block.wrong(
    "the residual added in place",
    "Which other code still uses the tensor that `+=` changes?",
    plain.edit(
        "return X + self.attend(Y, mask) + self.transform(Y)",
        "X += self.attend(Y, mask) + self.transform(Y)\nreturn X",
    ),
)


@parallel_block.public
def _(rng):
    yield _case(rng, "three tokens", (1, 3, 4), 2, 5).holds(
        "Both read `norm(X)`, with one norm for the two.",
        "Its parts are called `attention`, `feed_forward` (with ReLU) and `norm`.",
        "d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.",
        "X: (batch, n, d_model), n may be 0.",
        "Returns X's shape.",
    )
    yield _case(rng, "one head, two sequences", (2, 3, 4), 1, 3).holds("Its parts…")
    yield _case(rng, "tokens of another size", (2, 3, 4), 2, 3, size=10.0).holds("X: (batch…")
    mask = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 2, 3, mask).holds("mask: as in `EncoderBlock`.")
    mask = np.array([[[True, True, False]], [[False, False, False]]])
    yield _case(
        rng, "float32, a sequence that is all padding", (2, 3, 6), 3, 4, mask, np.float32
    ).holds("mask: as…")
    row = np.array([True, False, True])
    yield _case(rng, "a mask of one axis", (2, 3, 4), 2, 3, row).holds("mask: as…")
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1, 1).holds(
        "d_model, n_heads…"
    )
    yield _case(rng, "no tokens", (2, 0, 4), 2, 3).holds("X: (batch…", "Returns X's…")
    yield _case(rng, "no tokens, and a mask", (2, 0, 4), 2, 3, row[None, :0]).holds("mask: as…")
    yield _case(rng, "tiny tokens", (1, 3, 4), 2, 3, size=1e-4).holds("Both read…")
    yield sharp(_case(rng, "large scores", (1, 3, 4), 2, 3), "attention", 100.0).holds("X: (batch…")
    yield lonely(_unshifted(_case(rng, LONELY, (1, 3, 4), 2, 3, ONE_EACH))).holds("X: (batch…")
    case = _case(rng, "a token of zeros", (2, 3, 4), 2, 3, np.tril(np.ones((3, 3), dtype=bool)))
    case.arguments[0].array[:, 1] = 0
    yield case


@parallel_block.hidden
def _(rng):
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
