"""Softmax, plain and masked: the one function that turns scores into weights."""

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights that are positive and sum to 1 along `axis`.

    x: scores of any shape, of any size: a score of 1000 is as good as one of 1.
    Returns an array of the same shape and floating dtype; an empty array stays empty.
    """
    largest = np.max(x, axis=axis, keepdims=True) if x.size else 0
    shifted = x - largest  # at most 0: no exp overflows
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def masked_softmax(
    scores: np.ndarray, mask: np.ndarray | None = None, axis: int = -1
) -> np.ndarray:
    """Softmax over the places where `mask` is True; the weight elsewhere is exactly 0.

    scores: (..., n_q, n_k). mask: boolean, broadcastable to `scores`, True where attention may go.
    Returns weights of the shape of `scores`. Where nothing may be attended to, all weights are 0,
    never NaN.
    """
    if mask is None:
        return softmax(scores, axis=axis)
    mask = np.broadcast_to(mask, scores.shape)
    masked = np.where(mask, scores, -np.inf)
    largest = np.max(masked, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)  # a row with nothing to attend to
    exponentials = np.where(mask, np.exp(masked - largest), 0)
    total = np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / np.where(total > 0, total, 1)
