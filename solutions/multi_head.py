"""Multi-head attention: several attention layers in parallel, at the cost of one layer.

The layer is that of Vaswani et al. (2017), "Attention is all you need", section 3.2.2. Measuring a
head by removing it follows Michel et al. (2019), "Are sixteen heads really better than one?".
"""

import numpy as np

from .alignment import softmax
from .queries_keys_values import padding_mask, project_qkv, scaled_dot_product_attention


def _head_width(d_model: int, n_heads: int) -> int:
    """Return d_model / n_heads. Raises ValueError if it is not an integer."""
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"{d_model} features cannot be shared out equally to {n_heads} heads")
    return d_model // n_heads


def split_heads(X: np.ndarray, n_heads: int) -> np.ndarray:
    """Give every head its own, consecutive part of the features of every token.

    X: (..., n, d_model). n may be 0, and d_model is at least 1. n_heads: at least 1. Returns an
    array of shape (..., n_heads, n, d_head) with d_head = d_model / n_heads: the first head gets
    the first d_head features of each token, the second the next d_head, and so on. Raises
    ValueError, with both numbers in its message, if d_model is not divisible by n_heads.
    """
    d_head = _head_width(X.shape[-1], n_heads)
    heads = X.reshape((*X.shape[:-1], n_heads, d_head))  # (..., n, n_heads, d_head)
    return np.swapaxes(heads, -3, -2)  # (..., n_heads, n, d_head)


def merge_heads(X: np.ndarray) -> np.ndarray:
    """Lay what the heads found for a token side by side again: the inverse of `split_heads`.

    X: (..., n_heads, n, d_head). n may be 0, and the other two are at least 1. Returns an array of
    shape (..., n, n_heads * d_head): for each token the features of the first head, then those of
    the second, and so on.
    """
    tokens = np.swapaxes(X, -3, -2)  # (..., n, n_heads, d_head)
    return tokens.reshape((*tokens.shape[:-2], X.shape[-3] * X.shape[-1]))


def multi_head_attention(
    X: np.ndarray,
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    W_o: np.ndarray,
    n_heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let several heads attend side by side, and mix what they found (Vaswani et al. 2017, 3.2.2).

    X: (..., n, d), n at least 1. W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v). W_o:
    (n_heads * d_v, d_out). Often all four are (d_model, d_model). n_heads: at least 1. The first
    d_k columns of W_q and W_k, the first d_v columns of W_v and the first d_v rows of W_o belong to
    the first head, and so on. Each head is scaled dot-product attention of its own. Scores may be
    large, above 0 or below.
    mask: boolean, broadcastable to (..., n, n), and perhaps with fewer axes, True where a token may
    attend, the same for all heads; None lets every token attend to every token.
    Returns (output, weights) of shapes (..., n, d_out) and (..., n_heads, n, n). A token that may
    attend to nothing gets weights 0 and output 0. Raises ValueError if the width of the queries and
    keys or that of the values is not divisible by n_heads, or if the mask is for another number of
    tokens, so that the two cannot be broadcast together.
    """
    Q, K, V = (split_heads(role, n_heads) for role in project_qkv(X, W_q, W_k, W_v))
    if mask is not None:
        scores_of_a_head = (*X.shape[:-1], X.shape[-2])  # (..., n, n)
        mask = np.broadcast_to(mask, scores_of_a_head)[..., None, :, :]  # (..., 1, n, n)
    heads, weights = scaled_dot_product_attention(Q, K, V, mask)  # (..., n_heads, n, d_v or n)
    return merge_heads(heads) @ W_o, weights  # (..., n, n_heads * d_v) @ (n_heads * d_v, d_out)


def multi_head_cross_attention(
    X: np.ndarray,
    context: np.ndarray,
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    W_o: np.ndarray,
    n_heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let one sequence ask and another answer, with several heads (Vaswani et al. 2017, 3.2.3).

    X: (..., n_q, d), the tokens that ask. context: (..., n_k, d_context), the tokens that answer.
    There is at least one of each, and the leading axes are the same. W_q: (d, n_heads * d_k).
    W_k: (d_context, n_heads * d_k). W_v: (d_context, n_heads * d_v). W_o: (n_heads * d_v, d_out).
    The columns of the first three and the rows of W_o belong to the heads as in
    `multi_head_attention`. n_heads: at least 1; it divides both widths. Scores may be large, above
    0 or below. mask: boolean, broadcastable to (..., n_q, n_k), and perhaps with fewer axes, True
    where attention may go, the same for all heads, or None. Returns (output, weights) of shapes
    (..., n_q, d_out) and (..., n_heads, n_q, n_k). A token that may attend to nothing gets weights
    0 and output 0.
    """
    Q = split_heads(X @ W_q, n_heads)  # (..., n_heads, n_q, d_k)
    K, V = (
        split_heads(context @ W, n_heads) for W in (W_k, W_v)
    )  # (..., n_heads, n_k, d_k or d_v)
    if mask is not None:
        scores_of_a_head = (*X.shape[:-1], context.shape[-2])  # (..., n_q, n_k)
        mask = np.broadcast_to(mask, scores_of_a_head)[..., None, :, :]
    heads, weights = scaled_dot_product_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o, weights


def head_importance(weights: np.ndarray, values: np.ndarray, W_o: np.ndarray) -> np.ndarray:
    """Measure how much the layer's output changes, relative to its size, if one head is removed.

    weights: (..., n_heads, n_q, n_k). values: (..., n_heads, n_k, d_v), as split among the heads.
    W_o: (n_heads * d_v, d_out); the first d_v rows belong to the first head, and so on. To remove
    a head is to replace what it found, weights @ values, by zeros. Returns an array of shape
    (..., n_heads): for each sequence and head the norm of (output - output without the head)
    divided by the norm of the output, where the norm of an (n_q, d_out) matrix is the root of the
    sum of its squares. An importance may exceed 1. Where the output is all 0, so are the
    importances; one that is merely tiny counts like any other. Raises ValueError if the shapes do
    not fit, such as a W_o with rows for more features than the heads have, or weights for one key
    and values of four.
    """
    n_heads, d_v = values.shape[-3], values.shape[-1]
    rows = W_o.reshape(n_heads, d_v, W_o.shape[-1])  # the rows of W_o that read each head
    contributions = weights @ values @ rows  # (..., n_heads, n_q, d_out); their sum is the output
    change = np.linalg.norm(contributions, axis=(-2, -1))  # (..., n_heads)
    size = np.linalg.norm(contributions.sum(axis=-3), axis=(-2, -1))[..., None]  # (..., 1)
    return np.divide(change, size, out=np.zeros_like(change), where=size > 0)


def prune_heads(
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    W_o: np.ndarray,
    n_heads: int,
    removed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make a layer smaller: without some of its heads, and with the others as they were.

    W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v). W_o: (n_heads * d_v, d_out). Columns
    and rows belong to the heads as in `multi_head_attention`. removed: numbers of heads, each from
    0 to n_heads - 1, in any order, perhaps none, perhaps one of them twice; at least one head
    remains. Returns the tuple (W_q, W_k, W_v, W_o) of the remaining layer: its heads stand in their
    old order, and its output is what the old layer's would be if the removed heads had found zeros.
    """
    kept = np.setdiff1d(np.arange(n_heads), removed)  # in ascending order
    columns = (W.reshape(len(W), n_heads, W.shape[1] // n_heads) for W in (W_q, W_k, W_v))
    W_q, W_k, W_v = (W[:, kept].reshape(len(W), -1) for W in columns)
    rows = W_o.reshape(n_heads, -1, W_o.shape[1])
    return W_q, W_k, W_v, rows[kept].reshape(-1, W_o.shape[1])


def folded_heads_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, n_heads: int, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Attend with several heads that are folded into the batch, and hide the padding.

    Q and K: (batch, n, n_heads * d_k). V: (batch, n, n_heads * d_v), n at least 1: already
    projected, and not yet split. n_heads: at least 1. lengths: (batch,), whole numbers from 1 to n:
    how many tokens of each sequence are real; the real ones come first. Returns (merged, weights)
    of shapes (batch, n, n_heads * d_v) and (batch, n_heads, n, n): what the heads found, merged but
    not mixed, and how they found it. Every token, real or not, attends to the real tokens of its
    own sequence.
    """
    batch, n, _ = Q.shape
    Q, K, V = (split_heads(X, n_heads).reshape(batch * n_heads, n, -1) for X in (Q, K, V))
    mask = np.repeat(padding_mask(lengths, n), n_heads, axis=0)  # (batch * n_heads, 1, n)
    heads, weights = scaled_dot_product_attention(Q, K, V, mask)
    heads = heads.reshape(batch, n_heads, n, -1)
    return merge_heads(heads), weights.reshape(batch, n_heads, n, n)


def head_scales_backward(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, scales: np.ndarray, d_merged: np.ndarray
) -> np.ndarray:
    """Differentiate a loss with respect to a scale that each head has learned for its scores.

    Q: (..., n_heads, n_q, d_k). K: (..., n_heads, n_k, d_k). V: (..., n_heads, n_k, d_v). All have
    the same leading axes, perhaps none, and one row or more. scales: (n_heads,), the same for all
    sequences. The weights of head h are the softmax of scales[h] * Q_h K_h^T, with no other
    factor; each row sums to 1. Then the heads are merged. Scores may be large, and values near
    100 000. d_merged: (..., n_q, n_heads * d_v), the gradient of the loss with respect to the
    merged heads. Returns an array of shape (n_heads,): the gradient with respect to `scales`.
    """
    scores = Q @ np.swapaxes(K, -1, -2)  # (..., n_heads, n_q, n_k)
    weights = softmax(scales[:, None, None] * scores)
    d_heads = split_heads(d_merged, len(scales))  # the gradient of the merge is a split
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    mean = np.sum(weights * d_weights, axis=-1, keepdims=True)
    by_sequence = np.sum(weights * (d_weights - mean) * scores, axis=(-2, -1))  # (..., n_heads)
    return np.sum(by_sequence, axis=tuple(range(by_sequence.ndim - 1)))
