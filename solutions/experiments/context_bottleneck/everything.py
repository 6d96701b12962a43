"""Run all experiments of chapter 1 in one pool, so that two cores are busy all the time."""

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
"""Each runs with every seed. The longest come first, so that no core is idle at the end."""

JOBS = [(name, seed) for name in EXPERIMENTS for seed in SEEDS]


@dataclass(frozen=True)
class Done:
    """The result of an experiment with one seed, and its processor seconds."""

    found: Any
    seconds: float


def run(job: int) -> Done:
    """Run the experiment and seed of JOBS[job]."""
    name, seed = JOBS[job]
    start = time.process_time()
    found = EXPERIMENTS[name](seed)
    return Done(found, time.process_time() - start)


def run_all() -> dict[str, list[Done]]:
    """Run every experiment with every seed.

    Returns experiment -> results, in the order of SEEDS.
    """
    done = over_seeds(run, range(len(JOBS)))
    return {
        name: [one for (which, _), one in zip(JOBS, done, strict=True) if which == name]
        for name in EXPERIMENTS
    }
