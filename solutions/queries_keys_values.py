"""Attention with queries, keys and values: the layer, its masks, and its three projections.

Scaled dot-product attention is equation 1 of Vaswani et al. (2017), "Attention is all you need".
Keys that are not also values come from Sukhbaatar et al. (2015), "End-to-end memory networks", and
got their names from Miller et al. (2016), "Key-value memory networks for directly reading
documents".
"""

import math

import numpy as np

from .alignment import masked_softmax, softmax


def soft_lookup(
    query: np.ndarray, keys: np.ndarray, values: np.ndarray, temperature: float = 1.0
) -> np.ndarray:
    """Look one query up in a soft dictionary: a blend of all values, by how well their keys match.

    query: (..., d). keys: (..., n, d). values: (..., n, d_v), n at least 1. All three have the same
    leading axes. A match is the dot product of query and key, not scaled; matches may be large.
    temperature: above 0; near 0 the best match takes all, and equal ones share it; the higher it
    is, the more equal the shares. Returns an array of shape (..., d_v).
    """
    scores = (keys @ query[..., None])[..., 0]  # (..., n, d) @ (..., d, 1) -> (..., n)
    weights = softmax(scores / temperature, axis=-1)  # (..., n), sums to 1
    return (weights[..., None, :] @ values)[..., 0, :]  # (..., 1, n) @ (..., n, d_v) -> (..., d_v)


def project_qkv(
    X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give every token its three roles: what it asks for, what it is found by, what it passes on.

    X: tokens, one in each row, (..., n, d), n at least 1. W_q and W_k: (d, d_k). W_v: (d, d_v).
    Returns the tuple (Q, K, V), of shapes (..., n, d_k), (..., n, d_k) and (..., n, d_v).
    """
    return X @ W_q, X @ W_k, X @ W_v


def scaled_dot_product_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Answer every query with a blend of the values (Vaswani et al. 2017, equation 1).

    Q: (..., n_q, d_k), n_q at least 1. K: (..., n_k, d_k). V: (..., n_k, d_v), n_k at least 1. All
    three have the same leading axes. Scores may be large, above 0 or below: near 1e12, say.
    mask: boolean, broadcastable to the scores (..., n_q, n_k), and perhaps with fewer axes, True
    where a query may attend; None lets every query attend to every key.
    Returns (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k). Each row of the weights
    sums to 1, and is exactly 0 where the mask is False. A query that may attend to nothing gets
    weights 0 and output 0.
    """
    d_k = Q.shape[-1]
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(d_k)  # (..., n_q, n_k)
    weights = masked_softmax(scores, mask)  # every row sums to 1, or to 0
    return weights @ V, weights  # (..., n_q, n_k) @ (..., n_k, d_v)


def causal_mask(n: int) -> np.ndarray:
    """Return the mask that lets every token see itself and the tokens before it, and none after.

    n: the number of tokens, 0 or more. Returns a boolean array of shape (n, n): entry [i, j] is
    True where token i may attend to token j.
    """
    return np.tril(np.ones((n, n), dtype=bool))


def padding_mask(lengths: np.ndarray, n: int) -> np.ndarray:
    """Return the mask that hides the padding at the end of each sequence of a batch.

    lengths: (batch,), whole numbers from 0 to n: how many tokens of each sequence are real; the
    real ones come first. n: the padded length, at least 1. Returns a boolean array of shape
    (batch, 1, n), True at real tokens. The middle axis is there so that the mask broadcasts to
    scores of shape (batch, n_q, n): every query of a sequence sees the same keys.
    """
    positions = np.arange(n)  # (n,)
    return positions < lengths[:, None, None]  # (n,) < (batch, 1, 1) -> (batch, 1, n)


def cross_attention(
    X: np.ndarray,
    context: np.ndarray,
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let the tokens of one sequence ask, and the tokens of another answer.

    X: (..., n_q, d), the tokens that ask. context: (..., n_k, d_context), the tokens that answer.
    There is at least one of each, and the leading axes are the same. W_q: (d, d_k).
    W_k: (d_context, d_k). W_v: (d_context, d_v). The scores are divided by the square root of d_k;
    they may be large, above 0 or below. mask: boolean, broadcastable to (..., n_q, n_k), and
    perhaps with fewer axes, True where attention may go, or None. Returns (output, weights) of
    shapes (..., n_q, d_v) and (..., n_q, n_k). A token that may attend to nothing gets weights 0
    and output 0. With `context` equal to `X` this is self-attention.
    """
    Q, K, V = X @ W_q, context @ W_k, context @ W_v
    return scaled_dot_product_attention(Q, K, V, mask)


def attention_with_bias(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Answer every query with a blend of the values, after a bias was added to its scores.

    Q: (..., n_q, d_k), n_q at least 1. K: (..., n_k, d_k). V: (..., n_k, d_v), n_k at least 1. All
    three have the same leading axes. Scores may be large. bias: broadcastable to the scores
    (..., n_q, n_k), and perhaps with fewer axes; numbers, which may be large, or minus infinity
    where a query may not attend. Returns (output, weights) of shapes (..., n_q, d_v) and
    (..., n_q, n_k). The weights are the softmax of the scaled scores plus the bias, exactly 0 where
    the bias is minus infinity. A query that may attend to nothing gets weights 0 and output 0.
    """
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]) + bias  # (..., n_q, n_k)
    weights = masked_softmax(scores, bias > -np.inf)
    return weights @ V, weights


def scaled_dot_product_attention_backward(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    d_output: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate the layer: what a loss that reads its output says to queries, keys and values.

    Q: (..., n_q, d_k). K: (..., n_k, d_k). V: (..., n_k, d_v). All have the same leading axes, and
    one row or more. Scores may be large, and so may values: near a million, say. mask: boolean,
    broadcastable to the scores (..., n_q, n_k), True where a query may attend, or None.
    d_output: (..., n_q, d_v), the gradient of the loss with respect to the layer's output. The loss
    does not read the weights. Returns the tuple (d_Q, d_K, d_V), the gradients with respect to Q, K
    and V, in their shapes. A query that may attend to nothing has the gradient 0, and adds nothing
    to the others.
    """
    _, weights = scaled_dot_product_attention(Q, K, V, mask)  # (..., n_q, n_k)
    d_V = np.swapaxes(weights, -1, -2) @ d_output
    d_weights = d_output @ np.swapaxes(V, -1, -2)  # (..., n_q, n_k)
    mean = np.sum(weights * d_weights, axis=-1, keepdims=True)  # mean of d_weights under weights
    d_scores = weights * (d_weights - mean) / math.sqrt(Q.shape[-1])
    return d_scores @ K, np.swapaxes(d_scores, -1, -2) @ Q, d_V


def left_padded_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Attend to the past, in a batch whose sequences are padded at the front, as for generation.

    Q and K: (batch, n, d_k). V: (batch, n, d_v), n at least 1. lengths: (batch,), whole numbers
    from 0 to n: how many tokens of each sequence are real; the real ones come last. Scores may be
    large. Returns (output, weights) of shapes (batch, n, d_v) and (batch, n, n). A token attends to
    itself and to the tokens before it, and of these to the real ones only. Padding that asks has
    nothing to attend to: it gets weights 0 and output 0.
    """
    n = Q.shape[-2]
    positions = np.arange(n)  # (n,)
    real = positions >= n - lengths[:, None, None]  # (batch, 1, n)
    return scaled_dot_product_attention(Q, K, V, causal_mask(n) & real)


def divisor_for_entropy(scores: np.ndarray, bits: float) -> float:
    """Find the number to divide scores by, so that the weights have the entropy that is asked for.

    scores: (n_q, n_k), one row a query, of any size. n_k at least 2; no two scores of a row are
    equal. The weights are the softmax of scores / divisor along each row. The entropy of a row, in
    bits, is the sum of -w log2(w) over its weights, where a weight of 0 adds nothing. What is asked
    for is the mean over the rows. bits: between a tenth and nine tenths of log2(n_k), the entropy
    of equal weights. Returns the divisor, a float from a thousandth to a thousand.
    """
    low, high = 1e-4, 1e4  # entropy grows with the divisor
    for _ in range(60):
        middle = math.sqrt(low * high)
        weights = softmax(scores / middle)  # (n_q, n_k)
        logarithms = np.log2(np.maximum(weights, np.finfo(float).tiny))  # finite for a weight of 0
        entropy = -np.sum(weights * logarithms, axis=1).mean()
        low, high = (low, middle) if entropy > bits else (middle, high)
    return math.sqrt(low * high)
