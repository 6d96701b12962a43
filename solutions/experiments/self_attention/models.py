"""Models that name a payload: an embedding, a body that looks at all tokens, a linear read-out.

The bodies are an RNN (Elman 1990), a GRU (Cho et al. 2014), a stack of convolutions, and one
self-attention without any parameter of its own, `softmax(X X^T) X`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .sequences import N_PAYLOADS, PROBE

D_MODEL = 32
KERNEL, N_LAYERS = 5, 4
REACH = N_LAYERS * (KERNEL // 2)
"""How far back the last place of the convolutions sees: 8 tokens."""


class RecurrentBody(nn.Module):
    """The last state of a tanh RNN; its recurrent matrix starts orthogonal."""

    def __init__(self) -> None:
        """Make the RNN."""
        super().__init__()
        self.rnn = nn.RNN(D_MODEL, D_MODEL, batch_first=True)
        nn.init.orthogonal_(self.rnn.get_parameter("weight_hh_l0"))

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        states, _ = self.rnn(X)
        return states[:, -1]


class GatedBody(nn.Module):
    """The last state of a GRU (Cho et al. 2014), the cell of chapter 1, as PyTorch starts it."""

    def __init__(self) -> None:
        """Make the GRU."""
        super().__init__()
        self.rnn = nn.GRU(D_MODEL, D_MODEL, batch_first=True)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        states, _ = self.rnn(X)
        return states[:, -1]


class ConvolutionalBody(nn.Module):
    """The last place of `N_LAYERS` convolutions of width `KERNEL`, each followed by a ReLU."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(N_LAYERS):
            layers += [nn.Conv1d(D_MODEL, D_MODEL, KERNEL, padding="same"), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        seen = X[:, -REACH - 1 :]  # the last place depends on no token before these
        return self.layers(seen.transpose(1, 2))[..., -1]


class AttentionBody(nn.Module):
    """The last output of self-attention; it has no parameter."""

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
"""The last two are alike, but for the embedding that they start with."""


class Reader(nn.Module):
    """Embedding, one of the bodies, and a linear read-out that names the payload.

    A new embedding is normal, of the standard deviation 1 / sqrt(d) (vectors of length about 1);
    for `LONG_VECTORS` it is 1, as in PyTorch (length about 5.7). The read-out is as in PyTorch.
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
        """tokens: (batch, n) whole numbers. Returns logits (batch, N_PAYLOADS)."""
        return self.read_out(self.body(self.embedding(tokens)))
