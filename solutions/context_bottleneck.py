"""A recurrent network that reads a sentence, and the loop that writes one from a single vector.

The cell is that of Elman (1990), "Finding structure in time"; two directions side by side are due
to Schuster and Paliwal (1997), "Bidirectional recurrent neural networks"; reading into one vector
and writing from it, to Cho et al. (2014) and Sutskever et al. (2014). Vectors are rows here: a
matrix stands on the right of what it multiplies.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def rnn_cell(
    x: np.ndarray, h: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Take one step of a recurrent network: from the state so far and one token to the next state.

    x: the token, a row, (..., d). h: the state so far, a row, (..., d_h). W_xh: (d, d_h). W_hh:
    (d_h, d_h). b: (d_h,). Rows are multiplied from the right: x @ W_xh. The nonlinearity is tanh;
    what goes into it may be large. Returns the next state, (..., d_h).
    """
    return np.tanh(x @ W_xh + h @ W_hh + b)


def encode(
    X: np.ndarray, h_0: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Read a sentence token by token with one recurrent cell, and keep the state after each token.

    X: tokens, one a row, (..., T, d), T at least 1. h_0: the state before the first token,
    (..., d_h). W_xh: (d, d_h). W_hh: (d_h, d_h). b: (d_h,). The cell is tanh, as in `rnn_cell`,
    and tokens may be large. Returns the tuple (H, h_T): all states, (..., T, d_h), where
    H[..., t, :] is the state after token t, and the last of them, (..., d_h). Raises ValueError for
    a sentence of no token, T = 0.
    """
    if X.shape[-2] == 0:
        raise ValueError(f"X has shape {X.shape}: the sentence has no token, and needs at least 1")
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = rnn_cell(X[..., t, :], h, W_xh, W_hh, b)  # (..., d_h)
        states.append(h)
    return np.stack(states, axis=-2), h


def encode_bidirectional(
    X: np.ndarray,
    h_0: np.ndarray,
    forward: tuple[np.ndarray, np.ndarray, np.ndarray],
    backward: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Read a sentence twice, from the left and from the right (Schuster and Paliwal 1997).

    X: tokens, one a row, (..., T, d), T at least 1. h_0: (..., d_h), the state with which each of
    the two readers begins. forward, backward: the parameters (W_xh, W_hh, b) of the reader from the
    left and of the reader from the right, of shapes (d, d_h), (d_h, d_h) and (d_h,). The cell is
    tanh, as in `rnn_cell`, and tokens may be large. Returns H, (..., T, 2 d_h). Row t belongs to
    token t: its first d_h numbers have read the tokens 0 to t, its last d_h numbers the tokens
    T - 1 down to t.
    """
    from_left, _ = encode(X, h_0, *forward)  # (..., T, d_h)
    from_right, _ = encode(X[..., ::-1, :], h_0, *backward)  # row 0 belongs to the last token
    return np.concatenate([from_left, from_right[..., ::-1, :]], axis=-1)


def jacobian_norms(H: np.ndarray, W_hh: np.ndarray) -> np.ndarray:
    """Measure how much the last state of a tanh network still depends on each state before it.

    H: the states h_1 ... h_T that the network went through, one a row, (..., T, d_h), T at least 1;
    each is tanh(x @ W_xh + h @ W_hh + b) of the one before. W_hh: (d_h, d_h). Returns norms of
    shape (..., T): the spectral norm (largest singular value) of the Jacobian of the last state
    with respect to the state in the same row of H. The last one is 1.
    """
    norms = np.ones(H.shape[:-1])  # (..., T)
    jacobian = np.eye(H.shape[-1])  # of the last state with respect to itself
    for t in range(H.shape[-2] - 2, -1, -1):
        step = W_hh * (1 - H[..., t + 1, None, :] ** 2)  # entry [i, j]: state t, i to t + 1, j
        jacobian = step @ jacobian  # chain rule, in rows: earlier steps stand on the left
        norms[..., t] = np.linalg.norm(jacobian, ord=2, axis=(-2, -1))
    return norms


def greedy_decode(
    step: Callable[[int, Any, Any], tuple[np.ndarray, Any]],
    context: Any,
    start: int,
    stop: int,
    max_len: int,
) -> list[int]:
    """Write a sentence: at each step the token with the highest score, until `stop` is chosen.

    step: a decoder, called as step(previous, state, context). previous is the token before, an int,
    and `start` at the first step. state is what the call before returned, and None at the first
    step. It returns (scores, state): scores of shape (V,), one for each token, and its new state.
    context: what the encoder made of the source, of any type; handed to every call as it is.
    Returns the list of the chosen tokens, ints, at most `max_len` of them; max_len is 0 or more.
    `stop` ends the sentence and is not in the list. Nor is the `start` that you hand to the first
    step; but where the decoder chooses that token, it is kept like any other. Of equal scores the
    lowest token wins. start and stop differ.
    """
    tokens: list[int] = []
    previous, state = start, None
    while len(tokens) < max_len:
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens
