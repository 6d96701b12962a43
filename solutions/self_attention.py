"""Self-attention without parameters: tokens look at each other through the dot product.

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


def self_attention_backward(X: np.ndarray, d_Y: np.ndarray) -> np.ndarray:
    """Differentiate self-attention: what a loss that reads its outputs says to the tokens.

    The outputs are Y = softmax(X X^T) X, with the softmax along each row and no scale. X:
    (..., n, d), n at least 1. Scores may be large, and so may tokens: thousands, say. d_Y: the
    gradient of the loss with respect to Y, of the shape of X. The loss does not read the weights.
    Returns d_X, the gradient with respect to X, in its shape.
    """
    _, weights = self_attention(X)  # (..., n, n)
    d_weights = d_Y @ np.swapaxes(X, -1, -2)  # (..., n, n)
    mean = np.sum(weights * d_weights, axis=-1, keepdims=True)  # mean of d_weights under weights
    d_scores = weights * (d_weights - mean)
    as_value = np.swapaxes(weights, -1, -2) @ d_Y
    as_query, as_key = d_scores @ X, np.swapaxes(d_scores, -1, -2) @ X
    return as_value + as_query + as_key


def banded_self_attention(X: np.ndarray, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Self-attention in a window, without a table of n by n: each token fetches its neighbours.

    X: (..., n, d), n at least 1. radius: a whole number, 0 or more. Returns (Y, weights). Y, of the
    shape of X, is what self-attention gives in which token i attends only to the tokens j with
    |i - j| <= radius. The weights have shape (..., n, 2 radius + 1): weights[..., i, k] is what
    token i gives to token i - radius + k, and exactly 0 where the sequence has no such token. Every
    row sums to 1. Scores may be large.
    """
    n = X.shape[-2]
    places = np.arange(n)[:, None] + np.arange(-radius, radius + 1)  # (n, 2 radius + 1)
    inside = (places >= 0) & (places < n)
    neighbours = X[..., np.where(inside, places, 0), :]  # (..., n, 2 radius + 1, d)
    scores = np.sum(neighbours * X[..., None, :], axis=-1)  # (..., n, 2 radius + 1)
    weights = masked_softmax(scores, inside)
    return np.sum(weights[..., None] * neighbours, axis=-2), weights


def layers_to_reach(
    layer: Callable[[np.ndarray], np.ndarray], X: np.ndarray, source: int, target: int
) -> int:
    """Count the layers that it takes, one on top of another, until a token can influence an output.

    layer: takes tokens of the shape of X and returns outputs of that shape, one a token. What it
    does inside is not known; whom a token sees may depend on that token. An output that depends on
    a token changes by more than a thousandth of the largest number in X when the token is replaced
    by a random one of that size; other outputs change by rounding, if at all. X: (n, d), float64, n
    at least 2. source, target: two different places, from 0 to n - 1. The stack applies the same
    layer again and again. Returns the smallest number of layers after which the output at `target`
    depends on the token at `source`: 1 if a single layer is enough, and 0 if no number of layers
    is.
    """
    n, size = len(X), np.max(np.abs(X))
    new = np.random.default_rng(0).uniform(-size, size, X.shape)
    sees = np.zeros((n, n), dtype=bool)  # [i, j]: in one layer, output i depends on token j
    for j in range(n):
        changed = np.where(np.arange(n)[:, None] == j, new, X)
        sees[:, j] = np.max(np.abs(layer(changed) - layer(X)), axis=-1) > 1e-6 * size
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached  # (n,)
        if reached[target]:
            return layers
    return 0
