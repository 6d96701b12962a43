"""All experiments of chapter 7's page with one seed, so that they share trained models."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from .length_generalisation import Run, compare_schemes, train_longer
from .longer_context import Stretched, compare_methods


@dataclass(frozen=True)
class Everything:
    """The results of `compare_schemes`, `train_longer` and `compare_methods`.

    seconds: the wall time of the first. stretching_seconds: that of the last, with its model
    already trained.
    """

    schemes: dict[tuple[str, str], Run]
    longer: Run
    stretched: dict[str, Stretched]
    seconds: float
    stretching_seconds: float


def run_all(seed: int) -> Everything:
    """Run all experiments in turn."""
    # Some gradients fall below 1e-38, and processors are far slower with such numbers. Treating
    # them as 0 leaves every weight unchanged, bit for bit.
    torch.set_flush_denormal(True)
    start = time.perf_counter()
    schemes = compare_schemes(seed)
    seconds = time.perf_counter() - start
    longer = train_longer(seed)
    start = time.perf_counter()
    stretched = compare_methods(seed)
    return Everything(schemes, longer, stretched, seconds, time.perf_counter() - start)
