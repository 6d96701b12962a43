"""Remove every subset of a trained layer's heads, and compare orders in which to remove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .two_relations import Sequences, TwoRelations, accuracies


@dataclass(frozen=True)
class Switches:
    """What a trained model reaches with any subset of its heads.

    accuracy: (2 ** n_heads, 3), with both numbers right, the own right, the partner's right. The
    bit h of a row's number is 1 if head h is there. importance: (n_heads,), measured on other
    sequences than the accuracies.
    """

    accuracy: np.ndarray
    importance: np.ndarray

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return len(self.importance)

    def with_removed(self, count: int) -> np.ndarray:
        """Return the accuracies (both) of all subsets from which `count` heads are removed."""
        removed = [self.n_heads - subset.bit_count() for subset in range(2**self.n_heads)]
        return self.accuracy[np.array(removed) == count, 0]

    def in_order(self, order: Sequence[int]) -> np.ndarray:
        """Return the accuracies (both) after the removal of 0, 1, ... heads in this order."""
        all_heads = 2**self.n_heads - 1
        kept = [all_heads - sum(1 << h for h in order[:k]) for k in range(self.n_heads + 1)]
        return self.accuracy[kept, 0]


def try_all_subsets(model: TwoRelations, test: Sequences, ranking: Sequences) -> Switches:
    """Measure accuracies on `test` without every subset of heads, and importance on `ranking`."""
    n_heads = model.attend.num_heads
    found = []
    for subset in range(2**n_heads):
        removed = [h for h in range(n_heads) if not subset >> h & 1]
        found.append(accuracies(model.without(removed), test))
    return Switches(np.array(found), model.importance(ranking).numpy())
