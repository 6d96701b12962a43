"""All of chapter 8's experiment: every stack before training, and those that it trains.

It has two halves, since a cell of a page may take fifteen minutes: the designs whose switches the
reader has, and what they are held against.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from .stacks import CONTROLS, DESIGNS, LINEAR, SMALLER
from .starts import Start, at_start, looks
from .training import STEPS, letters_alone, new_sequences, trained

DEPTHS = (2, 6, 12, 24, 48)
TRAINED_DEPTHS = (2, 6, 24)
RATES = (3e-4, 1e-3, 3e-3)
DEEP, DEEPEST = 24, 48
WARM_UP = 40
"""The steps in which the rate rises; they are added to those at the full rate."""
LONG, LONGEST = 480, 1440
"""Four and twelve times the usual steps, for what may have needed them."""
LONG_RUNS = ("residual alone", "norm after")
"""The designs that are trained for LONG, at the two lower rates."""
LEARNT = 0.95
"""A run has learned the task if it gets at least this share of new letters right."""

WITHOUT_NORM, SMALL = "residual alone, smaller", "norm after, smaller"
_BOTH = (STEPS, LONG)
CONTROL_RUNS = {
    **{(name, 1e-3): _BOTH for name in LINEAR},
    ("norm after, centred", 1e-3): (*_BOTH, LONGEST),
    ("norm after", 1e-3): (LONGEST,),
    **{(f"{SMALL} {matrix}", rate): _BOTH for matrix in ("W_o", "W_2") for rate in RATES[:2]},
    **{("norm after, louder stream", rate): (STEPS,) for rate in RATES[1:]},
}
"""(design, rate) of the controls with DEEP blocks -> the steps after which they are measured."""
WARMED = (*(("norm after", rate) for rate in RATES), (SMALL, 3e-3), (WITHOUT_NORM, 3e-3))
"""(design, rate) of the runs with a warm-up: stacks that do not, or not always, learn without."""

Run = tuple[str, int, float, int]
"""Design, number of blocks, rate, and steps after which the share was measured."""


@dataclass
class Everything:
    """The results of one seed.

    starts: (design, depth) -> the stack before training. even: DEEP blocks with the residual alone
    whose scores are all 0. right: the share of right letters in new
    sequences, run by run. looks: block -> what `looks` measures in DEEP blocks with the residual
    alone. letters_alone: the share of the best answer that knows which letters occur but not where.
    """

    starts: dict[tuple[str, int], Start]
    even: Start
    right: dict[Run, float]
    looks: dict[int, tuple[float, float]]
    letters_alone: float
    seconds: float


@dataclass
class Controls:
    """The controls of one seed: `right` as in `Everything`, and the same of the runs of WARMED."""

    right: dict[Run, float]
    warmed: dict[tuple[str, float], float]
    seconds: float


def run_all(seed: int) -> Everything:
    """Measure all stacks before training, and train the designs whose switches the reader has."""
    began = time.perf_counter()
    designs = {**DESIGNS, **SMALLER}
    measured = {**designs, **LINEAR, **CONTROLS}
    right: dict[Run, float] = {}
    for name, design in designs.items():
        for n in TRAINED_DEPTHS:
            for rate in RATES:
                long = name in LONG_RUNS and n == DEEP and rate in RATES[:2]
                after = _BOTH if long else (STEPS,)
                shares = trained(design, n, seed, rate, after)
                right |= {(name, n, rate, steps): share for steps, share in shares.items()}
    return Everything(
        starts={(name, n): at_start(measured[name], n, seed) for name in measured for n in DEPTHS},
        even=at_start(DESIGNS["residual alone"], DEEP, seed, even=True),
        right=right,
        looks={n: looks(DESIGNS["residual alone"], DEEP, seed, n) for n in (0, 20)},
        letters_alone=letters_alone(new_sequences(seed)[0]),
        seconds=time.perf_counter() - began,
    )


def run_controls(seed: int) -> Controls:
    """Train what the designs are held against: other starts, a warm-up, twice the depth."""
    began = time.perf_counter()
    designs = {**DESIGNS, **SMALLER, **LINEAR, **CONTROLS}
    right: dict[Run, float] = {}
    for (name, rate), after in CONTROL_RUNS.items():
        shares = trained(designs[name], DEEP, seed, rate, after)
        right |= {(name, DEEP, rate, steps): share for steps, share in shares.items()}
    deepest = trained(designs[WITHOUT_NORM], DEEPEST, seed, rate=1e-3)
    return Controls(
        right=right | {(WITHOUT_NORM, DEEPEST, 1e-3, STEPS): deepest[STEPS]},
        warmed={
            (name, rate): trained(designs[name], DEEP, seed, rate, warm_up=WARM_UP)[STEPS]
            for name, rate in WARMED
        },
        seconds=time.perf_counter() - began,
    )
