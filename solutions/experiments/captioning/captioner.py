"""A captioner: a CNN turns a picture into a grid, and an RNN looks at it before each word.

The interface is that of a translator: `encode`, `decode_step`, and `caption` for `translate`. The
model is that of Xu et al. (2015), "Show, attend and tell", with one restriction. The decoder's
state receives the previous words and *where* the decoder looked, but not what it saw there. Two
other captioners are for comparison: the state of one receives what it saw, and the other does not
look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...data.pictures import VOCABULARY
from ...data.translation.vocabulary import PAD

GRID = (8, 8)
"""The rows and columns of the grid that the CNN computes."""
CHANNELS = (16, 32)
WIDTH = CHANNELS[-1] + 2
"""The features of an annotation; the last two are its position."""
D_EMBEDDING, D_STATE, D_SCORES = 32, 64, 32
D_PICTURE = 128
"""The features of the picture's vector in a captioner without attention."""
SPREAD = 5
"""The factor by which PyTorch's initial weights of the scores are multiplied.

Without it, the first looks are so wide that the captioner sees the mean of the picture, and learns
slowly where to look.
"""
Look = Callable[[Tensor], Tensor]
"""A function from the weights (B, L) of a batch to the shares (B, L) with which places are seen."""


def softly(weights: Tensor) -> Tensor:
    """See every place with its weight."""
    return weights


def drawn(weights: Tensor) -> Tensor:
    """See one place, drawn with the weights as probabilities; no gradient passes."""
    return F.one_hot(torch.multinomial(weights.detach(), 1)[:, 0], weights.shape[-1]).float()


def evenly(weights: Tensor) -> Tensor:
    """See every place equally."""
    return torch.full_like(weights, 1 / weights.shape[-1])


def strongest(weights: Tensor) -> Tensor:
    """See the place with the largest weight; no gradient passes."""
    return F.one_hot(weights.argmax(dim=-1), weights.shape[-1]).float()


@dataclass(frozen=True)
class Memory:
    """The encoder's output for B pictures: L annotations of C features each.

    annotations: (B, L, C). keys: (B, L, d), the part of the scores that is the same for all words.
    """

    annotations: Tensor
    keys: Tensor


@dataclass(frozen=True)
class State:
    """The decoder's state. hidden: (B, d). told: (B, n), features of its last context."""

    hidden: Tensor
    told: Tensor


@dataclass(frozen=True)
class Reading:
    """The captioner's reading of B pictures with m known words each.

    logits: (B, m, V). weights: (B, m, L). shares: (B, m, L), with which the places were seen.
    states: (B, m, d), the decoder's state before each look.
    """

    logits: Tensor
    weights: Tensor
    shares: Tensor
    states: Tensor


class Captioner(nn.Module):
    """Encoder and decoder. The kind of look, soft or hard, is an argument of each call."""

    places: Tensor

    def __init__(self, told: int = 2, width: int = WIDTH) -> None:
        """Create the parameters, in the order of their use.

        told: the number of last features of a context that go into the state: 2 for the position
        alone, `width` for all features. width: the features of an annotation.
        """
        super().__init__()
        first, last = CHANNELS
        self.told = told
        self.cnn = nn.Sequential(
            nn.Conv2d(3, first, 5, stride=3, padding=1),  # (B, 16, 16, 16)
            nn.BatchNorm2d(first),
            nn.ReLU(),
            nn.Conv2d(first, last, 4, stride=2, padding=1),  # (B, 32, 8, 8)
            nn.BatchNorm2d(last),
            nn.ReLU(),
            nn.Conv2d(last, last, 1),
            nn.BatchNorm2d(last),
            nn.ReLU(),
        )
        self.embedding = nn.Embedding(len(VOCABULARY), D_EMBEDDING, padding_idx=PAD)
        self.rnn = nn.GRUCell(D_EMBEDDING + told, D_STATE)
        self.W_s = nn.Linear(D_STATE, D_SCORES)
        self.W_a = nn.Linear(width, D_SCORES, bias=False)
        self.v = nn.Linear(D_SCORES, 1, bias=False)
        with torch.no_grad():
            self.v.weight *= SPREAD
        self.read_out = nn.Sequential(
            nn.Linear(width + D_STATE, D_STATE), nn.Tanh(), nn.Linear(D_STATE, len(VOCABULARY))
        )
        rows, columns = (torch.linspace(-1, 1, cells) for cells in GRID)
        places = torch.cartesian_prod(rows, columns)  # (L, 2)
        self.register_buffer("places", places, persistent=False)

    def encode(self, images: Tensor) -> Memory:
        """images: (B, 3, 48, 48)."""
        features = self.cnn(images).flatten(-2).transpose(-1, -2)  # (B, L, 32)
        places = self.places.expand(len(images), -1, -1)
        annotations = torch.cat([features, places], dim=-1)  # (B, L, C)
        return Memory(annotations, self.W_a(annotations))

    def decode_step(
        self, previous: Tensor, state: State | None, memory: Memory, look: Look = softly
    ) -> tuple[Tensor, State, Tensor]:
        """Read `previous` (B,), the last word; `state` is None before the first.

        Returns logits (B, V) of the next word, the new state, and the shares (B, L) with which the
        decoder saw the places.
        """
        state = state or self.begin(len(previous))
        state, context, _, shares = self._look(self.embedding(previous), state, memory, look)
        return self.read_out(torch.cat([context, state.hidden], dim=-1)), state, shares

    def forward(self, images: Tensor, inputs: Tensor, look: Look = softly) -> Reading:
        """Read the captions `inputs` (B, m), known in training, one word after another."""
        memory, state = self.encode(images), self.begin(len(images))
        embedded = self.embedding(inputs)  # (B, m, d_e)
        steps = []
        for word in embedded.unbind(dim=1):  # m tensors (B, d_e); faster than m slices
            state, context, weights, shares = self._look(word, state, memory, look)
            steps.append((context, weights, shares, state.hidden))
        contexts, weights, shares, states = (
            torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)
        )
        logits = self.read_out(torch.cat([contexts, states], dim=-1))
        return Reading(logits, weights, shares, states)

    def begin(self, batch: int) -> State:
        """Return the state before the first word."""
        zeros = self.places.new_zeros
        return State(zeros(batch, D_STATE), zeros(batch, self.told))

    def _look(
        self, embedded: Tensor, state: State, memory: Memory, look: Look
    ) -> tuple[State, Tensor, Tensor, Tensor]:
        hidden = self.rnn(torch.cat([embedded, state.told], dim=-1), state.hidden)
        scores = self.v((self.W_s(hidden)[:, None] + memory.keys).tanh_())[..., 0]  # (B, L)
        weights = scores.softmax(dim=-1)
        shares = look(weights)
        context = (shares[:, None] @ memory.annotations)[:, 0]  # (B, C)
        return State(hidden, context[:, -self.told :]), context, weights, shares


class Even(Captioner):
    """The captioner without a choice: whatever its scores are, it sees every place equally."""

    def _look(
        self, embedded: Tensor, state: State, memory: Memory, look: Look
    ) -> tuple[State, Tensor, Tensor, Tensor]:
        return super()._look(embedded, state, memory, evenly)


class WholeView(Captioner):
    """The captioner whose last layer is 15 by 15, so that every place sees the whole picture."""

    def __init__(self) -> None:
        """Create the captioner's parameters, and then those of the larger layer."""
        super().__init__()
        last = CHANNELS[-1]
        self.cnn[6] = nn.Conv2d(last, last, 2 * GRID[0] - 1, padding=GRID[0] - 1)


class OneVector(Captioner):
    """The decoder without attention: it reads one vector of the whole picture at each word.

    The vector is the only annotation, so its weight is always 1 and there are no scores. All of it
    goes into the state.
    """

    def __init__(self) -> None:
        """Create the captioner's parameters without those of scores, and a layer over the grid."""
        super().__init__(told=D_PICTURE, width=D_PICTURE)
        del self.W_s, self.W_a, self.v
        self.whole = nn.Linear(GRID[0] * GRID[1] * CHANNELS[-1], D_PICTURE)

    def encode(self, images: Tensor) -> Memory:
        """images: (B, 3, 48, 48)."""
        picture = self.whole(self.cnn(images).flatten(1)).relu()  # (B, 128)
        return Memory(picture[:, None], picture[:, None])

    def _look(
        self, embedded: Tensor, state: State, memory: Memory, look: Look
    ) -> tuple[State, Tensor, Tensor, Tensor]:
        hidden = self.rnn(torch.cat([embedded, state.told], dim=-1), state.hidden)
        context = memory.annotations[:, 0]  # (B, 128)
        whole = torch.ones_like(context[:, :1])  # (B, 1), the weight and the share
        return State(hidden, context), context, whole, whole
