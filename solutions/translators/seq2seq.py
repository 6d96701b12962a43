"""The interface of every translator of the course: `encode`, `decode_step`, `translate`.

Chapter 1 implements it with a recurrent encoder and a decoder that sees one vector of the source.
Chapter 2 replaces the decoder by one that looks at every source token. Chapter 9 replaces both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data.translation.vocabulary import PAD, START, STOP


@dataclass(frozen=True)
class Memory:
    """The encoder's output for the decoder: a batch of B sources of at most n tokens.

    states: (B, n, d), a vector for each source token. mask: (B, n) boolean, True for a token, False
    for padding. context: (B, d_c), the whole source in one vector, the only input of chapter 1's
    decoder; None if the encoder makes no such vector.
    """

    states: Tensor
    mask: Tensor
    context: Tensor | None = None


class Decoder(Protocol):
    """The interface of a decoder. Its state is private: `start` makes it, `step` updates it."""

    def start(self, memory: Memory) -> Any:
        """Return the state before the first target token."""

    def step(
        self, previous: Tensor, state: Any, memory: Memory
    ) -> tuple[Tensor, Any, Tensor | None]:
        """Return logits (B, V), the next state, and weights (B, n) or None. previous: (B,) ids."""

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """Return logits (B, m, V), and weights (B, m, n) or None. inputs: (B, m) ids."""


class Seq2Seq(nn.Module):
    """An encoder and a decoder (Sutskever et al. 2014)."""

    def __init__(self, encoder: nn.Module, decoder: Any) -> None:
        """decoder: implements `Decoder`."""
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def encode(self, sources: Tensor, lengths: Tensor) -> Memory:
        """Encode sources: (B, n) ids, padded on the right. lengths: (B,)."""
        return self.encoder(sources, lengths)

    def decode_step(
        self, previous: Tensor, state: Any, memory: Memory
    ) -> tuple[Tensor, Any, Tensor | None]:
        """Read `previous` (B,), the last target token; `state` is None before the first.

        Returns logits (B, V) of the next token, the new state, and the weights (B, n) with which
        the decoder looked at the source, or None if it does not look.
        """
        if state is None:
            state = self.decoder.start(memory)
        return self.decoder.step(previous, state, memory)

    def forward(self, sources: Tensor, lengths: Tensor, inputs: Tensor) -> tuple[Tensor, Any]:
        """Read the known target `inputs` (B, m). Returns logits (B, m, V), and weights or None."""
        return self.decoder(inputs, self.encode(sources, lengths))


@dataclass(frozen=True)
class Translation:
    """The ids of a translation, without [START] and [STOP], and where the decoder looked.

    weights: (m, n), a row for each target token; None if the decoder does not look.
    """

    tokens: list[int]
    weights: Tensor | None


@torch.no_grad()
def translate(
    model: Seq2Seq, sources: Tensor, lengths: Tensor, max_length: int
) -> list[Translation]:
    """Translate a batch greedily: take the likeliest token, until [STOP] or `max_length`.

    sources: (B, n) ids, padded on the right; lengths: (B,). A model in training mode remains in it.
    """
    memory = model.encode(sources, lengths)
    previous = torch.full_like(lengths, START)
    done = torch.zeros_like(lengths, dtype=torch.bool)
    state: Any = None
    tokens: list[Tensor] = []
    looks: list[Tensor | None] = []
    while len(tokens) < max_length and not done.all():
        logits, state, weights = model.decode_step(previous, state, memory)
        previous = logits.argmax(dim=-1)  # (B,)
        tokens.append(previous)
        looks.append(weights)
        done |= previous == STOP
    return [_translation(tokens, looks, i, int(n)) for i, n in enumerate(lengths)]


def _translation(
    tokens: Sequence[Tensor], looks: Sequence[Tensor | None], i: int, n: int
) -> Translation:
    ids = [int(token[i]) for token in tokens]
    ids = ids[: ids.index(STOP)] if STOP in ids else ids
    rows = [look[i, :n] for look in looks[: len(ids)] if look is not None]
    return Translation(ids, torch.stack(rows) if rows else None)


def continuation(
    model: Seq2Seq, sources: Tensor, lengths: Tensor
) -> Callable[[list[int]], np.ndarray]:
    """Return the function that a beam search calls for the probabilities of the next token.

    sources: (1, n) ids of one sentence; lengths: (1,). The function takes ids that begin with
    [START] and returns the log-probabilities (V,). It reads all ids at each call.
    """
    with torch.no_grad():
        memory = model.encode(sources, lengths)

    @torch.no_grad()
    def step(tokens: list[int]) -> np.ndarray:
        logits, _ = model.decoder(torch.tensor([tokens], device=sources.device), memory)
        return logits[0, -1].log_softmax(dim=-1).cpu().numpy()

    return step


def loss_of(model: Seq2Seq, sources: Tensor, lengths: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy of the next target token; padding does not count.

    targets: (B, m + 2), from [START] to [STOP], then padding.
    """
    logits, _ = model(sources, lengths, targets[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=PAD)
