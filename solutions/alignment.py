"""Attention between a decoder and the states of an encoder, and how to measure where it looks.

Additive scores and the decoder's step are those of Bahdanau, Cho and Bengio (2015), "Neural machine
translation by jointly learning to align and translate". The error rate is that of Och and Ney
(2003), "A systematic comparison of various statistical alignment models".
"""

import numpy as np


def additive_scores(
    s: np.ndarray, H: np.ndarray, W_s: np.ndarray, W_h: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Score each encoder state against the decoder's state by a small network.

    s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, one a row,
    with the same leading axes. W_s: (d_s, d_a). W_h: (d_h, d_a). v: (d_a,). The network has one
    hidden layer of d_a tanh units, which reads both states, and one linear output; neither has a
    bias. States may be large. Returns the scores (..., T), before any softmax (Bahdanau et al.
    2015, appendix A.1.2).
    """
    from_decoder = s @ W_s  # (..., d_a)
    from_encoder = H @ W_h  # (..., T, d_a)
    hidden = np.tanh(from_decoder[..., None, :] + from_encoder)  # (..., T, d_a)
    return hidden @ v  # (..., T)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights that are not negative and sum to 1 along `axis`.

    x: scores of any size, in an array with one or more axes: a score of 1000 or of -1000 is as good
    as one of 1. axis: any axis of x, counted from the front or from the end; there is at least one
    score along it. Returns floating-point weights of the shape of x.
    """
    largest = np.max(x, axis=axis, keepdims=True) if x.size else 0
    shifted = x - largest  # at most 0: no exp overflows
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def masked_softmax(
    scores: np.ndarray, mask: np.ndarray | None = None, axis: int = -1
) -> np.ndarray:
    """Softmax over the places where `mask` is True; the weight elsewhere is exactly 0.

    scores: (..., n_q, n_k), or of any other shape, and as large as they like. mask: boolean,
    broadcastable to `scores`, True where attention may go; None hides nothing. axis: any axis of
    `scores`, counted from the start or, below 0, from the end. Returns weights of the shape of
    `scores`, which sum to 1 along `axis`. Where nothing may be attended to, all weights are 0,
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


def context_vector(weights: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Blend the encoder's states by the weights, which are used as they are.

    weights: (..., T); they need not sum to 1. H: (..., T, d_h), with the same leading axes. Returns
    an array of shape (..., d_h). Where all weights are 0, the context is 0 (Bahdanau et al. 2015,
    equation 5).
    """
    return np.sum(weights[..., None] * H, axis=-2)  # (..., T, 1) * (..., T, d_h), summed over T


def attention_decoder_step(
    y_embedding: np.ndarray,
    s: np.ndarray,
    H: np.ndarray,
    mask: np.ndarray,
    params: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Look back at the source, then take one step of the decoder (Bahdanau et al. 2015, 3.1).

    y_embedding: (..., d_y), the target token that was written last. s: (..., d_s), the decoder's
    state before the step: the look back is its own. H: (..., T, d_h), the encoder's states. States
    may be large. mask: boolean (..., T), True where a source token stands, False at padding, which
    may be anywhere.
    params: the tuple (W_s, W_h, v, W_xh, W_hh, b). The first three score by the small network of
    `additive_scores`: (d_s, d_a), (d_h, d_a), (d_a,). The others are a tanh cell whose input is the
    embedding, followed by the context: W_xh (d_y + d_h, d_s), W_hh (d_s, d_s), b (d_s,).

    Returns the tuple (s_next, context, weights) of shapes (..., d_s), (..., d_h), (..., T). The
    weights sum to 1 and are exactly 0 at padding, however large the scores are. A source that is
    all padding gets weights 0 and context 0, and the state is still renewed.
    """
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = additive_scores(s, H, W_s, W_h, v)  # (..., T), from the state before the step
    weights = masked_softmax(scores, mask)  # (..., T), sums to 1
    context = context_vector(weights, H)  # (..., d_h)
    x = np.concatenate((y_embedding, context), axis=-1)  # (..., d_y + d_h)
    s_next = np.tanh(x @ W_xh + s @ W_hh + b)  # (..., d_s)
    return s_next, context, weights


def alignment_error_rate(weights: np.ndarray, sure: np.ndarray, possible: np.ndarray) -> float:
    """Compare the strongest link of every target token with the gold alignment.

    weights: (m, n), not negative, a row for each target token, m may be 0, n at least 1. sure and
    possible: boolean (m, n), the gold links; a sure link is possible too, whether or not `possible`
    has it. Each row of the weights claims one link, to its largest weight, however small that is:
    to the first, if several are the largest. A row of zeros claims none. Returns Och and Ney's
    alignment error rate (2003) as a float: 0 is best, 1 is worst. It is 0.0 if no link is claimed
    and none is sure.
    """
    claimed = np.zeros(weights.shape, dtype=bool)  # (m, n)
    for i, row in enumerate(weights):
        claimed[i, np.argmax(row)] = np.max(row) > 0
    total = np.sum(claimed) + np.sum(sure)
    if total == 0:
        return 0.0
    agreed = np.sum(claimed & sure) + np.sum(claimed & (sure | possible))
    return float(1 - agreed / total)
