"""Self-attention with nothing learned: tokens that look at each other through the dot product.

`Y = softmax(X X^T) X` is the subject of the chapter "Attention among equals". With three learned
projections and a scale it becomes the layer of Vaswani et al. (2017), "Attention is all you need".
"""

from collections.abc import Callable

import numpy as np

from .alignment import masked_softmax, softmax


def dot_product_scores(X: np.ndarray) -> np.ndarray:
    """Score every token of a sequence against every token of the same sequence.

    X: tokens, one a row, (..., n, d), n and d at least 1. Returns scores of shape (..., n, n):
    scores[..., i, j] is the dot product of token i and token j of the same sequence.
    """
    return X @ np.swapaxes(X, -1, -2)  # (..., n, d) @ (..., d, n)


def self_attention(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give every token the weighted average of all tokens, its own similarities being the weights.

    X: (..., n, d), n at least 1. Returns (Y, weights): outputs Y of the shape of X, and weights of
    shape (..., n, n). Row i of the weights tells how token i shares out its attention; it sums to
    1. The scores are the dot products as they are, not scaled; they may be large.
    """
    scores = dot_product_scores(X)  # (..., n, n)
    weights = softmax(scores, axis=-1)  # every row sums to 1
    return weights @ X, weights  # (..., n, n) @ (..., n, d)


def window_mask(n: int, radius: int) -> np.ndarray:
    """Return the boolean (n, n) mask that is True where |i - j| <= radius."""
    positions = np.arange(n)
    return np.abs(positions[:, None] - positions[None, :]) <= radius


def windowed_self_attention(X: np.ndarray, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Self-attention in which token i attends only to the tokens j with |i - j| <= radius.

    X: (..., n, d), n at least 1. radius: a whole number, 0 or more; the window is cut off at the
    ends of the sequence. Returns (Y, weights): Y of the shape of X, and weights of shape
    (..., n, n). Weights outside the window are exactly 0, and every row sums to 1. Scores may be
    large, and largest outside the window.
    """
    scores = dot_product_scores(X)  # (..., n, n)
    weights = masked_softmax(scores, window_mask(X.shape[-2], radius))  # True: may attend
    return weights @ X, weights


def permute_equivariantly(
    attend: Callable[[np.ndarray], np.ndarray], X: np.ndarray, permutation: np.ndarray
) -> bool:
    """Tell whether `attend` commutes with this permutation of the tokens of `X`.

    attend: takes tokens of the shape of X and returns outputs of that shape, one a token.
    X: (..., n, d), float32 or float64. permutation: (n,) whole numbers; the permuted sequence has
    token permutation[i] of the old one in place i. Returns a bool: for a batch, whether it is so in
    every sequence. Outputs that differ by rounding alone count as equal, and no others do; their
    largest number may lie anywhere from 0.001 to 1e6, and they may all be 0.
    """
    attend_then_permute = attend(X)[..., permutation, :]
    permute_then_attend = attend(X[..., permutation, :])
    difference = np.max(np.abs(permute_then_attend - attend_then_permute))
    largest = np.max(np.abs(attend_then_permute))
    return bool(difference <= np.sqrt(np.finfo(X.dtype).eps) * largest)
