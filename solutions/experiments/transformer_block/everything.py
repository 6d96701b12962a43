"""Both experiments of chapter 8 with one seed, so that no stack of the first is trained again."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .depth import Comparison, compare_designs
from .warm_up import WarmUp, compare_rates


@dataclass(frozen=True)
class Everything:
    """What `compare_designs` and `compare_rates` found, and the seconds that each took."""

    designs: Comparison
    rates: WarmUp
    seconds: float
    seconds_rates: float


def run_all(seed: int) -> Everything:
    """Run one after the other."""
    start = time.perf_counter()
    designs = compare_designs(seed)
    seconds = time.perf_counter() - start
    rates = compare_rates(seed, designs)
    return Everything(designs, rates, seconds, time.perf_counter() - start - seconds)
