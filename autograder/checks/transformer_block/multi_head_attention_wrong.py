"""The mistakes of `MultiHeadAttention`, and the questions that they raise."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from ...judging.exercise import Misconception


class MultiHeadAttention__merged_without_transpose(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.reshape(X.shape))


class MultiHeadAttention__split_without_transpose(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.reshape(*Y.shape[:-2], self.n_heads, -1, self.d_head) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__one_projection_for_all_heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = (
            Y[..., None, :, : self.d_head].expand(*Y.shape[:-2], self.n_heads, -1, -1)
            for Y in (self.W_q(X), self.W_k(context), self.W_v(context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__values_from_the_keys(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_k(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__no_output_projection(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return Y.transpose(-3, -2).flatten(-2)


class MultiHeadAttention__no_scale(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT
        scores = scores.masked_fill(~mask, -1e30)
        Y = (scores.softmax(dim=-1) * mask) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__scaled_by_d_model(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / X.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask, -1e30)
        Y = (scores.softmax(dim=-1) * mask) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__over_queries(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / self.d_head**0.5
        scores = scores.masked_fill(~mask, -1e30)
        Y = (scores.softmax(dim=-2) * mask) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__context_ignored(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X
        if mask is not None and mask.shape[-1] not in (1, X.shape[-2]):
            mask = None
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__mask_ignored(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__mask_inverted(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        mask = None if mask is None else ~torch.atleast_2d(mask).unsqueeze(-3)
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__masks_against_head_order(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        scores_of_a_head = (*X.shape[:-1], context.shape[-2])
        mask = mask.expand(scores_of_a_head).reshape(-1, *scores_of_a_head[-2:])
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Q_2, K, V = (Y.flatten(0, -3) for Y in (Q, K, V))  # (batch * n_heads, n, d_head)
        Y = F.scaled_dot_product_attention(Q_2, K, V, mask.repeat(self.n_heads, 1, 1))
        return self.W_o(Y.reshape(Q.shape).transpose(-3, -2).flatten(-2))


class MultiHeadAttention__mask_after_softmax(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / self.d_head**0.5
        Y = (scores.softmax(dim=-1) * mask) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__minus_a_billion(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / self.d_head**0.5
        Y = scores.masked_fill(~mask, -1e9).softmax(dim=-1) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__minus_infinity(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / self.d_head**0.5
        Y = scores.masked_fill(~mask, -math.inf).softmax(dim=-1) @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


class MultiHeadAttention__weights_detached(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        scores = Q @ K.mT / self.d_head**0.5
        scores = scores.masked_fill(~mask, -1e30)
        Y = (scores.softmax(dim=-1) * mask).detach() @ V
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


MISCONCEPTIONS = (
    Misconception(
        "heads merged without the transpose",
        MultiHeadAttention__merged_without_transpose,
        "Write down, for two tokens and two heads, which numbers stand in row 0 before `W_o`. "
        "Whose findings should they be?",
    ),
    Misconception(
        "heads split without the transpose",
        MultiHeadAttention__split_without_transpose,
        "Which features of which tokens does your first head see? It should see a part of every "
        "token.",
    ),
    Misconception(
        "heads that share one projection",
        MultiHeadAttention__one_projection_for_all_heads,
        "Are the queries of your second head other numbers than those of the first? Which rows of "
        "`W_q.weight` are never used?",
    ),
    Misconception(
        "values made with the key projection",
        MultiHeadAttention__values_from_the_keys,
        "Which gradient does `W_v` get?",
    ),
    Misconception(
        "heads not mixed",
        MultiHeadAttention__no_output_projection,
        "What are the four projections for? Which one has nothing to do in your module?",
    ),
    Misconception(
        "scale forgotten",
        MultiHeadAttention__no_scale,
        "How large do the scores grow with the width of a head, if nothing is divided?",
    ),
    Misconception(
        "scaled by the width of the model",
        MultiHeadAttention__scaled_by_d_model,
        "Over how many features does one score of one head sum?",
    ),
    Misconception(
        "softmax over the queries",
        MultiHeadAttention__over_queries,
        "Which sums are 1 in your weights: those of the rows or those of the columns?",
    ),
    Misconception(
        "context ignored",
        MultiHeadAttention__context_ignored,
        "Who answers when a `context` is given? Where do your keys and values come from?",
    ),
    Misconception(
        "mask ignored",
        MultiHeadAttention__mask_ignored,
        "What does your module do with the argument `mask`?",
    ),
    Misconception(
        "mask inverted",
        MultiHeadAttention__mask_inverted,
        "Does `True` say that a token may attend, or that it may not? Several functions of torch "
        "differ in this.",
    ),
    Misconception(
        "masks of a batch against the order of the heads",
        MultiHeadAttention__masks_against_head_order,
        "Two sequences and three heads, laid out as six tables: to which sequence does the second "
        "table belong, and to which the second mask after your `repeat`?",
    ),
    Misconception(
        "mask applied after the softmax",
        MultiHeadAttention__mask_after_softmax,
        "Do the weights of a masked row still sum to 1?",
    ),
    Misconception(
        "a fully masked row attends to everything",
        MultiHeadAttention__minus_a_billion,
        "What does softmax make of a row of equal scores, however negative?",
    ),
    Misconception(
        "a fully masked row is NaN",
        MultiHeadAttention__minus_infinity,
        "What is the sum of a row that is all exp(-infinity), and what do you divide by?",
    ),
    Misconception(
        "weights cut off from the gradient",
        MultiHeadAttention__weights_detached,
        "The output is right. How do `W_q` and `W_k` learn where to look?",
    ),
)
