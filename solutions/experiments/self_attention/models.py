"""Models that name a payload: an embedding, a body that reads all tokens, a linear read-out.

The bodies are an RNN (Elman 1990), a GRU (Cho et al. 2014), two stacks of convolutions, the mean of
all tokens, and self-attention without parameters, `softmax(X X^T) X`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from .sequences import N_PAYLOADS, PROBE

D_MODEL = 32
KERNEL = 5
DENSE, DILATED = (1, 1, 1, 1), (1, 2, 4, 8)
"""The distance between neighbouring inputs of a kernel, in each layer of the two stacks."""


def reach(dilations: Sequence[int]) -> int:
    """Return how far back the last position of a stack of convolutions sees, in tokens."""
    return KERNEL // 2 * sum(dilations)


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

    @torch.no_grad()
    def keep_at_first(self, bias: float) -> None:
        """Raise the bias of the update gate, so that the untrained GRU keeps its state."""
        self.rnn.get_parameter("bias_ih_l0")[D_MODEL : 2 * D_MODEL] += bias


class ConvolutionalBody(nn.Module):
    """The last position of a stack of convolutions of width `KERNEL`, each followed by a ReLU."""

    def __init__(self, dilations: Sequence[int]) -> None:
        """dilations: the distance between neighbouring inputs of a kernel, for each layer."""
        super().__init__()
        self.reach = reach(dilations)
        layers: list[nn.Module] = []
        for dilation in dilations:
            convolution = nn.Conv1d(D_MODEL, D_MODEL, KERNEL, padding="same", dilation=dilation)
            layers += [convolution, nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        seen = X[:, -self.reach - 1 :]  # the last position depends only on these tokens
        return self.layers(seen.transpose(1, 2))[..., -1]


class MeanBody(nn.Module):
    """The mean of all tokens: attention with equal weights."""

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        return X.mean(dim=1)


class AttentionBody(nn.Module):
    """The last output of self-attention, without parameters."""

    def __init__(self, divisor: float = 1.0) -> None:
        """divisor: the number by which the scores are divided."""
        super().__init__()
        self.divisor = divisor

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        return (self.weights(X) @ X)[:, -1]

    def weights(self, X: Tensor) -> Tensor:
        """Return what every token gives to every token, (batch, n, n). X: (batch, n, d)."""
        return torch.softmax(X @ X.transpose(1, 2) / self.divisor, dim=-1)


LONG, LONG_BY_ROOT, LONG_BY_D = "long vectors", "long, by root d", "long, by d"
"""Self-attention with long initial embeddings, and scores that are divided by 1, root d or d."""
LONG_BODIES = (LONG, LONG_BY_ROOT, LONG_BY_D)
SHORT_TIMES_D = "short, times d"
"""Self-attention with embeddings of length 1, and scores as large as those of long ones."""
SCALED_BODIES = (*LONG_BODIES, SHORT_TIMES_D)
BODIES: dict[str, Callable[[], nn.Module]] = {
    "RNN": RecurrentBody,
    "GRU": GatedBody,
    "convolution": partial(ConvolutionalBody, DENSE),
    "dilated": partial(ConvolutionalBody, DILATED),
    "mean": MeanBody,
    "self-attention": AttentionBody,
    LONG: AttentionBody,
    LONG_BY_ROOT: partial(AttentionBody, math.sqrt(D_MODEL)),
    LONG_BY_D: partial(AttentionBody, D_MODEL),
    SHORT_TIMES_D: partial(AttentionBody, 1 / D_MODEL),
}


class Reader(nn.Module):
    """An embedding, one of the bodies, and a linear read-out that names the payload.

    The initial embedding is normal, with standard deviation 1 / sqrt(d) (vectors of length about
    1); for the three bodies with long vectors the deviation is 1, as in PyTorch (length about 5.7).
    The read-out's initial weights are PyTorch's.
    """

    def __init__(self, body: str) -> None:
        """body: a name in BODIES."""
        super().__init__()
        self.embedding = nn.Embedding(PROBE + 1, D_MODEL)
        if body not in LONG_BODIES:
            nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)
        self.body = BODIES[body]()
        self.read_out = nn.Linear(D_MODEL, N_PAYLOADS)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (batch, N_PAYLOADS). tokens: (batch, n), integers."""
        return self.read_out(self.body(self.embedding(tokens)))
