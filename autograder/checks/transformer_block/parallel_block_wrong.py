"""The mistakes of `ParallelBlock`, and the questions that they raise."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ...judging.exercise import Misconception


class ParallelBlock__one_after_the_other(nn.Module):
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
        X = X + self.attend(self.norm(X), mask)
        return X + self.transform(self.norm(X))


class ParallelBlock__fed_by_attention(nn.Module):
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
        Y = self.attend(self.norm(X), mask)
        return X + Y + self.transform(Y)


class ParallelBlock__transform_reads_X(nn.Module):
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
        return X + self.attend(self.norm(X), mask) + self.transform(X)


class ParallelBlock__attention_reads_X(nn.Module):
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
        return X + self.attend(X, mask) + self.transform(self.norm(X))


class ParallelBlock__norm_after(nn.Module):
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
        return self.norm(X + self.attend(X, mask) + self.transform(X))


class ParallelBlock__norm_on_the_path(nn.Module):
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
        return Y + self.attend(Y, mask) + self.transform(Y)


class ParallelBlock__no_residual(nn.Module):
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
        return self.attend(Y, mask) + self.transform(Y)


class ParallelBlock__residual_twice(nn.Module):
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
        return (X + self.attend(Y, mask)) + (X + self.transform(Y))


class ParallelBlock__averaged(nn.Module):
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
        return X + (self.attend(Y, mask) + self.transform(Y)) / 2


class ParallelBlock__mask_not_passed_on(nn.Module):
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
        return X + self.attend(Y, None) + self.transform(Y)


class ParallelBlock__in_place(nn.Module):
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
        X += self.attend(Y, mask) + self.transform(Y)
        return X


MISCONCEPTIONS = (
    Misconception(
        "one after the other",
        ParallelBlock__one_after_the_other,
        "What does the feed-forward part read: what attention left, or what attention read?",
    ),
    Misconception(
        "the feed-forward part reads what attention found",
        ParallelBlock__fed_by_attention,
        "Change a token that the mask hides from all others. Does what the feed-forward part "
        "adds to them change?",
    ),
    Misconception(
        "the feed-forward part reads X as it is",
        ParallelBlock__transform_reads_X,
        "Multiply `X` by 10. Should what the feed-forward part adds become larger?",
    ),
    Misconception(
        "attention reads X as it is",
        ParallelBlock__attention_reads_X,
        "Multiply `X` by 10. Should what attention adds become larger?",
    ),
    Misconception(
        "the norm after the sum",
        ParallelBlock__norm_after,
        "With all weights of the two sublayers 0, should `X` come out, or `X` normalised?",
    ),
    Misconception(
        "the norm on the residual path",
        ParallelBlock__norm_on_the_path,
        "To what are the two added: to `X`, or to what they read?",
    ),
    Misconception(
        "no residual",
        ParallelBlock__no_residual,
        "With all weights of the two sublayers 0, what is left of `X`?",
    ),
    Misconception(
        "the residual added twice",
        ParallelBlock__residual_twice,
        "With all weights of the two sublayers 0, what comes out of your block: `X`?",
    ),
    Misconception(
        "the mean of the two",
        ParallelBlock__averaged,
        "Set all weights of the feed-forward part to 0. Is all of what attention found added,"
        " or half of it?",
    ),
    Misconception(
        "mask not passed on",
        ParallelBlock__mask_not_passed_on,
        "Change a token that the mask hides. Which outputs should change, and which do?",
    ),
    Misconception(
        "the residual added in place",
        ParallelBlock__in_place,
        "Who else holds the tensor that `+=` changes?",
    ),
)
