"""Leave the decoder a single state while it writes a target word, and see what it still writes.

The counterpart of `hiding`, for the same words and the same choices: is a state sufficient?
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task
from .hiding import choose, one_gold_word, right_without
from .maps import Map

ALONE = ("gold", "other", "third", "random")
"""The choice of the state that stays visible, in the sense of `hiding.HIDDEN`."""


def right_alone(model: Seq2Seq, task: Task, maps: Sequence[Map], seed: int) -> np.ndarray:
    """Return a boolean (N, 4): whether each word of `hide` is right with the only state of ALONE.

    With the same seed, the random states are those that `hide` hides.
    """
    rng = np.random.default_rng(seed)
    tables = [[np.zeros(one.weights.shape, dtype=bool) for one in maps] for _ in ALONE]
    places = []
    for k, one in enumerate(maps):
        n = one.weights.shape[1]
        for i in np.flatnonzero(one.right):
            gold = one_gold_word(one.pair, int(i))
            if gold is not None:
                _, _, other, drawn, _, (_, third) = choose(one.weights[i], gold, rng)
                places.append((k, int(i)))
                for table, only in zip(tables, (gold, *other, third, *drawn), strict=True):
                    table[k][i] = np.arange(n) != only
    found = right_without(model, task, [one.pair for one in maps], tables)
    return np.array([[right[k][i] for right in found] for k, i in places])
