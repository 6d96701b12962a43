"""Experiment for chapter 9: the Transformer's quality on long sentences, by steps of training."""

from __future__ import annotations

from ...running.seeds import SEEDS
from ...translators.machines import CLAUSES, LONG, SENTENCES, trained, transformer
from ...translators.quality import Quality, held_out_pairs, quality
from ...translators.quality_by_length import LANGUAGE
from ...translators.training import PARALLEL

STEPS = (700, 2400)
"""Half the steps of the page's machine, and as many as take the seconds of the one before."""
JOBS = tuple((steps, seed) for steps in STEPS for seed in SEEDS)


def measure_budget(job: int) -> tuple[Quality, float]:
    """Train for the steps of JOBS[job], over which the rate rises and falls to 0.

    Returns the quality on long sentences, and the processor seconds of the training.
    """
    steps, seed = JOBS[job]
    model, task, seconds = trained(transformer, LANGUAGE, CLAUSES, steps, seed, PARALLEL)
    pairs = held_out_pairs(LANGUAGE, LONG, 2 * SENTENCES, CLAUSES)
    return quality(model, task, pairs), seconds
