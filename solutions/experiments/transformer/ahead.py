"""Experiment for chapter 9: "que" and "qu'" look one word ahead; which of them needs to?"""

from __future__ import annotations

import numpy as np

from ...translators.quality import held_out_pairs
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task
from .maps import Maps, read_maps
from .pictures import right_without

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


def survival(model: Seq2Seq, task: Task) -> dict[str, list[bool]]:
    """Hide from each row the source token with its largest weight, in all heads and layers.

    Returns for each of FORMS, and each of its rows that looks one word ahead, whether the form is
    still the likeliest.
    """
    pairs = held_out_pairs(LANGUAGE, LENGTHS, SENTENCES, CLAUSES)
    maps = read_maps(model, task, pairs)
    peaks = [mean_map(one).argmax(axis=1) for one in maps]
    still = right_without(model, task, pairs, peaks)
    found: dict[str, list[bool]] = {form: [] for form in FORMS}
    for one, right in zip(maps, still, strict=True):
        for i, word in enumerate(one.pair.target):
            if word in found and looks_ahead(one, i):
                found[word].append(bool(right[i]))
    return found
