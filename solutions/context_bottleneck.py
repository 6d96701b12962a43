"""A recurrent network that reads a sentence, and the loop that writes a sentence from one vector.

The cell is that of Elman (1990), "Finding structure in time"; the two directions are due to
Schuster and Paliwal (1997), "Bidirectional recurrent neural networks"; reading into one vector and
writing from it are due to Cho et al. (2014) and Sutskever et al. (2014). Vectors are rows: a row is
multiplied by a matrix on its right.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def rnn_cell(
    x: np.ndarray, h: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Take a step of a recurrent network: compute the next state from the state and a token.

    x: the token, a row, (..., d). h: the state so far, a row, (..., d_h). W_xh: (d, d_h). W_hh:
    (d_h, d_h). b: (d_h,). Rows are multiplied from the right: x @ W_xh. The nonlinearity is tanh;
    its argument may be large. Returns the next state, (..., d_h).
    """
    return np.tanh(x @ W_xh + h @ W_hh + b)


def encode(
    X: np.ndarray, h_0: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Read a sentence token by token with one recurrent cell, and keep the state after each token.

    X: tokens, one a row, (..., T, d), T at least 1. h_0: the state before the first token,
    (..., d_h). W_xh: (d, d_h). W_hh: (d_h, d_h). b: (d_h,). The next state is
    tanh(x @ W_xh + h @ W_hh + b), and tokens may be large. Returns the tuple (H, h_T): all states,
    (..., T, d_h), where H[..., t, :] is the state after token t, and the last of them, (..., d_h).
    Raises ValueError for a sentence of no token, T = 0.
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

    X: tokens, one in each row, (..., T, d), T at least 1. h_0: (..., d_h), the initial state of
    both readers. forward, backward: the parameters (W_xh, W_hh, b) of the reader from the left and
    of the reader from the right, of shapes (d, d_h), (d_h, d_h) and (d_h,). The next state is
    tanh(x @ W_xh + h @ W_hh + b), and tokens may be large. Returns H, (..., T, 2 d_h). Row t
    belongs to token t: its first d_h numbers have read the tokens 0 to t, its last d_h numbers the
    tokens T - 1 down to t.
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
    jacobian = np.eye(H.shape[-1])  # d(last state) / d(last state)
    for t in range(H.shape[-2] - 2, -1, -1):
        step = W_hh * (1 - H[..., t + 1, None, :] ** 2)  # [i, j]: d h[t+1, j] / d h[t, i]
        jacobian = step @ jacobian  # chain rule for rows: earlier steps on the left
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


Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(W_x, W_h, b), of shapes (d, d_h), (d_h, d_h) and (d_h,)."""


def gru_cell(
    x: np.ndarray, h: np.ndarray, reset: Parameters, update: Parameters, candidate: Parameters
) -> np.ndarray:
    """Take one step of a gated recurrent unit (Cho et al. 2014), by the chapter's formulas.

    x: the token, a row, (..., d). h: the state so far, a row, (..., d_h). reset, update, candidate:
    three times the parameters (W_x, W_h, b), of shapes (d, d_h), (d_h, d_h) and (d_h,). The gates
    are r = sigmoid(x W_x + h W_h + b) with those of `reset`, and z, the same with those of
    `update`. The candidate is tanh(x W_x + r * (h W_h) + b) with its own. What goes into a sigmoid
    or a tanh may be large. Where z is 1 the old state stays, and where z is 0 the candidate takes
    its place. Returns the next state, (..., d_h).
    """
    r, z = (_sigmoid(x @ W_x + h @ W_h + b) for W_x, W_h, b in (reset, update))
    W_x, W_h, b = candidate
    new = np.tanh(x @ W_x + r * (h @ W_h) + b)  # (..., d_h)
    return z * h + (1 - z) * new


def _sigmoid(a: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * a))  # tanh cannot overflow, unlike exp


def clip_by_global_norm(
    gradients: list[np.ndarray], max_norm: float
) -> tuple[list[np.ndarray], float]:
    """Shorten gradients that are too long together, and keep their direction (Pascanu et al. 2013).

    gradients: a list of arrays, at least one, each of any shape. max_norm: above 0. The global norm
    is the root of the sum of the squares of all entries of all arrays. Where it is larger than
    max_norm, every array is multiplied by max_norm / norm; else all keep their values. Entries may
    be large, up to 1e100, and all of them may be 0. Returns the tuple (clipped, norm): a list of
    arrays in the shapes of `gradients`, and the global norm before the clipping, a float.
    """
    squares = [np.sum(np.square(one, dtype=np.float64)) for one in gradients]
    norm = float(np.sqrt(sum(squares)))
    factor = max_norm / norm if norm > max_norm else 1.0
    return [one * factor for one in gradients], norm


def rnn_cell_backward(
    x: np.ndarray,
    h: np.ndarray,
    W_xh: np.ndarray,
    W_hh: np.ndarray,
    b: np.ndarray,
    d_next: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Send a gradient back through one step of a recurrent network.

    x: the token, a row, (..., d). h: the state so far, a row, (..., d_h). W_xh: (d, d_h). W_hh:
    (d_h, d_h). b: (d_h,). The step is next = tanh(x @ W_xh + h @ W_hh + b); x and h have the same
    leading axes, perhaps none, and what goes into the tanh may be large. d_next: (..., d_h), the
    gradient of the loss with respect to `next`. Returns the tuple (d_x, d_h, d_W_xh, d_W_hh, d_b):
    the gradients with respect to the five inputs, each in the shape of its input. The parameters
    are the same for all leading axes, so theirs are sums over them.
    """
    d_sum = (1 - rnn_cell(x, h, W_xh, W_hh, b) ** 2) * d_next  # (..., d_h), through the tanh
    by_row = d_sum.reshape(-1, d_sum.shape[-1])  # (N, d_h)
    d_W_xh = x.reshape(-1, x.shape[-1]).T @ by_row
    d_W_hh = h.reshape(-1, h.shape[-1]).T @ by_row
    return d_sum @ W_xh.T, d_sum @ W_hh.T, d_W_xh, d_W_hh, by_row.sum(axis=0)


def next_token_loss(logits: np.ndarray, targets: np.ndarray, pad: int) -> float:
    """Return the mean cross-entropy of the next token, as in training with teacher forcing.

    targets: (B, m + 1) ids, m at least 1: a row is a start token, the words, a stop token, and then
    `pad` up to the end of the row. logits: (B, m, V), which may be large; logits[b, i] are what the
    decoder scores after it has read targets[b, : i + 1]. It is to predict the token that comes
    next. Padding is not to be predicted: it adds nothing to the sum, and is not counted in the
    mean. Every other token counts once, whatever sentence it is in. Returns the mean of
    -log p over these tokens, a float, with p the softmax of the logits at the right token.
    """
    right = targets[:, 1:]  # (B, m)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))  # (B, m, V)
    losses = -np.take_along_axis(log_p, right[..., None], axis=-1)[..., 0]  # (B, m)
    return float(losses[right != pad].mean())


def critical_gain(
    X: np.ndarray, h_0: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray
) -> float:
    """Find how much larger W_hh must be for the last state to depend on the first with norm 1.

    X: tokens, one a row, (T, d), T at least 3. h_0: (d_h,). W_xh: (d, d_h). W_hh: (d_h, d_h). b:
    (d_h,). The network reads X with g * W_hh in the place of W_hh, everything else as it is. What
    is measured is the spectral norm of the Jacobian of its last state with respect to its first,
    the state after token 0. Returns the smallest g at which that norm is 1, a float. It lies
    between 1/4 and 8; below it the norm is smaller, and a little above it larger.
    """

    def norm(gain: float) -> float:
        H, _ = encode(X, h_0, W_xh, gain * W_hh, b)
        return float(jacobian_norms(H, gain * W_hh)[0])

    gains = np.geomspace(0.25, 8, 71)  # steps of 5 %
    above = next(i for i, gain in enumerate(gains) if norm(gain) >= 1)
    low, high = gains[above - 1], gains[above]
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if norm(middle) < 1 else (low, middle)
    return float((low + high) / 2)
