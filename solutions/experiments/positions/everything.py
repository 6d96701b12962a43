"""All experiments of chapter 7's page with one seed, so that none trains another's model again."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from .length_generalisation import Run, compare_schemes, train_longer
from .longer_context import Stretched, compare_methods


@dataclass(frozen=True)
class Everything:
    """What `compare_schemes`, `train_longer` and `compare_methods` found.

    seconds: of the first on the clock; stretching_seconds: of the last, whose model was trained.
    """

    schemes: dict[tuple[str, str], Run]
    longer: Run
    stretched: dict[str, Stretched]
    seconds: float
    stretching_seconds: float


def run_all(seed: int) -> Everything:
    """Run them one after another."""
    # Gradients of what is learnt fall below 1e-38, where a processor takes far longer; taken for
    # the zeros that they nearly are, they leave every weight as it was, bit for bit.
    torch.set_flush_denormal(True)
    start = time.perf_counter()
    schemes = compare_schemes(seed)
    seconds = time.perf_counter() - start
    longer = train_longer(seed)
    start = time.perf_counter()
    stretched = compare_methods(seed)
    return Everything(schemes, longer, stretched, seconds, time.perf_counter() - start)
