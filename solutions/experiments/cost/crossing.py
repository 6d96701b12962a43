"""Find the length at which attention becomes slower than a GRU, for several batches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from ...cost import crossover_length
from ...running.progress import say
from .by_length import D_MODEL, layers
from .measuring import seconds

BATCHES = (1, 8, 32)
"""The numbers of sequences that a layer reads at once."""

WAYS = ("attention", "torch's own")
MOST = {1: 8192, 8: 2048, 32: 1024}
"""The longest length at which a batch is measured; its tables of scores need the memory."""


@torch.no_grad()
def by_batch(
    batches: Sequence[int] = BATCHES, shortest: int = 32, most: Mapping[int, int] = MOST
) -> dict[tuple[str, int], float]:
    """Return (layer, batch) -> the length at which the layer takes as long as the GRU.

    Lengths are doubled until every layer has become slower. The result is 0 if it was slower from
    the first length on, and infinite if it was still faster at the last one.
    """
    made = {name: layer for name, layer in layers().items() if name in (*WAYS, "GRU")}
    found = {}
    for batch in batches:
        measured: dict[str, list[float]] = {name: [] for name in made}
        lengths: list[int] = []
        n = shortest
        while n <= most[batch] and not (lengths and _all_slower(measured)):
            draws = torch.Generator().manual_seed(n)
            X = torch.randn(batch, n, D_MODEL, generator=draws)
            steps = X.transpose(0, 1).contiguous()  # (n, batch, D_MODEL), as the GRU wants it
            calls = {
                name: (lambda layer=layer, given=steps if name == "GRU" else X: layer(given))
                for name, layer in made.items()
            }
            for name, taken in seconds(calls, times=3).items():
                measured[name].append(taken)
            lengths.append(n)
            n *= 2
        for name in WAYS:
            found[name, batch] = where_equal(lengths, measured[name], measured["GRU"])
        say(f"crossing with the GRU: batch {batch} done")
    return found


def _all_slower(measured: Mapping[str, Sequence[float]]) -> bool:
    return all(measured[name][-1] > measured["GRU"][-1] for name in WAYS)


def where_equal(lengths: Sequence[int], first: Sequence[float], second: Sequence[float]) -> float:
    """Return the length at which the first cost overtakes the second, or 0 or infinity."""
    ahead = np.array(first) < np.array(second)
    if not ahead[0]:
        return 0.0
    if not ahead[-1]:
        until = int(np.flatnonzero(~ahead)[0]) + 1  # noise may make them cross again later
        parts = (np.array(one[:until], dtype=float) for one in (lengths, first, second))
        return crossover_length(*parts)
    return math.inf
