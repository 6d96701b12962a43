"""Translations compared with their references by edits, where a missing word moves no other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.translation import Pair
from ..edit_distance import edit_accuracy
from .machines import BEYOND, BEYOND_CLAUSES, CLAUSES, LENGTHS, SENTENCES
from .quality import Tokens, held_out_pairs, translate_pairs
from .quality_by_length import LANGUAGE
from .seq2seq import Seq2Seq
from .training import Task


def edits_by_length(model: Seq2Seq, task: Task) -> list[float]:
    """Return the mean edit accuracy of greedy translations for each of LENGTHS, and for BEYOND."""
    return [mean_edits(translate_pairs(model, task, pairs), pairs) for pairs in test_pairs()]


def null_by_length() -> list[float]:
    """Return the same for the reference of another sentence in place of a translation."""
    return [
        mean_edits([pair.target for pair in (*pairs[1:], pairs[0])], pairs)
        for pairs in test_pairs()
    ]


def mean_edits(translations: Sequence[Tokens], pairs: Sequence[Pair]) -> float:
    """Return the mean edit accuracy over the sentences."""
    ids: dict[str, int] = {}

    def numbered(tokens: Tokens) -> list[int]:
        return [ids.setdefault(token, len(ids)) for token in tokens]

    both = zip(translations, pairs, strict=True)
    return float(
        np.mean([edit_accuracy(numbered(ours), numbered(pair.target)) for ours, pair in both])
    )


def test_pairs() -> list[list[Pair]]:
    """Return the test sentences of each of LENGTHS, and those of BEYOND."""
    tests = [(lengths, CLAUSES) for lengths in LENGTHS] + [(BEYOND, BEYOND_CLAUSES)]
    return [held_out_pairs(LANGUAGE, lengths, SENTENCES, clauses) for lengths, clauses in tests]
