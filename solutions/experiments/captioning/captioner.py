"""A captioner: a CNN makes a grid of a picture, an RNN looks at it before each word.

The interface is that of a translator: `encode`, `decode_step`, and `caption` for `translate`. The
model is that of Xu et al. (2015), "Show, attend and tell", with one restriction. The decoder's
state is told which words were said and *where* the decoder looked, not what it saw there. What is
at a place can be known only by looking at it, so that the weights mean what they seem to mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...captioning import localisation
from ...data.pictures import SIDE, VOCABULARY, Picture, check_image
from ...data.translation.vocabulary import PAD, START, STOP

GRID = (8, 8)
"""The rows and columns of the grid that the CNN makes of a picture."""
CHANNELS = (24, 48)
D_EMBEDDING, D_STATE = 32, 64
SPREAD = 5
"""The scores of a new captioner differ so many times more than PyTorch's start makes them. Else its
looks are so wide at first that it sees the mean of the picture, and learns slowly where to look."""
LONGEST = 16
"""The most words of a caption."""

Look = Callable[[Tensor], Tensor]
"""From the weights (B, L) of a batch to the shares (B, L) with which its places are seen."""


def softly(weights: Tensor) -> Tensor:
    """See every place, by its weight."""
    return weights


def drawn(weights: Tensor) -> Tensor:
    """See one place, drawn by the weights; no gradient passes."""
    return F.one_hot(torch.multinomial(weights.detach(), 1)[:, 0], weights.shape[-1]).float()


def strongest(weights: Tensor) -> Tensor:
    """See one place, that with the largest weight; no gradient passes."""
    return F.one_hot(weights.argmax(dim=-1), weights.shape[-1]).float()


@dataclass(frozen=True)
class Memory:
    """What the encoder hands to the decoder about B pictures: L places, the last 2 of C features
    being the place itself.

    annotations: (B, L, C). keys: (B, L, d), the part of the scores that no word changes.
    """

    annotations: Tensor
    keys: Tensor


@dataclass(frozen=True)
class State:
    """What the decoder remembers. hidden: (B, d). place: (B, 2), where it looked last."""

    hidden: Tensor
    place: Tensor


@dataclass(frozen=True)
class Reading:
    """What the captioner did with B pictures and m known words each.

    logits: (B, m, V). weights: (B, m, L). shares: (B, m, L), how the places were seen by them.
    states: (B, m, d), the decoder's states, each before its look.
    """

    logits: Tensor
    weights: Tensor
    shares: Tensor
    states: Tensor


class Captioner(nn.Module):
    """Encoder and decoder. How it looks, softly or hard, is an argument of each call."""

    places: Tensor

    def __init__(self) -> None:
        """Make the parameters, in the order of their use."""
        super().__init__()
        first, last = CHANNELS
        width = last + 2  # of an annotation: the features, and the place
        self.cnn = nn.Sequential(
            nn.Conv2d(3, first, 5, stride=3, padding=1),  # (B, 24, 16, 16)
            nn.BatchNorm2d(first),
            nn.ReLU(),
            nn.Conv2d(first, last, 4, stride=2, padding=1),  # (B, 48, 8, 8)
            nn.BatchNorm2d(last),
            nn.ReLU(),
            nn.Conv2d(last, last, 1),
            nn.BatchNorm2d(last),
            nn.ReLU(),
        )
        self.embedding = nn.Embedding(len(VOCABULARY), D_EMBEDDING, padding_idx=PAD)
        self.rnn = nn.GRUCell(D_EMBEDDING + 2, D_STATE)
        self.W_s = nn.Linear(D_STATE, D_STATE)
        self.W_a = nn.Linear(width, D_STATE, bias=False)
        self.v = nn.Linear(D_STATE, 1, bias=False)
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
        features = self.cnn(images).flatten(-2).transpose(-1, -2)  # (B, L, 48)
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
        state = state or self._start(len(previous))
        state, context, _, shares = self._look(self.embedding(previous), state, memory, look)
        return self.read_out(torch.cat([context, state.hidden], dim=-1)), state, shares

    def forward(self, images: Tensor, inputs: Tensor, look: Look = softly) -> Reading:
        """Read the captions `inputs` (B, m), known in training, one word after another."""
        memory, state = self.encode(images), self._start(len(images))
        embedded = self.embedding(inputs)  # (B, m, d_e)
        steps = []
        for i in range(inputs.shape[1]):
            state, context, weights, shares = self._look(embedded[:, i], state, memory, look)
            steps.append((context, weights, shares, state.hidden))
        contexts, weights, shares, states = (
            torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)
        )
        logits = self.read_out(torch.cat([contexts, states], dim=-1))
        return Reading(logits, weights, shares, states)

    def _start(self, batch: int) -> State:
        return State(self.v.weight.new_zeros(batch, D_STATE), self.v.weight.new_zeros(batch, 2))

    def _look(
        self, embedded: Tensor, state: State, memory: Memory, look: Look
    ) -> tuple[State, Tensor, Tensor, Tensor]:
        hidden = self.rnn(torch.cat([embedded, state.place], dim=-1), state.hidden)
        scores = self.v((self.W_s(hidden)[:, None] + memory.keys).tanh())[..., 0]  # (B, L)
        weights = scores.softmax(dim=-1)
        shares = look(weights)
        context = (shares[:, None] @ memory.annotations)[:, 0]  # (B, C)
        return State(hidden, context[:, -2:]), context, weights, shares


@dataclass(frozen=True)
class Caption:
    """The words of a caption, and where the captioner looked: (m, L), one row a word."""

    words: tuple[str, ...]
    shares: np.ndarray


@torch.no_grad()
def caption(model: Captioner, images: Sequence[np.ndarray], look: Look = softly) -> list[Caption]:
    """Caption images greedily: the likeliest word at each step, until [STOP] or `LONGEST` words.

    Each image is (3, 48, 48), float32, from 0 to 1. The model should be in evaluation mode, so that
    a caption does not depend on the other images. Raises TypeError and ValueError as `check_image`
    does; no image gives no caption.
    """
    for image in images:
        check_image(image)
    if not len(images):
        return []
    device = model.places.device
    memory = model.encode(torch.from_numpy(np.stack(images)).to(device))
    previous = torch.full((len(images),), START, device=device)
    state: State | None = None
    said: list[Tensor] = []
    seen: list[Tensor] = []
    while len(said) < LONGEST and not (said and (torch.stack(said) == STOP).any(dim=0).all()):
        logits, state, shares = model.decode_step(previous, state, memory, look)
        previous = logits.argmax(dim=-1)  # (B,)
        said.append(previous)
        seen.append(shares)
    words = [VOCABULARY.decode(row) for row in torch.stack(said, dim=1).tolist()]
    rows = torch.stack(seen, dim=1).cpu().numpy()  # (B, m, L)
    return [Caption(w, row[: len(w)]) for w, row in zip(words, rows, strict=True)]


@dataclass(frozen=True)
class Quality:
    """How well captions fit the truth.

    accuracy: the share of pictures whose whole caption is right. localisation: for each word that
    names a shape in the true captions, the share of the weight inside its box, 0 where the caption
    is too short; named: those words, in the same order.
    """

    accuracy: float
    localisation: np.ndarray
    named: list[str]


def judge(pictures: Sequence[Picture], captions: Sequence[Caption]) -> Quality:
    """Compare captions with their pictures, word by word."""
    cells = np.array([*GRID, *GRID]) / SIDE
    right, inside, named = [], [], []
    for picture, said in zip(pictures, captions, strict=True):
        right.append(picture.caption == said.words)
        for i, box in enumerate(picture.boxes):
            if box is not None:
                seen = said.shares[i] if i < len(said.words) else np.zeros(GRID[0] * GRID[1])
                inside.append(localisation(seen, np.array(box) * cells, GRID))
                named.append(picture.caption[i])
    return Quality(float(np.mean(right)), np.array(inside), named)
