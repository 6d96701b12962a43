"""All experiments of chapter 8 with one seed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .stacks import CONTROLS, DESIGNS, LINEAR, SMALLER
from .starts import Start, at_start, looks
from .training import letters_alone, new_sequences, trained

DEPTHS = (2, 6, 12, 24, 48)
TRAINED_DEPTHS = (2, 6, 24)
RATES = (3e-4, 1e-3, 3e-3)
DEEP, DEEPEST = 24, 48
WARM_UP = 40
"""The steps in which the rate rises; they are added to those at the full rate."""
LONG, LONG_RATES = 480, RATES[:2]
"""Four times the usual steps, for what may have needed them."""
WITHOUT_NORM = "residual alone, smaller"
LONG_RUNS = ("residual alone", "norm after", *LINEAR, *CONTROLS)[:-1]
"""The stacks that are trained for LONG: the last of the controls has learned by then."""
LEARNT = 0.95
"""A run has learned the task if it gets at least this share of new letters right."""


@dataclass(frozen=True)
class Everything:
    """The results of one seed; an accuracy is a share of right letters in new sequences.

    starts: (design, depth) -> the stack before training. runs: (design, depth) -> accuracies by
    rate, those of LINEAR and CONTROLS for DEEP blocks only. long: design -> accuracies of DEEP
    blocks by rate, after LONG steps. warm_up: of DEEP blocks with the norm after, by rate. deepest:
    of DEEPEST blocks without any norm. looks: block -> what `looks` measures in DEEP blocks with
    the residual alone. letters_alone: that of the best answer that knows which letters occur but
    not where.
    """

    starts: dict[tuple[str, int], Start]
    runs: dict[tuple[str, int], list[float]]
    long: dict[str, list[float]]
    warm_up: list[float]
    deepest: float
    looks: dict[int, tuple[float, float]]
    letters_alone: float
    seconds: float


def run_all(seed: int) -> Everything:
    """Run all experiments."""
    began = time.perf_counter()
    switched = {**DESIGNS, **SMALLER}
    designs = {**switched, **LINEAR, **CONTROLS}
    after = DESIGNS["norm after"]
    return Everything(
        starts={(name, n): at_start(designs[name], n, seed) for name in designs for n in DEPTHS},
        runs={
            (name, n): [trained(designs[name], n, seed, rate) for rate in RATES]
            for name in designs
            for n in TRAINED_DEPTHS
            if name in switched or n == DEEP
        },
        long={
            name: [trained(designs[name], DEEP, seed, rate, steps=LONG) for rate in LONG_RATES]
            for name in LONG_RUNS
        },
        warm_up=[trained(after, DEEP, seed, rate, warm_up=WARM_UP) for rate in RATES],
        deepest=trained(designs[WITHOUT_NORM], DEEPEST, seed, rate=1e-3),
        looks={n: looks(designs["residual alone"], DEEP, seed, n) for n in (0, 20)},
        letters_alone=letters_alone(new_sequences(seed)[0]),
        seconds=time.perf_counter() - began,
    )
