"""All experiments of chapter 1 at once, so that two cores are busy from the first to the last."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...running.seeds import SEEDS, over_seeds
from . import by_length, copying, gradient_decay, widths, word_by_word

EXPERIMENTS: dict[str, Callable[[int], Any]] = {
    "machine": by_length.measure,
    "narrow": widths.measure,
    "copying": copying.measure,
    "labels": word_by_word.compare_directions,
    "decay": gradient_decay.measure,
}
"""Each is run with every seed; the longest stand first, so that no core is idle at the end."""

JOBS = [(name, seed) for name in EXPERIMENTS for seed in SEEDS]


@dataclass(frozen=True)
class Done:
    """What an experiment found with one seed, and the processor seconds that it took."""

    found: Any
    seconds: float


def run(job: int) -> Done:
    """Run the experiment and seed of JOBS[job]."""
    name, seed = JOBS[job]
    start = time.process_time()
    found = EXPERIMENTS[name](seed)
    return Done(found, time.process_time() - start)


def run_all() -> dict[str, list[Done]]:
    """Run every experiment with every seed; returns them by experiment, in the order of SEEDS."""
    done = over_seeds(run, range(len(JOBS)))
    return {
        name: [one for (which, _), one in zip(JOBS, done, strict=True) if which == name]
        for name in EXPERIMENTS
    }
