"""Pairs of sentences as padded arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .vocabulary import PAD, START, STOP, Vocabulary


class HasTokens(Protocol):
    """A pair of tokenised sentences, from the generator or from a file."""

    @property
    def source(self) -> tuple[str, ...]:
        """The tokens of the source."""

    @property
    def target(self) -> tuple[str, ...]:
        """The tokens of the target."""


@dataclass(frozen=True, slots=True)
class Batch:
    """B pairs as ids, padded on the right with the id of [PAD].

    `sources` (B, n) has no start or stop token: column j is source token j, as in the gold
    alignment. `source_lengths` (B,). `targets` (B, m + 2) begins with [START] and ends with [STOP]:
    the decoder reads `targets[:, :-1]` and predicts `targets[:, 1:]`, whose column i is target
    token i.
    """

    sources: np.ndarray
    source_lengths: np.ndarray
    targets: np.ndarray


def make_batch(
    pairs: Sequence[HasTokens], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> Batch:
    """Return `pairs` as a batch. Raises ValueError for no pairs or for an empty sentence."""
    if not pairs:
        raise ValueError("a batch needs at least one pair")
    sources = [source_vocabulary.encode(pair.source) for pair in pairs]
    targets = [
        np.concatenate(([START], target_vocabulary.encode(pair.target), [STOP])) for pair in pairs
    ]
    lengths = np.array([len(source) for source in sources], dtype=np.int64)
    return Batch(_padded(sources), lengths, _padded(targets))


def _padded(rows: list[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded
