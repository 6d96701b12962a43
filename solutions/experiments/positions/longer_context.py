"""Stretch the rotary positions of a trained model, so that it can read longer sequences.

Each method sets the speeds at which the pairs of features turn, in a model that was trained on
sequences of up to LONGEST records. The model is tested at once, and again after more training on
sequences up to FACTOR times as long. The model with unchanged speeds gets the same training,
because that alone might be sufficient; and, because more steps alone might be, as many steps on
sequences no longer than before.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import numpy as np
import torch

from ...positions import BASE, frequencies, stretched_frequencies
from .doors import Rotary
from .length_generalisation import D_MODEL, HEADS, LONGEST, Reader, Run, assess, fit, trained

METHODS = ("unchanged", "interpolation", "larger base", "YaRN")
FACTOR = 4
WHOLE = 2.0  # a pair with at least this many turns within LONGEST keeps its speed in YaRN
MORE_STEPS, MORE_RATE = (100, 1000), 0.003


def speeds(method: str) -> np.ndarray:
    """Return the speed of each pair by one of METHODS, in radians a position, (d_head/2,)."""
    d = D_MODEL // HEADS
    if method == "interpolation":
        return frequencies(d) / FACTOR
    if method == "larger base":  # the slowest pair becomes FACTOR times slower, the first does not
        return frequencies(d, larger_base(d))
    return stretched_frequencies(d, LONGEST, FACTOR, WHOLE) if method == "YaRN" else frequencies(d)


def larger_base(d: int) -> float:
    """Return the base with which the slowest of d/2 pairs is FACTOR times slower."""
    return float(BASE * FACTOR ** (d / (d - 2)))


def stretch(model: Reader, method: str) -> Reader:
    """Return a copy of a rotary model whose pairs turn as `method` says.

    YaRN increases all scores too: it multiplies queries and keys by 0.1 ln FACTOR + 1 (Peng et al.
    2024, equation 22).
    """
    longer = copy.deepcopy(model)
    if not isinstance(longer.place, Rotary):
        raise TypeError(f"{type(longer.place).__name__} has no speeds; only rotary has")
    longer.place.set_speeds(speeds(method), 0.1 * math.log(FACTOR) + 1 if method == "YaRN" else 1)
    return longer


@dataclass(frozen=True)
class Stretched:
    """A stretched model's results: at once, and after so many more steps on longer sequences."""

    at_once: Run
    after: dict[int, Run]


def compare_methods(seed: int) -> dict[str, Stretched]:
    """Train a rotary model on "before", stretch it by each method, and train it further."""
    model = trained("rotary", "before", seed, LONGEST)
    results = {}
    for method in METHODS:
        longer = stretch(model, method)
        after = {steps: further(longer, steps, FACTOR * LONGEST, seed) for steps in MORE_STEPS}
        results[method] = Stretched(assess(longer, "before", seed), after)
    return results


def short_steps_only(seed: int) -> dict[int, Run]:
    """Train the same model as many steps further on sequences no longer than before."""
    model = trained("rotary", "before", seed, LONGEST)
    return {steps: further(model, steps, LONGEST, seed) for steps in MORE_STEPS}


def further(model: Reader, steps: int, longest: int, seed: int) -> Run:
    """Train a copy of the model on sequences of up to `longest` records, and test it."""
    longer = copy.deepcopy(model)
    data = torch.Generator().manual_seed(5000 + seed)
    fit(longer, "before", steps, MORE_RATE, longest, data)
    return assess(longer, "before", seed)
