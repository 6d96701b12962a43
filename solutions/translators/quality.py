"""The quality of translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import numpy as np
import sacrebleu

from ..data.translation import Language, Pair, sample_pairs
from .seq2seq import Seq2Seq, translate
from .training import Task, tensors

Tokens = Sequence[str]
MAX_LENGTH = 80
"""More tokens than any reference has; a translation that does not stop is cut off there."""
_TEST_SEED = 2014  # the test sentences are the same for every machine and every seed


def token_accuracy(translations: Sequence[Tokens], references: Sequence[Tokens]) -> float:
    """Return the share of positions at which a translation has the token of its reference.

    The positions are those of the longer of the two. So a missing or an additional token is an
    error, and shifts all later tokens. Raises ValueError for no sentence, or for lists of different
    lengths.
    """
    if not references or len(translations) != len(references):
        raise ValueError(
            f"give one translation for each reference; got {len(translations)} and "
            f"{len(references)}"
        )
    right = places = 0
    for translation, reference in zip(translations, references, strict=True):
        pairs = list(zip_longest(translation, reference))
        right += sum(ours == theirs for ours, theirs in pairs)
        places += len(pairs)
    return right / places


def bleu(translations: Sequence[Tokens], references: Sequence[Tokens]) -> float:
    """Return sacrebleu's corpus BLEU, 0 to 100 (Papineni et al. 2002; Post 2018).

    The sentences are tokenised already, so sacrebleu only splits them at spaces.
    """
    joined = [" ".join(tokens) for tokens in translations]
    truth = [" ".join(tokens) for tokens in references]
    return sacrebleu.corpus_bleu(joined, [truth], tokenize="none", force=True).score


def held_out_pairs(
    language: Language, lengths: tuple[int, int], n: int, clauses: tuple[int, int]
) -> list[Pair]:
    """Return `n` test pairs whose sources have lengths and numbers of clauses within the bounds.

    None of their clause combinations occurs in a training pair. Raises ValueError if fewer than one
    sentence in a hundred has such a length.
    """
    return list(_held_out_pairs(language, lengths, n, clauses))


@cache
def _held_out_pairs(
    language: Language, lengths: tuple[int, int], n: int, clauses: tuple[int, int]
) -> tuple[Pair, ...]:
    """Draw the pairs of `held_out_pairs`, once in each process, for all machines and seeds."""
    low, high = lengths
    rng = np.random.default_rng(_TEST_SEED)
    found: list[Pair] = []
    for _ in range(100):
        drawn = sample_pairs(language, n, rng, clauses, split="test")
        found += [pair for pair in drawn if low <= len(pair.source) <= high]
        if len(found) >= n:
            return tuple(found[:n])
    raise ValueError(
        f"hardly any sentence of {clauses[0]} to {clauses[1]} clauses has {low} to {high} tokens"
    )


def translate_pairs(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Return the greedy translations by `model` of the sources of `pairs`, as tokens."""
    sources, lengths, _ = tensors(task.batch(pairs))
    return [
        task.target_vocabulary.decode(translation.tokens)
        for translation in translate(model, sources, lengths, MAX_LENGTH)
    ]


@dataclass(frozen=True)
class Quality:
    """Token accuracy (0 to 1) and BLEU (0 to 100) on one set of test sentences."""

    token_accuracy: float
    bleu: float


def quality(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> Quality:
    """Translate the sources of `pairs` and compare the results with the references."""
    references = [pair.target for pair in pairs]
    translations = translate_pairs(model, task, pairs)
    return Quality(token_accuracy(translations, references), bleu(translations, references))
