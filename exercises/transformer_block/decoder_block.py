"""The exercise `DecoderBlock`: a third sublayer that asks another sequence."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Declaration
from solutions import transformer_block as solutions

from .. import forbidden
from . import decoder_block_cases

decoder_block = Declaration(
    solutions.DecoderBlock,
    points=4,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.DECODER_LAYER,
    help=(
        "Three sublayers: the target attends to itself, then to the context, then each token is "
        "transformed. Each has a residual and a norm, as in the encoder block.",
        "Which mask belongs to which attention? Its last axis tells. Where do the queries come "
        "from in the second sublayer, and where the keys and values?",
        "Chapter 8, the section on the decoder block.",
    ),
)


@decoder_block.right
class ThreeFunctions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
        if not (norm == "pre" or norm == "post"):
            raise ValueError(f"norm must be 'pre' or 'post', not {norm}")
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
            torch.stack(maps[name](Y).chunk(self.n_heads, dim=-1), dim=1)
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


class Plain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm="post"):
        super().__init__()
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
        def look(X):
            return self.attend(self.self_attention, X, X, mask)

        def ask(X):
            return self.attend(self.cross_attention, X, context, context_mask)

        def transform(X):
            return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

        if self.pre:
            X = X + look(self.norm_1(X))
            X = X + ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


plain = decoder_block.base(("neither after nor before",), Plain)


decoder_block.wrong(
    "mask not passed on",
    "With a causal mask, change the last token of the target. Which outputs should change, and "
    "which do?",
    plain.edit(
        "self.attend(self.self_attention, X, X, mask)",
        "self.attend(self.self_attention, X, X, None)",
    ),
)
decoder_block.wrong(
    "context mask not passed on",
    "Change a token of the source that is padding. Which outputs should change, and which do?",
    plain.edit(
        "self.attend(self.cross_attention, X, context, context_mask)",
        "self.attend(self.cross_attention, X, context, None)",
    ),
)
decoder_block.wrong(
    "the context not asked",
    "Change a token of `context`. Does your output change?",
    plain.edit(
        "self.attend(self.cross_attention, X, context, context_mask)",
        "self.attend(self.cross_attention, X, X, mask)",
    ),
)
decoder_block.wrong(
    "one attention for both",
    "Which gradient do the weights of `cross_attention` get?",
    plain.edit("self.cross_attention", "self.self_attention"),
)
decoder_block.wrong(
    "the context asked first",
    "Who should read the target first: its own tokens, or the source's?",
    plain.edit("look(self.norm_1(X))", "ask(self.norm_1(X))")
    .edit("ask(self.norm_2(X))", "look(self.norm_2(X))")
    .edit("X + look(X)", "X + ask(X)")
    .edit("self.norm_2(X + ask(X))", "self.norm_2(X + look(X))"),
)
decoder_block.wrong(
    "no residual around the context",
    "With all weights of all three sublayers 0, what is left of `X` in your block?",
    plain.edit("X + ask(self.norm_2(X))", "ask(self.norm_2(X))").edit("X + ask(X)", "ask(X)"),
)
decoder_block.wrong(
    "the norm on the residual path",
    'With norm="pre", follow `X` from the input to the output along the sums alone: does it pass '
    "through a norm?",
    plain.edit(
        "X = X + look(self.norm_1(X))\n"
        "X = X + ask(self.norm_2(X))\n"
        "return X + transform(self.norm_3(X))",
        "X = self.norm_1(X)\n"
        "X = X + look(X)\n"
        "X = self.norm_2(X)\n"
        "X = X + ask(X)\n"
        "X = self.norm_3(X)\n"
        "return X + transform(X)",
    ),
)
decoder_block.wrong(
    "the context cut off from the gradient",
    "The output is right. How does the encoder learn what to hand over?",
    plain.edit(
        "self.attend(self.cross_attention, X, context, context_mask)",
        "self.attend(self.cross_attention, X, context.detach(), context_mask)",
    ),
)
decoder_block.public(decoder_block_cases.public)
decoder_block.hidden(decoder_block_cases.hidden)
