"""Experiment for chapter 9: "que" and "qu'" look one word ahead; which of them needs to?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...translators.quality import held_out_pairs
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task
from .maps import Maps, read_maps
from .pictures import likeliest_without

FORMS = ("que", "qu'")
LENGTHS, SENTENCES, CLAUSES = (3, 14), 300, (1, 2)


def mean_map(one: Maps) -> np.ndarray:
    """Return the mean of the cross-attention of layer 2's heads, (m, n)."""
    return one.cross[1].mean(axis=0)


def off_gold(one: Maps, i: int) -> bool:
    """Return True if row i has its largest weight where no possible link is."""
    return (i, mean_map(one)[i].argmax()) not in one.pair.possible


def one_ahead(one: Maps, i: int) -> bool:
    """Return True if row i looks where the *next* target token has a possible link."""
    return (i + 1, mean_map(one)[i].argmax()) in one.pair.possible


def looks_ahead(one: Maps, i: int) -> bool:
    """Return True if row i is right, and looks at the next word instead of its own."""
    return bool(one.right[i]) and off_gold(one, i) and one_ahead(one, i)


def hidden_places(maps: Sequence[Maps]) -> dict[str, list[np.ndarray]]:
    """Return the source position to hide from each row, for each pair: (m,), in three ways.

    "the word ahead": where the row has its largest weight. "its gold word": the possible link with
    the largest weight, for a row that has one. "another word": one drawn from those that are left.
    """
    rng = np.random.default_rng(0)
    places: dict[str, list[np.ndarray]] = {"the word ahead": [], "its gold word": []}
    places["another word"] = []
    for one in maps:
        weights = mean_map(one)
        peaks, gold = weights.argmax(axis=1), weights.argmax(axis=1)
        for i in range(len(weights)):
            links = [j for k, j in one.pair.possible if k == i]
            gold[i] = max(links, key=lambda j: weights[i, j], default=peaks[i])
        left = [
            [j for j in range(weights.shape[1]) if j not in pair]
            for pair in zip(peaks, gold, strict=True)
        ]
        places["the word ahead"].append(peaks)
        places["its gold word"].append(gold)
        places["another word"].append(np.array([rng.choice(row) for row in left]))
    return places


def survival(model: Seq2Seq, task: Task) -> dict[tuple[str, str], list[str]]:
    """Hide a source token from each row, in all heads and layers.

    Returns for each way of `hidden_places` and each of FORMS the likeliest token of each of the
    form's rows that look one word ahead.
    """
    pairs = held_out_pairs(LANGUAGE, LENGTHS, SENTENCES, CLAUSES)
    maps = read_maps(model, task, pairs)
    written: dict[tuple[str, str], list[str]] = {}
    for way, places in hidden_places(maps).items():
        likeliest = likeliest_without(model, task, pairs, places)
        for form in FORMS:
            written[way, form] = [
                row[i]
                for one, row in zip(maps, likeliest, strict=True)
                for i, word in enumerate(one.pair.target)
                if word == form and looks_ahead(one, i)
            ]
    return written
