"""The mistakes of `EncoderBlock`, and the questions that they raise."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ...judging.exercise import Misconception


class EncoderBlock__no_residual(nn.Module):
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
        if self.pre:
            X = self.attend(self.norm_1(X), mask)
            return self.transform(self.norm_2(X))
        X = self.norm_1(self.attend(X, mask))
        return self.norm_2(self.transform(X))


class EncoderBlock__norm_on_the_residual_path(nn.Module):
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
        if self.pre:
            X = self.norm_1(X)
            X = X + self.attend(X, mask)
            X = self.norm_2(X)
            return X + self.transform(X)
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + self.transform(X))


class EncoderBlock__norm_before_the_sum(nn.Module):
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
        if self.pre:
            X = X + self.attend(self.norm_1(X), mask)
            return X + self.transform(self.norm_2(X))
        X = X + self.norm_1(self.attend(X, mask))
        return X + self.norm_2(self.transform(X))


class EncoderBlock__always_post(nn.Module):
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
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + self.transform(X))


class EncoderBlock__pre_and_post_exchanged(nn.Module):
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
        if not self.pre:
            X = X + self.attend(self.norm_1(X), mask)
            return X + self.transform(self.norm_2(X))
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + self.transform(X))


class EncoderBlock__one_norm_for_both(nn.Module):
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
        if self.pre:
            X = X + self.attend(self.norm_1(X), mask)
            return X + self.transform(self.norm_1(X))
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_1(X + self.transform(X))


class EncoderBlock__mask_not_passed_on(nn.Module):
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
        mask = None
        if self.pre:
            X = X + self.attend(self.norm_1(X), mask)
            return X + self.transform(self.norm_2(X))
        X = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(X + self.transform(X))


class EncoderBlock__sublayers_side_by_side(nn.Module):
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
        if self.pre:
            return X + self.attend(self.norm_1(X), mask) + self.transform(self.norm_2(X))
        Y = self.norm_1(X + self.attend(X, mask))
        return self.norm_2(Y + self.transform(X))


class EncoderBlock__in_place(nn.Module):
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
        if self.pre:
            X += self.attend(self.norm_1(X), mask)
            X += self.transform(self.norm_2(X))
            return X
        X += self.attend(X, mask)
        X = self.norm_1(X)
        return self.norm_2(X + self.transform(X))


MISCONCEPTIONS = (
    Misconception(
        "no residual",
        EncoderBlock__no_residual,
        "With all weights of attention and feed-forward 0, what is left of `X` in your block?",
    ),
    Misconception(
        "the norm on the residual path",
        EncoderBlock__norm_on_the_residual_path,
        'With norm="pre", follow `X` from the input to the output along the sums alone: does it '
        "pass through a norm?",
    ),
    Misconception(
        "the norm before the sum",
        EncoderBlock__norm_before_the_sum,
        'With norm="post", is it the sum that is normalised, or only what the sublayer adds?',
    ),
    Misconception(
        "always post",
        EncoderBlock__always_post,
        "What does your module do with the argument `norm`?",
    ),
    Misconception(
        "pre and post exchanged",
        EncoderBlock__pre_and_post_exchanged,
        "Which of the two is the design of 2017, and is its last step a norm or a sum?",
    ),
    Misconception(
        "one norm for both sublayers",
        EncoderBlock__one_norm_for_both,
        "Which gradient do the weights of `norm_2` get?",
    ),
    Misconception(
        "mask not passed on",
        EncoderBlock__mask_not_passed_on,
        "Change a token that the mask hides. Which outputs should change, and which do?",
    ),
    Misconception(
        "the sublayers side by side",
        EncoderBlock__sublayers_side_by_side,
        "What does the feed-forward part read: the block's input, or what attention left?",
    ),
    Misconception(
        "the residual added in place",
        EncoderBlock__in_place,
        "Who else holds the tensor that `+=` changes?",
    ),
)
