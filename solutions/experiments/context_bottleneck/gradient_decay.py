"""Measure how fast the last state of a recurrent network forgets the earlier states.

The long product of Jacobians is the subject of Hochreiter and Schmidhuber (1997), "Long short-term
memory", and of Bengio et al. (1994), "Learning long-term dependencies with gradient descent is
difficult". The gated cell of Cho et al. (2014) is called GRU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import jacrev, vmap

D_INPUT, D_HIDDEN = 32, 64
STEPS, SENTENCES = 50, 4


def _rnn() -> nn.RNNCellBase:
    return nn.RNNCell(D_INPUT, D_HIDDEN)


def _rnn_orthogonal() -> nn.RNNCellBase:
    cell = _rnn()
    nn.init.orthogonal_(cell.weight_hh)
    return cell


def _gru() -> nn.RNNCellBase:
    return nn.GRUCell(D_INPUT, D_HIDDEN)


def _lstm() -> nn.RNNCellBase:
    return nn.LSTMCell(D_INPUT, D_HIDDEN)


def _lstm_forget_bias() -> nn.RNNCellBase:
    cell = _lstm()
    with torch.no_grad():
        cell.bias_ih[D_HIDDEN : 2 * D_HIDDEN] += 1  # the second block is the forget gate's
    return cell


CELLS: dict[str, Callable[[], nn.RNNCellBase]] = {
    "RNN": _rnn,
    "RNN, orthogonal": _rnn_orthogonal,
    "GRU": _gru,
    "LSTM": _lstm,
    "LSTM, forget bias 1": _lstm_forget_bias,
}
"""Cells as PyTorch initialises them (entries uniform between -1/8 and 1/8, for 64 hidden units),
and two with one thing changed: an orthogonal W_hh, whose singular values are all 1, and 1 added to
the bias of the forget gate, which then starts near 0.73 and not near 0.5 (Jozefowicz et al. 2015,
"An empirical exploration of recurrent network architectures")."""


def state_norms(cell: nn.RNNCellBase, X: Tensor) -> Tensor:
    """Return the spectral norm of d s_T / d s_t for t = 1 ... T, where s is the complete state.

    X: (B, T, D_INPUT). The state s is h for an RNN or a GRU. For an LSTM it is h and c side by
    side, since c is its long-term memory. The first state is 0. Returns (B, T); the last is 1.
    """
    lstm = isinstance(cell, nn.LSTMCell)
    size = cell.hidden_size * (2 if lstm else 1)

    def step(state: Tensor, x: Tensor) -> Tensor:
        if lstm:
            return torch.cat(cell(x, state.chunk(2, dim=-1)), dim=-1)
        return cell(x, state)

    states = [X.new_zeros(len(X), size)]
    with torch.no_grad():
        for t in range(X.shape[1]):
            states.append(step(states[-1], X[:, t]))
        product = torch.eye(size, dtype=X.dtype).expand(len(X), size, size)
        norms = [torch.linalg.matrix_norm(product, ord=2)]
        for t in range(X.shape[1] - 1, 0, -1):  # from s_t to s_(t + 1); columns here, as in torch
            product = product @ vmap(jacrev(step))(states[t], X[:, t])
            norms.append(torch.linalg.matrix_norm(product, ord=2))
    return torch.stack(norms[::-1], dim=1)


PLAIN = ("RNN", "RNN, orthogonal", "GRU")
"""The cells of the chapter; the appendix has the LSTM's cells."""


def measure(seed: int, cells: Sequence[str] = PLAIN) -> dict[str, np.ndarray]:
    """Return cell -> mean norm by distance: entry k is the norm of d s_T / d s_(T - k).

    Each array has shape (STEPS,). The mean is geometric, over SENTENCES sequences of STEPS random
    normal vectors.
    """
    generator = torch.Generator().manual_seed(seed)
    shape = SENTENCES, STEPS, D_INPUT
    X = torch.randn(shape, generator=generator, dtype=torch.float64)
    found = {}
    for name in cells:
        torch.manual_seed(seed)
        norms = state_norms(CELLS[name]().double(), X)  # (SENTENCES, STEPS)
        found[name] = norms.log().mean(dim=0).exp().flip(0).numpy()
    return found


def fit_rate(norms: np.ndarray) -> tuple[float, float]:
    """Fit norms[k] = a * rate ** k, a straight line for the logarithm, by least squares.

    norms: (n,), positive. Returns (rate, R2): the factor of one step, and the share of the
    variance of the logarithms that the line explains.
    """
    distance, logarithm = np.arange(len(norms)), np.log(norms)
    slope, offset = np.polyfit(distance, logarithm, 1)
    residual = logarithm - (slope * distance + offset)
    return float(np.exp(slope)), float(1 - residual.var() / logarithm.var())
