"""IBM Model 1: word alignment by counting, from the time before neural translation.

Brown et al. (1993), "The mathematics of statistical machine translation". Each target word comes
from one source word, all with the same probability, by a table t(target word | source word).
Expectation maximisation finds the table: divide each target word among the words of its source, in
proportion to the table; count the shares; normalise the counts to the new table.

With `tension` above 0, source words near the diagonal are likelier from the start, as in Dyer,
Chahuneau and Smith (2013), "A simple, fast, and effective reparameterization of IBM Model 2". Their
tension is learned; ours is given. Unlike in Brown et al., the source has no empty word here. So
each target word must come from some source word, as with a softmax.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...data.translation import Pair

ITERATIONS = 5
TENSION = 4.0
"""The decay of the prior with the distance from the diagonal; the initial value of Dyer et al."""


@dataclass(frozen=True)
class Model1:
    """table: (source words, target words), the probability of a target word given a source word."""

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    table: np.ndarray
    tension: float

    def soft_alignment(self, pair: Pair) -> np.ndarray:
        """Return the map (m, n): the probability that target word m comes from source word n.

        A pair of words that never occurred together counts as very unlikely.
        """
        rows = [self.source_ids.get(word, -1) for word in pair.source]
        columns = [self.target_ids.get(word, -1) for word in pair.target]
        known = np.outer(np.array(columns) >= 0, np.array(rows) >= 0)
        shares = np.where(known, self.table[rows][:, columns].T, 0) + 1e-12
        shares *= prior(len(pair.target), len(pair.source), self.tension)
        return shares / shares.sum(axis=1, keepdims=True)


def prior(m: int, n: int, tension: float) -> np.ndarray:
    """Return (m, n): the prior of each source position for each target position, not normalised.

    It is exp(-tension |distance|), with positions scaled from 0 (first word) to 1 (last word).
    """
    distance = np.linspace(0, 1, m)[:, None] - np.linspace(0, 1, n)
    return np.exp(-tension * np.abs(distance))


def ibm_model_1(pairs: Sequence[Pair], tension: float = 0.0) -> Model1:
    """Run ITERATIONS of expectation maximisation over `pairs`, from a table of equal entries."""
    source_ids = _numbered(pair.source for pair in pairs)
    target_ids = _numbered(pair.target for pair in pairs)
    cells, words, priors, before = [], [], [], 0
    for pair in pairs:
        m, n = len(pair.target), len(pair.source)
        rows = np.array([source_ids[word] for word in pair.source])
        columns = np.array([target_ids[word] for word in pair.target])
        cells.append((rows * len(target_ids) + columns[:, None]).ravel())  # of each link (m n,)
        words.append(np.repeat(np.arange(before, before + m), n))  # the target word of each link
        priors.append(prior(m, n, tension).ravel())
        before += m
    cell, word, likely = (np.concatenate(parts) for parts in (cells, words, priors))
    size = (len(source_ids), len(target_ids))
    table = np.full(size, 1 / len(target_ids))
    for _ in range(ITERATIONS):
        share = table.ravel()[cell] * likely
        share /= np.bincount(word, share)[word]  # E step: divides 1 for each target word
        counts = np.bincount(cell, share, minlength=table.size).reshape(size)
        table = counts / counts.sum(axis=1, keepdims=True)  # M step: normalises by source word
    return Model1(source_ids, target_ids, table, tension)


def _numbered(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    words = sorted({word for sentence in sentences for word in sentence})
    return {word: i for i, word in enumerate(words)}
