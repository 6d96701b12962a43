"""Multi-head attention: several attention layers side by side, in the space of one.

The layer is that of Vaswani et al. (2017), "Attention is all you need", section 3.2.2. Measuring a
head by removing it follows Michel et al. (2019), "Are sixteen heads really better than one?".
"""

import numpy as np

from .queries_keys_values import project_qkv, scaled_dot_product_attention


def _head_width(d_model: int, n_heads: int) -> int:
    """Return d_model / n_heads; ValueError if that is no whole number of features a head."""
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


def multi_head_parameters(d_model: int, n_heads: int, bias: bool = False) -> int:
    """Count the parameters of a multi-head attention layer.

    d_model: the width of the tokens and of all four projections together with their output: W_q,
    W_k, W_v and W_o are (d_model, d_model). bias: whether each of the four also adds a learned
    vector to its result. Returns a whole number (int). Raises ValueError, with both numbers in its
    message, if d_model is not divisible by n_heads.
    """
    d_head = _head_width(d_model, n_heads)
    inputs = d_model + bias  # numbers that make one feature of a query, a key, a value, an output
    return n_heads * 3 * inputs * d_head + inputs * d_model


def head_importance(weights: np.ndarray, values: np.ndarray, W_o: np.ndarray) -> np.ndarray:
    """Measure how much the layer's output changes, relative to its size, if one head is removed.

    weights: (..., n_heads, n_q, n_k). values: (..., n_heads, n_k, d_v), as split among the heads.
    W_o: (n_heads * d_v, d_out); the first d_v rows belong to the first head, and so on. To remove
    a head is to replace what it found, weights @ values, by zeros. Returns an array of shape
    (..., n_heads): for each sequence and head the norm of (output - output without the head)
    divided by the norm of the output, where the norm of an (n_q, d_out) matrix is the root of the
    sum of its squares. An importance may exceed 1. Where the output is all 0, so are the
    importances; one that is merely tiny counts like any other. Raises ValueError if the shapes do
    not fit, such as a W_o with rows for more features than the heads have.
    """
    n_heads, d_v = values.shape[-3], values.shape[-1]
    rows = W_o.reshape(n_heads, d_v, W_o.shape[-1])  # the rows of W_o that read each head
    contributions = weights @ values @ rows  # (..., n_heads, n_q, d_out); their sum is the output
    change = np.linalg.norm(contributions, axis=(-2, -1))  # (..., n_heads)
    size = np.linalg.norm(contributions.sum(axis=-3), axis=(-2, -1))[..., None]  # (..., 1)
    return np.divide(change, size, out=np.zeros_like(change), where=size > 0)
