"""The mistakes of `DecoderBlock`, and the questions that they raise."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ...judging.exercise import Misconception


class DecoderBlock__mask_not_passed_on(nn.Module):
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
            return self.attend(self.self_attention, X, X, None)

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


class DecoderBlock__context_mask_not_passed_on(nn.Module):
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
            return self.attend(self.cross_attention, X, context, None)

        def transform(X):
            return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

        if self.pre:
            X = X + look(self.norm_1(X))
            X = X + ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__no_context(nn.Module):
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
            return self.attend(self.cross_attention, X, X, mask)

        def transform(X):
            return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

        if self.pre:
            X = X + look(self.norm_1(X))
            X = X + ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__one_attention_for_both(nn.Module):
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
            return self.attend(self.self_attention, X, context, context_mask)

        def transform(X):
            return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

        if self.pre:
            X = X + look(self.norm_1(X))
            X = X + ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__context_first(nn.Module):
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
            X = X + ask(self.norm_1(X))
            X = X + look(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + ask(X))
        X = self.norm_2(X + look(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__no_residual_around_the_context(nn.Module):
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
            X = ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(ask(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__norm_on_the_residual_path(nn.Module):
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
            X = self.norm_1(X)
            X = X + look(X)
            X = self.norm_2(X)
            X = X + ask(X)
            X = self.norm_3(X)
            return X + transform(X)
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


class DecoderBlock__context_detached(nn.Module):
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
            return self.attend(self.cross_attention, X, context.detach(), context_mask)

        def transform(X):
            return self.feed_forward["W_2"](F.relu(self.feed_forward["W_1"](X)))

        if self.pre:
            X = X + look(self.norm_1(X))
            X = X + ask(self.norm_2(X))
            return X + transform(self.norm_3(X))
        X = self.norm_1(X + look(X))
        X = self.norm_2(X + ask(X))
        return self.norm_3(X + transform(X))


MISCONCEPTIONS = (
    Misconception(
        "mask not passed on",
        DecoderBlock__mask_not_passed_on,
        "With a causal mask, change the last token of the target. Which outputs should change, and "
        "which do?",
    ),
    Misconception(
        "context mask not passed on",
        DecoderBlock__context_mask_not_passed_on,
        "Change a token of the source that is padding. Which outputs should change, and which do?",
    ),
    Misconception(
        "the context not asked",
        DecoderBlock__no_context,
        "Change a token of `context`. Does your output change?",
    ),
    Misconception(
        "one attention for both",
        DecoderBlock__one_attention_for_both,
        "Which gradient do the weights of `cross_attention` get?",
    ),
    Misconception(
        "the context asked first",
        DecoderBlock__context_first,
        "Who should read the target first: its own tokens, or the source's?",
    ),
    Misconception(
        "no residual around the context",
        DecoderBlock__no_residual_around_the_context,
        "With all weights of all three sublayers 0, what is left of `X` in your block?",
    ),
    Misconception(
        "the norm on the residual path",
        DecoderBlock__norm_on_the_residual_path,
        'With norm="pre", follow `X` from the input to the output along the sums alone: does it '
        "pass through a norm?",
    ),
    Misconception(
        "the context cut off from the gradient",
        DecoderBlock__context_detached,
        "The output is right. How does the encoder learn what to hand over?",
    ),
)
