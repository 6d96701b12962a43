"""Train the machine of chapter 1 for three times the steps, on three times the pairs."""

from __future__ import annotations

from typing import Any

from ...running.seeds import over_seeds
from ...translators.machines import BOTTLENECK_STEPS, CLAUSES, bottleneck, trained
from .testing import LANGUAGE, Tested, tested

TIMES = 3
STEPS = TIMES * BOTTLENECK_STEPS


def measure(seed: int) -> Tested:
    """Train chapter 1's machine for STEPS, on each pair once, and test it."""
    return tested(*trained(bottleneck, LANGUAGE, CLAUSES, STEPS, seed))


def measure_all() -> dict[str, Any]:
    """Return the results of `measure` for all seeds, as lists with a row for each seed.

    "token_accuracy" and "forced" have a column for each of LENGTHS.
    """
    runs = over_seeds(measure)
    return {
        "steps": STEPS,
        "token_accuracy": [[one.token_accuracy for one in run.by_length] for run in runs],
        "forced": [run.forced for run in runs],
        "token_accuracy_long": [run.long.token_accuracy for run in runs],
        "token_accuracy_short": [run.short.token_accuracy for run in runs],
        "bleu_long": [run.long.bleu for run in runs],
        "forced_long": [run.forced_long for run in runs],
    }
