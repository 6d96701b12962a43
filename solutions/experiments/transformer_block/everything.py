"""Both experiments of chapter 8 with one seed, so that the second can reuse the first's stacks."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .depth import Comparison, compare_designs
from .warm_up import WarmUp, compare_rates


@dataclass(frozen=True)
class Everything:
    """The results of `compare_designs` and `compare_rates`, and the seconds of each."""

    designs: Comparison
    rates: WarmUp
    seconds: float
    seconds_rates: float


def run_all(seed: int) -> Everything:
    """Run both experiments."""
    start = time.perf_counter()
    designs = compare_designs(seed)
    seconds = time.perf_counter() - start
    rates = compare_rates(seed, designs)
    return Everything(designs, rates, seconds, time.perf_counter() - start - seconds)
