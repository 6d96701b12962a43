"""The exercise `DecoderBlock`: a third sublayer that asks another sequence."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Raises, Setup, Tensor, draw_setup
from solutions import transformer_block as solutions

from .. import forbidden
from .encoder_block import LONELY, ONE_EACH, lonely

decoder_block = Declaration(
    solutions.DecoderBlock,
    points=4,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.DECODER_LAYER,
    help=(
        "Three sublayers: the target attends to itself, then to the context, then each token is "
        "transformed. Each has a residual and a norm, as in the encoder block.",
        "Which mask belongs to which attention? Look at the last axis of each mask. Where do the "
        "queries come from in the second sublayer, and where the keys and values?",
        "Section “The decoder block”.",
    ),
)


class ThreeFunctions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        if not (norm == "pre" or norm == "post"):
            raise ValueError(f"norm must be 'pre' or 'post', not {norm}")
        self.n_heads, self.pre = n_heads, norm == "pre"
        for part in ("self_attention", "cross_attention"):
            maps = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
            setattr(self, part, maps)
        self.feed_forward = nn.ModuleDict(
            {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        )
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        mask = None if mask is None else torch.atleast_2d(mask).unsqueeze(-3)
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


three_functions = decoder_block.right(ThreeFunctions)


@decoder_block.right
class Loop(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        if norm not in ("post", "pre"):
            raise ValueError("norm")
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


@decoder_block.right
class Einsum(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        self.n_heads, self.pre = n_heads, bool(("post", "pre").index(norm))
        for part in ("cross_attention", "self_attention"):
            maps = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
            setattr(self, part, maps)
        self.feed_forward = nn.ModuleDict(
            {"W_2": nn.Linear(d_ff, d_model), "W_1": nn.Linear(d_model, d_ff)}
        )
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, X.shape[-1] // self.n_heads))
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        weights = torch.einsum("bqhd,bkhd->bhqk", Q, K) / Q.shape[-1] ** 0.5
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        shown = mask.expand(weights[:, 0].shape)[:, None]
        weights = weights.masked_fill(~shown, -1e30).softmax(-1) * shown
        return maps["W_o"](torch.einsum("bhqk,bkhd->bqhd", weights, V).flatten(-2))

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


plain = three_functions.edit(
    """\
if not (norm == "pre" or norm == "post"):
    raise ValueError(f"norm must be 'pre' or 'post', not {norm}")""",
    "",
)
decoder_block.wrong(
    "mask not passed on",
    "With a causal mask, change the last token of the target. Which outputs should change, and "
    "which do?",
    plain.edit("before, before, mask", "before, before, None"),
)
decoder_block.wrong(
    "context mask not passed on",
    "Change a token of the source that is padding. Which outputs should change, and which do?",
    plain.edit("before, context, context_mask", "before, context, None"),
)
decoder_block.wrong(
    "the context not used",
    "Change a token of `context`. Does your output change?",
    plain.edit("before, context, context_mask", "before, before, mask"),
)
decoder_block.wrong(
    "one attention for both",
    "What gradient do the weights of `cross_attention` get?",
    plain.edit("self.attend(self.cross_attention", "self.attend(self.self_attention"),
)
decoder_block.wrong(
    "the cross-attention first",
    "Which should a token of the target attend to first: the target's tokens, or the source's?",
    plain.edit(
        """\
X = X + self.attend(self.self_attention, before, before, mask)
X = X if self.pre else self.norm_1(X)
before = self.norm_2(X) if self.pre else X
X = X + self.attend(self.cross_attention, before, context, context_mask)""",
        """\
X = X + self.attend(self.cross_attention, before, context, context_mask)
X = X if self.pre else self.norm_1(X)
before = self.norm_2(X) if self.pre else X
X = X + self.attend(self.self_attention, before, before, mask)""",
    ),
)
decoder_block.wrong(
    "no residual around the context",
    "Set all weights of the three sublayers to 0. What is left of `X` in your block?",
    plain.edit("X + self.attend(self.cross_attention", "self.attend(self.cross_attention"),
)
decoder_block.wrong(
    "the norm on the residual path",
    'With norm="pre", follow `X` from the input to the output along the sums alone: does it pass '
    "through a norm?",
    plain.edit("before = ", "X = before = ", times=3),
)
decoder_block.wrong(
    "the context cut off from the gradient",
    "The output is right. How does the encoder learn what to hand over?",
    plain.edit("before, context, context_mask", "before, context.detach(), context_mask"),
)


decoder_block.wrong(
    "the context normalised too",
    'With norm="pre", which tensor does `norm_2` belong to? Does a norm touch `context`?',
    plain.edit(
        "before, context, context_mask",
        "before, self.norm_2(context) if self.pre else context, context_mask",
    ),
)
decoder_block.wrong(
    "one norm for two sublayers",
    "What gradient do the weights of `norm_3` get?",
    plain.edit("self.norm_3(X)", "self.norm_2(X)", times=2),
)
decoder_block.wrong(
    "one norm for all three sublayers",
    "What gradient do the weights of `norm_2` and `norm_3` get?",
    plain.edit("self.norm_3(", "self.norm_1(", times=2).edit(
        "self.norm_2(", "self.norm_1(", times=2
    ),
)
decoder_block.wrong(
    "the norm before the sum",
    'With norm="post", what is normalised: the sum, or only what the sublayer adds to it?',
    plain.edit(
        "X = X + self.attend(self.self_attention, before, before, mask)\n"
        "X = X if self.pre else self.norm_1(X)",
        "found = self.attend(self.self_attention, before, before, mask)\n"
        "X = X + (found if self.pre else self.norm_1(found))",
    )
    .edit(
        "X = X + self.attend(self.cross_attention, before, context, context_mask)\n"
        "X = X if self.pre else self.norm_2(X)",
        "found = self.attend(self.cross_attention, before, context, context_mask)\n"
        "X = X + (found if self.pre else self.norm_2(found))",
    )
    .edit(
        'X = X + self.feed_forward["W_2"](self.feed_forward["W_1"](before).clamp(min=0))\n'
        "return X if self.pre else self.norm_3(X)",
        'found = self.feed_forward["W_2"](self.feed_forward["W_1"](before).clamp(min=0))\n'
        "return X + (found if self.pre else self.norm_3(found))",
    ),
)


@decoder_block.public
def _(rng):
    yield _case(rng, "no masks, the norm after", (1, 3, 4), 2, 2, 5).holds(
        "Its parts are called `self_attention`, `cross_attention`, `feed_forward` (with ReLU), "
        "and `norm_1`, `norm_2`, `norm_3` in the order of the sublayers.",
        "d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.",
        'where the three norms stand: "post" for after each residual sum, as in 2017, or "pre" '
        "for at the input of each sublayer",
        "No norm touches `context`.",
        "X: (batch, n, d_model), the target's tokens. Returns the same shape.",
        "context: (batch, n_k, d_model), the source's tokens as the encoder left them.",
        "mask: boolean, broadcastable to (batch, n, n), for the attention of the target to "
        "itself: a causal mask, where it is to be causal.",
    )
    yield _case(rng, "no masks, the norm before", (1, 3, 4), 2, 2, 5, norm="pre").holds(
        "Its parts…",
        "where the…",
        "No norm touches…",
        "In both, True is where a token may attend, and None lets every token attend to every "
        "token.",
    )
    causal = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 4, 2, 3, {"mask": causal}).holds(
        "context: (batch…", "mask: boolean…"
    )
    padding = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    masks = {"mask": causal, "context_mask": padding}
    yield _case(rng, "both masks, the norm before", (2, 3, 4), 4, 2, 3, masks, norm="pre").holds(
        "context_mask: boolean, broadcastable to (batch, n, n_k), such as (n_k,), for the "
        "attention of the target to the source.",
        "In both…",
    )
    yield _case(rng, "float32, both masks", (2, 3, 6), 4, 3, 4, masks, np.float32).holds(
        "context_mask: boolean…"
    )
    masks = {"mask": np.array([True, False, True]), "context_mask": np.array([False, True])}
    yield _case(rng, "masks of one axis", (2, 3, 4), 2, 2, 3, masks, norm="pre").holds(
        "mask: boolean…", "context_mask: boolean…"
    )
    masks = {"mask": causal & ~np.eye(3, dtype=bool), "context_mask": padding & ~padding[:1]}
    yield _case(rng, "tokens that may attend to nothing", (2, 3, 4), 4, 2, 3, masks).holds(
        "A token that may attend to nothing finds what `W_o` makes of zeros."
    )
    masks = {"context_mask": np.array([[True], [False], [True]])}
    yield _case(rng, "one token of the source, and a mask", (2, 3, 4), 1, 2, 3, masks).holds(
        "context_mask: boolean…"
    )
    masks = {"context_mask": np.array([[True, False], [True, True], [False, True]])}
    yield _case(rng, "a context mask with a row for each token", (2, 3, 4), 2, 2, 3, masks).holds(
        "context_mask: boolean…"
    )
    note = "one token in both sequences, one feature, a batch of one"
    yield _case(rng, note, (1, 1, 1), 1, 1, 1, norm="pre").holds("d_model, n_heads…")
    yield from _nothing(rng, 4, 2, 3)
    yield _case(rng, "large tokens", (1, 3, 4), 2, 2, 3, size=40.0).holds("X: (batch…")
    masks = {"mask": ONE_EACH}
    yield lonely(_case(rng, LONELY, (1, 3, 4), 2, 2, 3, masks), "self_attention").holds(
        "X: (batch…"
    )
    yield _refused("neither pre nor post", (4, 2, 3), "none").holds("ValueError for any other")
    masks = {"mask": causal, "context_mask": np.tril(np.ones((3, 4), dtype=bool))}
    case = _case(rng, "as many sequences as tokens, masks for all", (3, 3, 4), 4, 2, 3, masks)
    case.arguments[1].array[:, 0] = 0
    yield case
    masks = {"context_mask": np.array([True, True, False])}
    yield _case(
        rng, "as many tokens in both sequences, a mask of one axis", (2, 3, 4), 3, 2, 3, masks
    )


@decoder_block.hidden
def _(rng):
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
    masks = {"mask": rng.permutation(n) < n - 1, "context_mask": rng.permutation(n_k) < n_k - 1}
    yield _case(rng, "masks of one axis", *sizes, masks)
    masks = {
        "mask": causal & ~np.eye(n, dtype=bool),
        "context_mask": np.arange(n_k) < rng.permutation([0, n_k])[:, None, None],
    }
    yield _case(rng, "tokens that may attend to nothing", *sizes, masks, norm="pre")
    parts = (n_heads * d_head, n_heads, d_ff)
    yield from _nothing(rng, *parts)
    yield _case(rng, "large tokens", *sizes, size=40.0)
    sizes = (2, 3, n_heads * d_head), n_k, n_heads, d_ff
    yield lonely(_case(rng, LONELY, *sizes, {"mask": ONE_EACH}), "self_attention")
    yield _refused("neither pre nor post", parts, str(rng.choice(["both", "middle", "layer"])))


def _nothing(rng: np.random.Generator, d_model: int, n_heads: int, d_ff: int) -> Iterator[Case]:
    """No tokens in the target, in the source, or in both, with masks and without."""
    for norm, note in (("post", "no tokens in the"), ("pre", "masks, and no tokens in the")):
        for n, n_k, where in ((0, 3, "target"), (3, 0, "source")):
            masks = {
                "mask": np.tril(np.ones((n, n), dtype=bool)),
                "context_mask": np.ones((1, 1, n_k), dtype=bool),
            }
            given = masks if norm == "pre" else None
            shape = (2, n, d_model)
            case = _case(rng, f"{note} {where}", shape, n_k, n_heads, d_ff, given, norm=norm)
            yield case.holds("n and n_k may be 0")


def _refused(note: str, sizes: tuple[int, ...], norm: str) -> Case:
    """A block that must not be made."""
    X = Tensor(np.zeros((1, 2, sizes[0])))
    return Case(note, (X, X), {}, Setup(sizes, {"norm": norm}, {}), Raises("ValueError"))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_k: int,
    n_heads: int,
    d_ff: int,
    masks: dict[str, np.ndarray] | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
    **keywords: Any,
) -> Case:
    """A case with target tokens of `shape`, and a context of `n_k` tokens that are no norm's."""
    sizes = (shape[-1], n_heads, d_ff)
    setup = draw_setup(rng, solutions.DecoderBlock, *sizes, dtype=dtype, **keywords)
    X = size * rng.normal(size=shape)
    context = 1 + 2 * rng.normal(size=(shape[0], n_k, shape[-1]))
    arguments = (Tensor(X.astype(dtype)), Tensor(context.astype(dtype)))
    return Case(note, arguments, {name: Tensor(one) for name, one in (masks or {}).items()}, setup)
