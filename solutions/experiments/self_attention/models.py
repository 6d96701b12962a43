"""Models that name a payload: an embedding, a body that reads all tokens, a linear read-out.

The bodies are an RNN (Elman 1990), a GRU (Cho et al. 2014), a stack of convolutions, and
self-attention without parameters, `softmax(X X^T) X`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .sequences import N_PAYLOADS, PROBE

D_MODEL = 32
KERNEL, N_LAYERS = 5, 4
REACH = N_LAYERS * (KERNEL // 2)
"""How far back the last position of the convolutions sees: 8 tokens."""


class RecurrentBody(nn.Module):
    """The last state of a tanh RNN with an initially orthogonal recurrent matrix."""

    def __init__(self) -> None:
        """Create the RNN."""
        super().__init__()
        self.rnn = nn.RNN(D_MODEL, D_MODEL, batch_first=True)
        nn.init.orthogonal_(self.rnn.get_parameter("weight_hh_l0"))

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        states, _ = self.rnn(X)
        return states[:, -1]


class GatedBody(nn.Module):
    """The last state of chapter 1's GRU (Cho et al. 2014), with PyTorch's initial weights."""

    def __init__(self) -> None:
        """Create the GRU."""
        super().__init__()
        self.rnn = nn.GRU(D_MODEL, D_MODEL, batch_first=True)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        states, _ = self.rnn(X)
        return states[:, -1]


class ConvolutionalBody(nn.Module):
    """The last position of `N_LAYERS` convolutions of width `KERNEL`, each followed by a ReLU."""

    def __init__(self) -> None:
        """Create the layers."""
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(N_LAYERS):
            layers += [nn.Conv1d(D_MODEL, D_MODEL, KERNEL, padding="same"), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        seen = X[:, -REACH - 1 :]  # the last position depends only on these tokens
        return self.layers(seen.transpose(1, 2))[..., -1]


class AttentionBody(nn.Module):
    """The last output of self-attention, without parameters."""

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        weights = torch.softmax(X @ X.transpose(1, 2), dim=-1)  # (batch, n, n)
        return (weights @ X)[:, -1]


LONG_VECTORS = "self-attention, long vectors"
BODIES: dict[str, Callable[[], nn.Module]] = {
    "RNN": RecurrentBody,
    "GRU": GatedBody,
    "convolution": ConvolutionalBody,
    "self-attention": AttentionBody,
    LONG_VECTORS: AttentionBody,
}
"""The last two differ only in the initial embedding."""


class Reader(nn.Module):
    """An embedding, one of the bodies, and a linear read-out that names the payload.

    The initial embedding is normal, with standard deviation 1 / sqrt(d) (vectors of length about
    1); for `LONG_VECTORS` the deviation is 1, as in PyTorch (length about 5.7). The read-out's
    initial weights are PyTorch's.
    """

    def __init__(self, body: str) -> None:
        """body: a name in BODIES."""
        super().__init__()
        self.embedding = nn.Embedding(PROBE + 1, D_MODEL)
        if body != LONG_VECTORS:
            nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)
        self.body = BODIES[body]()
        self.read_out = nn.Linear(D_MODEL, N_PAYLOADS)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (batch, N_PAYLOADS). tokens: (batch, n), integers."""
        return self.read_out(self.body(self.embedding(tokens)))
