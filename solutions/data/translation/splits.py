"""Which sentences are for training and which for testing.

A clause combination is a triple: the subject, the verb, and what the verb asks for (its object, its
adjective, or the place of "go" and "live"; of a verb that asks for nothing, the place or the time
that the clause has). The rows of the three in their tables are added; where
the sum is a multiple of `TEST_SHARE` the combination is for testing, else for training. A sentence
is made from clauses of one split alone, relative clauses too. So no clause of a test sentence was
ever seen in training, in any sentence, while every word of it was.
"""

from __future__ import annotations

from typing import Literal

from .syntax import Sentence, clauses

Split = Literal["train", "test"]

TEST_SHARE = 8
"""One combination in eight is kept for testing."""


def split_of(combination: tuple[int, int, int]) -> Split:
    """Return the split that owns a clause combination."""
    return "test" if sum(combination) % TEST_SHARE == 0 else "train"


def combinations(sentence: Sentence) -> set[tuple[int, int, int]]:
    """Return the clause combinations of `sentence`, one for each clause."""
    return {clause.combination for clause in clauses(sentence)}
