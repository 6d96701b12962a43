"""Variants of chapter 8's parts, and a measurement, for exercises; its page does not show them."""

import numpy as np
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


def layer_norm_backward(X: np.ndarray, weight: np.ndarray, d_output: np.ndarray) -> np.ndarray:
    """Pass a gradient back through a layer normalisation.

    X: (..., n, d), its input. weight: (d,), the scale. d_output: the gradient of a loss with
    respect to the output, of the shape of `X`. The norm adds 1e-5 to the variance. Returns the
    gradient with respect to `X`, of the same shape. The mean and the variance of a token depend on
    all of its features. A mean far from 0 changes nothing, and no token depends on another.
    """
    centred = X - X.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)  # (..., n, 1)
    normed, scaled = centred / spread, d_output * weight
    along = (scaled * normed).mean(axis=-1, keepdims=True)
    gradient: np.ndarray = (scaled - scaled.mean(axis=-1, keepdims=True) - normed * along) / spread
    return gradient


def fold_norm(
    scale: np.ndarray, shift: np.ndarray, W: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fold the scale and the shift of a norm into the linear map that reads it.

    scale and shift: (d_in,), those of a layer normalisation, which makes `scale * x + shift` of a
    normalised token x. W: (d_out, d_in), as `nn.Linear` stores it, and b: (d_out,); the map makes
    W y + b of a token y. Returns (weight, bias), of the shapes of `W` and `b`: a map with them
    makes of x what the old map makes of the scaled and shifted token.
    """
    return W * scale, W @ shift + b


def centre_writers(
    embedding: np.ndarray, W: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Change what is written to the residual stream so that RMSNorm can replace layer norm.

    Source: Ashkboos et al. (2024), section 3.2.

    With the norm before each sublayer, a token of the stream is a sum: a row of `embedding`,
    (V, d), and W x + b for the output x of a sublayer. W: (d, d_in), as `nn.Linear` stores it, and
    b: (d,). Returns (embedding, W, b), of the same shapes: with them every token of the stream, for
    whatever x, is the old token minus the mean of its d features. A row that is written with mean 0
    stays as it is.
    """
    centred = embedding - embedding.mean(axis=1, keepdims=True)
    return centred, W - W.mean(axis=0), b - b.mean()


def stacks_that_may_train(
    X: np.ndarray, A: np.ndarray, stacks: np.ndarray, residual: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure stacks of small blocks before training, and say which of them may train.

    X: (n, d), the tokens, n at least 2. A: (n, n), the weights of an attention, the same in every
    block; its rows sum to 1. stacks: (S, L, d, d), the matrices of S stacks of L blocks, L at least
    1. residual: (S,), booleans. A block with the matrix W makes tanh(A X W) of the stream X, and in
    a stack with a residual it adds X to that. target: (n, d); the loss is the sum of the squares of
    the stream after the last block less `target`, and not 0. Returns (ratios, differences, trains),
    each (S,). ratios: the norm of the gradient of the loss with respect to the stream before the
    first block, divided by that with respect to the stream after the last block. differences: the
    norm of the last stream's tokens less their mean, divided by the norm of the last stream. A norm
    is the root of the sum of all squares. trains: True where the ratio is at least 0.1 and at most
    10, and the difference at least 0.1.
    """
    measured = [_measured(X, A, stacks[s], residual[s], target) for s in range(len(stacks))]
    ratios, differences = np.array(measured).T
    return ratios, differences, (abs(np.log10(ratios)) <= 1) & (differences >= 0.1)


def _measured(
    X: np.ndarray, A: np.ndarray, matrices: np.ndarray, residual: bool, target: np.ndarray
) -> tuple[float, float]:
    """Return the ratio and the difference of one stack."""
    states = [torch.from_numpy(X).requires_grad_()]
    for W in torch.from_numpy(matrices):
        Y = torch.tanh(torch.from_numpy(A) @ states[-1] @ W)
        states.append(states[-1] + Y if residual else Y)
    loss = (states[-1] - torch.from_numpy(target)).square().sum()
    first, last = torch.autograd.grad(loss, (states[0], states[-1]))
    end = states[-1].detach()
    difference = (end - end.mean(dim=0)).norm() / end.norm()
    return (first.norm() / last.norm()).item(), difference.item()
