"""The weights of chapter 8's attention layer, which the layer itself does not return."""

from __future__ import annotations

import math

import torch

from ...transformer_block import MultiHeadAttention, mask_for_heads, split_heads


def attention_weights(
    attention: MultiHeadAttention,
    X: torch.Tensor,
    context: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the weights (..., n_heads, n_q, n_k) of the call `attention(X, context, mask)`.

    A row sums to 1, or is 0 if all keys are hidden.
    """
    context = X if context is None else context
    mask = mask_for_heads(mask, X, context)
    Q = split_heads(attention.W_q(X), attention.n_heads)
    K = split_heads(attention.W_k(context), attention.n_heads)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(~mask, 0)  # a fully masked row is NaN before
