"""The exercise `EncoderBlock`: the wiring of two sublayers, two sums and two norms."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Raises, Setup, Tensor, draw_setup
from solutions import transformer_block as solutions

from .. import forbidden

encoder_block = Declaration(
    solutions.EncoderBlock,
    points=4,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.ENCODER_LAYER,
    help=(
        "Two sublayers, attention and then feed-forward. The output of a sublayer is added to "
        "its input. `norm` says whether there is a norm after each sum, or at the input of each "
        "sublayer.",
        'Draw both designs with an arrow for the residual. With norm="pre" there is nothing on '
        "that arrow but the sums.",
        "Sections “The encoder block” and “The residual: add, do not replace”.",
    ),
)


@encoder_block.right
class TwoFunctions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        if norm not in {"pre", "post"}:
            raise ValueError(f"what is {norm}?")
        self.n_heads, self.pre = n_heads, norm == "pre"
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

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
        if self.pre:
            X = X + self.attend(self.norm_1(X), mask)
            return X + self.transform(self.norm_2(X))
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + self.transform(X))


@encoder_block.right
class Loop(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.norm = n_heads, ("post", "pre")[["post", "pre"].index(norm)]
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential()
        self.feed_forward.add_module("W_1", nn.Linear(d_model, d_ff))
        self.feed_forward.add_module("bend", nn.ReLU())
        self.feed_forward.add_module("W_2", nn.Linear(d_ff, d_model))
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})

    def forward(self, X, mask=None):
        def attend(X):
            maps, found = self.attention, []
            Q, K, V = (maps[x](X).chunk(self.n_heads, -1) for x in ("W_q", "W_k", "W_v"))
            for q, k, v in zip(Q, K, V, strict=True):
                scores = q @ k.mT / q.shape[-1] ** 0.5
                shown = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
                weights = scores.masked_fill(~shown, -1e30).softmax(-1) * shown
                found.append(weights @ v)
            return maps["W_o"](torch.cat(found, -1))

        steps = ((attend, self.norm_1), (self.feed_forward, self.norm_2))
        for sublayer, norm in steps:
            X = norm(X + sublayer(X)) if self.norm == "post" else X + sublayer(norm(X))
        return X


@encoder_block.right
class FromTorch(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.sizes = (d_model, n_heads, {"pre": True, "post": False}.get(norm))
        if self.sizes[2] is None:
            raise ValueError
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, X, mask):
        d_model, n_heads, _ = self.sizes
        maps = dict(self.attention.named_parameters())
        if mask is not None:
            shape = (len(X), X.shape[1], X.shape[1])
            mask = ~mask.expand(shape).repeat_interleave(n_heads, 0) if len(X[0]) else None
        tokens = X.transpose(0, 1)
        found, _ = F.multi_head_attention_forward(
            *(tokens, tokens, tokens, d_model, n_heads, None),
            torch.cat([maps["W_q.bias"], maps["W_k.bias"], maps["W_v.bias"]]),
            *(None, None, False, 0.0, maps["W_o.weight"], maps["W_o.bias"]),
            need_weights=False,
            attn_mask=mask,
            use_separate_proj_weight=True,
            q_proj_weight=maps["W_q.weight"],
            k_proj_weight=maps["W_k.weight"],
            v_proj_weight=maps["W_v.weight"],
        )
        return found.transpose(0, 1)

    def forward(self, X, mask=None):
        W_1, W_2 = self.feed_forward["W_1"], self.feed_forward["W_2"]
        if self.sizes[2]:
            X = X + self.attend(self.norm_1(X), mask)
            return X + W_2(W_1(self.norm_2(X)).relu())
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + W_2(W_1(X).relu()))


class Plain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.pre = n_heads, norm == "pre"
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

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
        steps = ((lambda X: self.attend(X, mask), self.norm_1), (self.transform, self.norm_2))
        for sublayer, norm in steps:
            X = X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))
        return X


plain = encoder_block.base(("neither pre nor post",), Plain)
encoder_block.wrong(
    "no residual",
    "Set all weights of attention and feed-forward to 0. What is left of `X` in your block?",
    plain.edit("X + sublayer", "sublayer", times=2),
)
encoder_block.wrong(
    "the norm on the residual path",
    'With norm="pre", follow `X` from the input to the output along the sums alone: does it pass '
    "through a norm?",
    plain.edit(
        "X = X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))",
        "X = norm(X) if self.pre else X\n"
        "X = X + sublayer(X) if self.pre else norm(X + sublayer(X))",
    ),
)
encoder_block.wrong(
    "the norm before the sum",
    'With norm="post", what is normalised: the sum, or only what the sublayer adds to it?',
    plain.edit("norm(X + sublayer(X))", "X + norm(sublayer(X))"),
)
encoder_block.wrong(
    "always post",
    "What does your module do with the argument `norm`?",
    plain.edit(
        "X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))", "norm(X + sublayer(X))"
    ),
)
encoder_block.wrong(
    "pre and post exchanged",
    "Which of the two is the design of 2017, and is its last step a norm or a sum?",
    plain.edit("if self.pre", "if not self.pre"),
)
encoder_block.wrong(
    "one norm for both sublayers",
    "What gradient do the weights of `norm_2` get?",
    plain.edit("(self.transform, self.norm_2)", "(self.transform, self.norm_1)"),
)
encoder_block.wrong(
    "mask not passed on",
    "Change a token that the mask hides. Which outputs should change, and which do?",
    plain.edit("self.attend(X, mask)", "self.attend(X, None)"),
)
encoder_block.wrong(
    "the sublayers side by side",
    "What does the feed-forward part read: the block's input, or the result of the attention "
    "sublayer?",
    plain.edit(
        """\
for sublayer, norm in steps:
    X = X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))""",
        """\
block_input = X
for sublayer, norm in steps:
    read = norm(block_input) if self.pre else block_input
    X = X + sublayer(read) if self.pre else norm(X + sublayer(read))""",
    ),
)
encoder_block.wrong(
    "the residual added in place",
    "Which other code still uses the tensor that `+=` changes?",
    plain.edit(
        """\
for sublayer, norm in steps:
    X = X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))""",
        """\
if self.pre:
    X += self.attend(self.norm_1(X), mask)
    X += self.transform(self.norm_2(X))
    return X
X += self.attend(X, mask)
X = self.norm_1(X)
X = self.norm_2(X + self.transform(X))""",
    ),
)


encoder_block.wrong(
    "what the sublayer adds is normalised, not what it reads",
    'With norm="pre", what goes into the norm: `X`, or what the sublayer made of it?',
    plain.edit("X + sublayer(norm(X)) if self.pre", "X + norm(sublayer(X)) if self.pre"),
)
encoder_block.wrong(
    "the norm on the residual path of attention",
    'With norm="pre", follow `X` from the input to the output along the sums alone: does it pass '
    "through a norm, in one of the two sublayers?",
    plain.edit(
        "steps =",
        "X, norm_1 = (self.norm_1(X), nn.Identity()) if self.pre else (X, self.norm_1)\nsteps =",
    ).edit("mask), self.norm_1)", "mask), norm_1)"),
)


encoder_block.wrong(
    "the norm on the residual path of the feed-forward part",
    'With norm="pre", follow `X` from the input to the output along the sums alone: does it pass '
    "through a norm, in one of the two sublayers?",
    plain.edit(
        "for sublayer, norm in steps:\n    X =",
        "for sublayer, norm in steps:\n"
        "    if self.pre and norm is self.norm_2:\n"
        "        X, norm = norm(X), nn.Identity()\n"
        "    X =",
    ),
)
encoder_block.wrong(
    "no norm before the feed-forward part",
    'With norm="pre", what gradient do the weights of `norm_2` get? What does the feed-forward '
    "part read?",
    plain.edit(
        "(self.transform, self.norm_2)",
        "(self.transform, nn.Identity() if self.pre else self.norm_2)",
    ),
)
encoder_block.wrong(
    "no residual around the attention",
    "Set all weights of the attention to 0. What is left of `X` in your block?",
    plain.edit("mask), self.norm_1)", "mask) - X, self.norm_1)").edit(
        "X + sublayer(norm(X)) if self.pre",
        "X + sublayer(norm(X)) + (norm(X) - X if norm is self.norm_1 else 0) if self.pre",
    ),
)
encoder_block.wrong(
    "the second sum begins at the block's input",
    "To what is the result of the feed-forward part added: to the block's input, or to the result "
    "of the attention sublayer?",
    plain.edit(
        """\
for sublayer, norm in steps:
    X = X + sublayer(norm(X)) if self.pre else norm(X + sublayer(X))""",
        """\
block_input = X
for sublayer, norm in steps:
    added = sublayer(norm(X) if self.pre else X)
    X = block_input + added if self.pre else norm(block_input + added)""",
    ),
)
encoder_block.wrong(
    "mask inverted",
    "In this course True means “may attend”. Which tokens does your mask hide?",
    plain.edit("self.attend(X, mask)", "self.attend(X, None if mask is None else ~mask)"),
)


@encoder_block.public
def _(rng):
    yield _case(rng, "three tokens, the norm after", (1, 3, 4), 2, 5).holds(
        "Its parts are called `attention`, `feed_forward` (with ReLU), `norm_1` and `norm_2`.",
        "d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.",
        'where the two norms stand: "post" for after each residual sum, as in 2017, or "pre" for '
        "at the input of each sublayer",
        "X: (batch, n, d_model), n may be 0. Returns the same shape.",
    )
    yield _case(rng, "the norm before", (1, 3, 4), 2, 5, norm="pre").holds(
        "Its parts…", "where the…"
    )
    mask = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 2, 3, mask).holds(
        "X: (batch…",
        "mask: boolean, broadcastable to (batch, n, n), such as (n,), True where a token may "
        "attend, or None.",
    )
    yield _case(rng, "a causal mask, the norm before", (2, 3, 4), 2, 3, mask, norm="pre").holds(
        "where the…"
    )
    mask = np.array([[[True, True, False]], [[False, False, False]]])
    yield _case(
        rng, "float32, a sequence that is all padding", (2, 3, 6), 3, 4, mask, np.float32
    ).holds("mask: boolean…", "A token that may attend to nothing finds what `W_o` makes of zeros.")
    row = np.array([True, False, True])
    yield _case(rng, "a mask of one axis", (2, 3, 4), 2, 3, row, norm="pre").holds("mask: boolean…")
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1, 1, norm="pre").holds(
        "d_model, n_heads…"
    )
    yield _case(rng, "no tokens", (2, 0, 4), 2, 3).holds("n may be 0")
    yield _case(rng, "no tokens, and a mask", (2, 0, 4), 2, 3, row[None, :0], norm="pre").holds(
        "n may be…"
    )
    yield _case(rng, "large tokens", (1, 3, 4), 2, 3, size=40.0).holds("X: (batch…")
    yield lonely(_case(rng, LONELY, (1, 3, 4), 2, 3, ONE_EACH)).holds("X: (batch…")
    yield _refused("neither pre nor post", (4, 2, 3), "none").holds("ValueError for any other")
    mask = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "as many sequences as tokens, one mask for all", (3, 3, 4), 2, 3, mask)
    case = _case(rng, "a token of zeros", (2, 3, 4), 2, 3, mask, norm="pre")
    case.arguments[0].array[:, 1] = 0
    yield case


@encoder_block.hidden
def _(rng):
    n_heads, d_head, n, d_ff = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    shape = (2, n, n_heads * d_head)
    yield _case(rng, "the norm after", shape, n_heads, d_ff)
    yield _case(rng, "the norm before", shape, n_heads, d_ff, norm="pre")
    mask = np.tril(np.ones((n, n), dtype=bool))
    yield _case(rng, "a causal mask", shape, n_heads, d_ff, mask)
    yield _case(rng, "a causal mask, the norm before", shape, n_heads, d_ff, mask, norm="pre")
    mask = np.arange(n) < rng.permutation([0, n - 1])[:, None, None]
    yield _case(
        rng, "float32, a sequence that is all padding", shape, n_heads, d_ff, mask, np.float32
    )
    row = rng.permutation(n) < n - 1
    yield _case(rng, "a mask of one axis", shape, n_heads, d_ff, row)
    nothing = (2, 0, shape[-1])
    yield _case(rng, "no tokens", nothing, n_heads, d_ff, norm="pre")
    yield _case(rng, "no tokens, and a mask", nothing, n_heads, d_ff, mask[..., :0])
    yield _case(rng, "large tokens", shape, n_heads, d_ff, size=40.0)
    shape = (2, 3, shape[-1])
    yield lonely(_case(rng, LONELY, shape, n_heads, d_ff, ONE_EACH))
    other = str(rng.choice(["both", "middle", "layer"]))
    yield _refused("neither pre nor post", (shape[-1], n_heads, d_ff), other)


LONELY = "large scores, each token may attend to one"

ONE_EACH = np.array([[True, False, False], [False, True, False], [False, True, False]])


def lonely(case: Case, attention: str = "attention") -> Case:
    """The case with a first token, its opposite, and the first once more, and large scores.

    Under the mask ONE_EACH the first has one score and the third has the opposite one: one is far
    below 0, below any number that could stand for minus infinity. No gradients are asked for: of
    such scores, what rounding leaves of those that are 0 is large as well.
    """
    case = sharp(case, attention, 1e6)
    assert case.setup is not None
    weights = {name: Tensor(one.array, False) for name, one in case.setup.weights.items()}
    X, *others = (Tensor(one.array, False) for one in case.arguments)
    first = X.array[:, :1]
    arguments = (Tensor(np.hstack((first, -first, first)), False), *others)
    return replace(case, arguments=arguments, setup=replace(case.setup, weights=weights))


def sharp(case: Case, attention: str, factor: float) -> Case:
    """The case with queries and keys that are so many times larger, and no biases in them."""
    setup = case.setup
    assert setup is not None
    factors = {
        f"{attention}.{name}.{part}": factor if part == "weight" else 0.0
        for name in ("W_q", "W_k")
        for part in ("weight", "bias")
    }
    weights = {
        name: Tensor(one.array * factors.get(name, 1.0)) for name, one in setup.weights.items()
    }
    return replace(case, setup=replace(setup, weights=weights))


def _refused(note: str, sizes: tuple[int, ...], norm: str) -> Case:
    """A block that must not be made."""
    X = Tensor(np.zeros((1, 2, sizes[0])))
    return Case(note, (X,), {}, Setup(sizes, {"norm": norm}, {}), Raises("ValueError"))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_heads: int,
    d_ff: int,
    mask: np.ndarray | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
    **keywords: Any,
) -> Case:
    """A case with tokens of `shape`, and a mask where one is given."""
    sizes = (shape[-1], n_heads, d_ff)
    setup = draw_setup(rng, solutions.EncoderBlock, *sizes, dtype=dtype, **keywords)
    X = Tensor((size * rng.normal(size=shape)).astype(dtype))
    return Case(note, (X,), {} if mask is None else {"mask": Tensor(mask)}, setup)
