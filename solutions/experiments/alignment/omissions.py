"""Passages that are missing in long translations, counted in the words and not in the map."""

from __future__ import annotations

from difflib import SequenceMatcher

from ...translators.machines import SENTENCES
from ...translators.quality import Tokens, held_out_pairs, translate_pairs
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task
from .passages import PASSAGE, TESTS


def omissions(model: Seq2Seq, task: Task) -> list[int]:
    """Return how many translations of each of TESTS omit a passage."""
    counts = []
    for lengths, clauses in TESTS:
        pairs = held_out_pairs(LANGUAGE, lengths, SENTENCES, clauses)
        written = translate_pairs(model, task, pairs)
        counts.append(
            sum(omits(ours, pair.target) for ours, pair in zip(written, pairs, strict=True))
        )
    return counts


def omits(written: Tokens, reference: Tokens) -> bool:
    """Return whether the reference has PASSAGE tokens more than `written` in one place.

    Both are aligned by their longest common runs.
    """
    aligned = SequenceMatcher(None, reference, written, autojunk=False)
    return any(i2 - i1 - (j2 - j1) >= PASSAGE for _, i1, i2, j1, j2 in aligned.get_opcodes())
