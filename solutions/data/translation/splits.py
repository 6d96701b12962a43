"""The split of sentences into training and testing.

A clause combination is a triple: the subject, the verb, and the complement of the verb (its object,
its adjective, or the place of "go" and "live"; for a verb without a complement, the place or the
time of the clause). The row numbers of the three in their tables are added. If the sum is a
multiple of `TEST_SHARE`, the combination is for testing, else for training. All clauses of a
sentence, also relative clauses, belong to the same split. So no clause of a test sentence occurs in
any training sentence, but every word of it does.
"""

from __future__ import annotations

from typing import Literal

from .syntax import Sentence, clauses

Split = Literal["train", "test"]

TEST_SHARE = 8
"""One combination in eight is for testing."""


def split_of(combination: tuple[int, int, int]) -> Split:
    """Return the split of a clause combination."""
    return "test" if sum(combination) % TEST_SHARE == 0 else "train"


def combinations(sentence: Sentence) -> set[tuple[int, int, int]]:
    """Return the clause combinations of `sentence`, one for each clause."""
    return {clause.combination for clause in clauses(sentence)}
