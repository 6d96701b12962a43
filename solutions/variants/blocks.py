"""Two variants of chapter 8's parts, for exercises; the chapter's page does not show them."""

import torch
import torch.nn.functional as F
from torch import nn

from ..transformer_block import FeedForward, LayerNorm, MultiHeadAttention


class ParallelBlock(nn.Module):
    """A block whose two sublayers read the same, and are both added to what was there.

    Both read `norm(X)`, with one norm for the two. Its parts are called `attention`,
    `feed_forward` (with ReLU) and `norm`. Source: Chowdhery et al. (2022), section 2.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        """d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads."""
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm = LayerNorm(d_model)

    def forward(self, X: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """X: (batch, n, d_model), n may be 0. mask: as in `EncoderBlock`. Returns X's shape."""
        Y = self.norm(X)
        return X + self.attention(Y, mask=mask) + self.feed_forward(Y)


def feed_forward_sublayer(
    X: torch.Tensor,
    W_1: torch.Tensor,
    b_1: torch.Tensor,
    W_2: torch.Tensor,
    b_2: torch.Tensor,
    p_hidden: float,
    p_output: float,
    training: bool,
) -> torch.Tensor:
    """Normalise, widen, bend, narrow, and add to `X`, with dropout in two places.

    X: (..., n, d_model), n may be 0. W_1: (d_model, d_ff). b_1: (d_ff,). W_2: (d_ff, d_model).
    b_2: (d_model,). p_hidden and p_output, from 0 to 1, are the probabilities with which a number
    is dropped: after the ReLU, and of what is added to `X`. In training both dropouts work, and
    with a probability of 1 nothing is kept. Otherwise nothing is dropped, and nothing is scaled.
    The norm, without scale and shift, comes first; `X` itself is never dropped. Returns the shape
    of `X`. Source: Vaswani et al. (2017), section 5.4.
    """
    normed = F.layer_norm(X, X.shape[-1:])
    hidden = F.dropout(F.relu(normed @ W_1 + b_1), p_hidden, training)  # (..., n, d_ff)
    return X + F.dropout(hidden @ W_2 + b_2, p_output, training)
