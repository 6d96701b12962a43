"""A phrase whose words always occur together: where the decoder looks, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.translation import sample_pairs
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task
from .hiding import right_without
from .maps import read_maps

ENGLISH = ("the", "European", "Economic", "Area")
FRENCH = ("la", "zone", "économique", "européenne")
GOLD = (0, 3, 2, 1)
"""French word -> English word."""
DRAWN = 10_000
"""The number of sentences, of one or two clauses, that are searched for the phrase."""


@dataclass(frozen=True)
class FixedPhrase:
    """A trained decoder's behaviour on the phrase, in the `count` test sentences that contain it.

    weights: (4, 4), the mean of the phrase's rows. lost_gold: (3,), the shares of "zone",
    "économique" and "européenne" that are lost if their gold word is hidden. lost_all: the same if
    all three English content words are hidden. Only words that were right before count.
    """

    count: int
    weights: np.ndarray
    lost_gold: np.ndarray
    lost_all: np.ndarray


def fixed_phrase(model: Seq2Seq, task: Task) -> FixedPhrase:
    """Read the phrase's rows in the test sentences that contain it, and hide words."""
    drawn = sample_pairs(LANGUAGE, DRAWN, np.random.default_rng(0), clauses=(1, 2), split="test")
    pairs = [pair for pair in drawn if "Area" in pair.source]
    maps = read_maps(model, task, pairs)
    corners = [(pair.target.index("zone") - 1, pair.source.index("Area") - 3) for pair in pairs]
    gold_hidden, all_hidden = [], []
    for one, (i, j) in zip(maps, corners, strict=True):
        gold, everything = (np.zeros(one.weights.shape, dtype=bool) for _ in range(2))
        for row in (1, 2, 3):
            gold[i + row, j + GOLD[row]] = True
            everything[i + row, j + 1 : j + 4] = True
        gold_hidden.append(gold)
        all_hidden.append(everything)
    found = right_without(model, task, pairs, (gold_hidden, all_hidden))
    before = np.array([one.right[i + 1 : i + 4] for one, (i, _) in zip(maps, corners, strict=True)])
    lost_gold, lost_all = (
        np.array([~right[i + 1 : i + 4] for right, (i, _) in zip(experiment, corners, strict=True)])
        for experiment in found
    )
    tables = [one.weights[i : i + 4, j : j + 4] for one, (i, j) in zip(maps, corners, strict=True)]
    return FixedPhrase(
        len(pairs),
        np.mean(tables, axis=0),
        (lost_gold & before).sum(axis=0) / before.sum(axis=0),
        (lost_all & before).sum(axis=0) / before.sum(axis=0),
    )
