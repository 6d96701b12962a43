"""All experiments of chapter 7's page with one seed, so that they share trained models."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from .distance_curves import Curve, curves_of, mean_scores
from .length_generalisation import (
    DRAWN,
    LENGTHS,
    LONGER,
    LONGEST,
    SCHEMES,
    SHOWN,
    SHOWN_LENGTH,
    Run,
    clipped_oracle,
    compare_schemes,
    started_large,
    trained,
)
from .longer_context import Stretched, compare_methods, short_steps_only


@dataclass(frozen=True)
class Everything:
    """The results of one seed.

    schemes, there: (task, scheme) -> the run of a model trained on sequences of up to LONGEST and
    of up to LONGER records. large: a factor of the sinusoids -> the run of `started_large`. oracle:
    length -> accuracy of `clipped_oracle`. curves, own: those of the rotary model's heads, and the
    model's own mean scores. stretched: method -> results. short_only: steps -> the run after as
    many more steps on short sequences.
    """

    schemes: dict[tuple[str, str], Run]
    there: dict[tuple[str, str], Run]
    large: dict[int, Run]
    oracle: dict[int, float]
    curves: list[Curve]
    own: np.ndarray
    stretched: dict[str, Stretched]
    short_only: dict[int, Run]
    seconds: float


def run_all(seed: int) -> Everything:
    """Run all experiments in turn."""
    # Some gradients fall below 1e-38, and processors are far slower with such numbers. Treating
    # them as 0 leaves every weight unchanged, bit for bit.
    torch.set_flush_denormal(True)
    start = time.perf_counter()
    rotary = trained("rotary", "before", seed, LONGEST)
    return Everything(
        schemes=compare_schemes(seed, (*SCHEMES, *DRAWN)),
        there=compare_schemes(seed, SCHEMES, LONGER),
        large={factor: started_large(seed, "sinusoidal", factor) for factor in (1, 5)},
        oracle={n: clipped_oracle(n, seed) for n in LENGTHS},
        curves=curves_of(rotary, SHOWN),
        own=mean_scores(rotary, SHOWN, SHOWN_LENGTH),
        stretched=compare_methods(seed),
        short_only=short_steps_only(seed),
        seconds=time.perf_counter() - start,
    )
