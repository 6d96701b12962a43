"""Attention from a decoder to the states of an encoder, and a measure of where it looks.

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


def multiplicative_scores(s: np.ndarray, H: np.ndarray, W: np.ndarray | None = None) -> np.ndarray:
    """Score each encoder state against the decoder's state by a product.

    s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, one a row,
    with the same leading axes. W: (d_s, d_h), the matrix between them; with None the score is the
    dot product, which needs states of one width. Returns the scores (..., T), before any softmax
    (Luong et al. 2015, section 3.1: "general" and "dot"). Raises ValueError, with both widths in
    its message, for states of different widths without a matrix.
    """
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(
            f"a dot product needs states of one width; here are {s.shape[-1]} and {H.shape[-1]}"
        )
    asks = s if W is None else s @ W  # (..., d_h)
    return (H @ asks[..., None])[..., 0]  # (..., T, d_h) @ (..., d_h, 1)


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
    """Softmax over the positions where `mask` is True; the weight elsewhere is exactly 0.

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
    largest = np.where(np.isfinite(largest), largest, 0)  # 0 for a fully masked row
    exponentials = np.where(mask, np.exp(masked - largest), 0)
    total = np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / np.where(total > 0, total, 1)


def context_vector(weights: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Return the sum of the encoder's states, each multiplied by its weight.

    weights: (..., T), not normalised again; they need not sum to 1. H: (..., T, d_h), with the same
    leading axes. Returns an array of shape (..., d_h). Where all weights are 0, the context is 0
    (Bahdanau et al. 2015, equation 5).
    """
    return np.sum(weights[..., None] * H, axis=-2)  # (..., T, 1) * (..., T, d_h), summed over T


def scores_backward(
    scores: np.ndarray, mask: np.ndarray, H: np.ndarray, d_context: np.ndarray
) -> np.ndarray:
    """Return the gradient of a loss with respect to the scores, from that of the context.

    scores: (..., T), of any size. mask: boolean (..., T), True where a source token stands. H:
    (..., T, d_h), the encoder's states, whose numbers may be near 100 000. All have the same
    leading axes. The weights are the softmax of the scores over the tokens that the mask lets
    through, and 0 elsewhere; the context is the sum of the states, each times its weight.
    d_context: (..., d_h), the gradient of the loss with respect to the context. Returns the
    gradient (..., T), computed in the precision of the inputs. It is 0 at padding, and for a source
    that is all padding.
    """
    weights = masked_softmax(scores, mask)  # (..., T)
    context = context_vector(weights, H)  # (..., d_h)
    differences = H - context[..., None, :]  # (..., T, d_h): is a state better than the blend?
    return weights * (differences @ d_context[..., None])[..., 0]


def local_weights(
    s: np.ndarray,
    scores: np.ndarray,
    mask: np.ndarray,
    W_p: np.ndarray,
    v_p: np.ndarray,
    reach: int,
) -> np.ndarray:
    """Weigh the source in a window around a position that the decoder predicts.

    s: (..., d_s), the decoder's state, which may be large. scores: (..., T), of any size. mask:
    boolean (..., T), True for a source token and False for padding; the n real tokens come first,
    and n may be 0. W_p: (d_s, d_p). v_p: (d_p,). The predicted position is p = n * sigmoid(v_p .
    tanh(s W_p)), with positions counted from 0. The window holds the real tokens j with |j - p| <=
    reach, reach at least 1. The weights are the softmax of the scores over the window, each then
    multiplied by the bell exp(-(j - p)^2 / (2 sigma^2)) with sigma = reach / 2, and not normalised
    again. Returns the weights (..., T), which are 0 outside the window (Luong et al. 2015, section
    3.2, "local-p").
    """
    n = np.sum(mask, axis=-1, keepdims=True)  # (..., 1)
    share = 0.5 * (1 + np.tanh(0.5 * (np.tanh(s @ W_p) @ v_p)))  # the sigmoid, for any number
    p = n * share[..., None]  # (..., 1)
    distance = np.arange(scores.shape[-1]) - p  # (..., T)
    window = mask & (np.abs(distance) <= reach)
    bell = np.exp(-((distance / reach) ** 2) * 2).astype(scores.dtype)
    return masked_softmax(scores, window) * bell


def looks_with_coverage(scores: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Weigh a source for one target word after the other, with less for what was looked at before.

    scores: (..., m, T), one row a target word, m and T at least 1, of any size. All source tokens
    are real. penalty: a number, not below 0. The coverage of a source token before target word i is
    the sum of the weights that the words before i gave it; before the first it is 0. The weights of
    word i are the softmax of its scores, each less the penalty times the coverage before i. Returns
    (weights, coverage), both (..., m, T); row i of the coverage is that before word i.
    """
    weights, coverage = np.zeros_like(scores), np.zeros_like(scores)
    for i in range(scores.shape[-2]):
        coverage[..., i, :] = np.sum(weights[..., :i, :], axis=-2)
        weights[..., i, :] = softmax(scores[..., i, :] - penalty * coverage[..., i, :])
    return weights, coverage


def words_lost(
    scores: np.ndarray,
    H: np.ndarray,
    W_out: np.ndarray,
    targets: np.ndarray,
    hidden: np.ndarray,
) -> float:
    """Return the share of right words that a decoder loses when one state a word is hidden.

    scores: (m, T), one row a target word, of any size, T at least 2. H: (T, d_h), the encoder's
    states. W_out: (d_h, V). A word's logits are its context times W_out, and nothing else. targets:
    (m,), the ids of the words that should be written. A word is right if its target has the largest
    logit; at least one is, and no two logits are equal. hidden: (m,), the position that is hidden
    from each word: its state gets no weight, and the softmax is taken over the scores of the
    others. Returns the number of words that were right and are not any more, over the number of
    those that were right, as a float from 0 to 1.
    """
    visible = np.arange(scores.shape[-1]) != hidden[:, None]  # (m, T)
    before = np.argmax(masked_softmax(scores) @ H @ W_out, axis=-1) == targets
    after = np.argmax(masked_softmax(scores, visible) @ H @ W_out, axis=-1) == targets
    return float(np.sum(before & ~after) / np.sum(before))


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
