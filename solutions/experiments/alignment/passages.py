"""Faults in long translations: skipped passages, repeated passages, and an early end.

The machine writes without teacher forcing. Each token that it writes looks most at one source
token, its peak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.translation import Pair
from ...translators.machines import SENTENCES
from ...translators.quality import MAX_LENGTH, held_out_pairs, token_accuracy
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq, translate
from ...translators.training import Task, tensors

PASSAGE = 6
"""The fewest consecutive source tokens without a peak that count as a skipped passage."""
PHRASE = 4
"""The consecutive tokens that are a repeated passage if they are rarer in the reference."""
FEW, MANY = (1, 4), (5, 8)
"""Numbers of clauses: as in training, and more."""
TESTS = (
    ((20, 29), FEW),
    ((20, 29), MANY),
    ((30, 39), FEW),
    ((30, 39), MANY),
    ((40, 49), FEW),
    ((40, 49), MANY),
    ((50, 60), MANY),
)
"""The source tokens and clauses of the test sets: few and many clauses, of the same length.

Four clauses rarely have 50 tokens.
"""


@dataclass(frozen=True)
class Written:
    """A translation without teacher forcing: pair, words, and weights (words, source tokens)."""

    pair: Pair
    words: tuple[str, ...]
    weights: np.ndarray

    @property
    def peaks(self) -> np.ndarray:
        """Return the source token that each word looks at most."""
        return np.argmax(self.weights, axis=1)

    @property
    def skips(self) -> bool:
        """Return whether it skips PASSAGE consecutive source tokens."""
        return len(longest_unseen(self.peaks, len(self.pair.source))) >= PASSAGE

    @property
    def repeats(self) -> bool:
        """Return whether PHRASE consecutive words occur twice, but fewer times in the reference."""
        ours, theirs = phrases(self.words), phrases(self.pair.target)
        return any(count > max(1, theirs[phrase]) for phrase, count in ours.items())

    @property
    def stops_early(self) -> bool:
        """Return whether its last word looks at neither of the last two source tokens."""
        return len(self.words) == 0 or bool(self.peaks[-1] < len(self.pair.source) - 2)


@dataclass(frozen=True)
class Faults:
    """The number of `sentences` that skip, repeat and stop early, and their quality.

    accuracy: token accuracy. example: the shortest translation that skips.
    """

    sentences: int
    skips: int
    repeats: int
    stops: int
    accuracy: float
    example: Written | None


def longest_unseen(peaks: np.ndarray, n: int) -> range:
    """Return the longest run of source tokens among 0 to n - 1 that do not occur in `peaks`."""
    best, start = range(0), 0
    for j in range(n + 1):
        if j == n or j in peaks:
            best, start = max(best, range(start, j), key=len), j + 1
    return best


def phrases(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Count all sequences of PHRASE consecutive words."""
    return Counter(tuple(words[i : i + PHRASE]) for i in range(len(words) - PHRASE + 1))


def write(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> list[Written]:
    """Translate the sources of `pairs`, and keep the weights of each word."""
    sources, lengths, _ = tensors(task.batch(pairs))
    found = []
    for pair, one in zip(pairs, translate(model, sources, lengths, MAX_LENGTH), strict=True):
        table = np.zeros((0, len(pair.source)))
        if one.weights is not None:
            table = one.weights.cpu().numpy()
        words = tuple(task.target_vocabulary.tokens[i] for i in one.tokens)
        found.append(Written(pair, words, table))
    return found


def faults(model: Seq2Seq, task: Task) -> list[Faults]:
    """Return the faults in each of TESTS."""
    return [
        faults_in(model, task, held_out_pairs(LANGUAGE, lengths, SENTENCES, clauses))
        for lengths, clauses in TESTS
    ]


def faults_in(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> Faults:
    """Return the faults of the translations of `pairs`."""
    found = write(model, task, pairs)
    skipping = [one for one in found if one.skips]
    shortest = min(skipping, key=lambda one: len(one.pair.source), default=None)
    return Faults(
        sentences=len(found),
        skips=len(skipping),
        repeats=sum(one.repeats for one in found),
        stops=sum(one.stops_early for one in found),
        accuracy=token_accuracy([one.words for one in found], [one.pair.target for one in found]),
        example=shortest,
    )
