"""Chapter 2's machine with more steps, and with fewer and more clauses in its training pairs."""

from __future__ import annotations

from dataclasses import dataclass

from ...running.seeds import SEEDS, over_seeds
from ...translators.edits import mean_edits
from ...translators.machines import (
    ATTENTION_STEPS,
    BEYOND,
    CLAUSES,
    SENTENCES,
    attention,
    trained,
)
from ...translators.quality import held_out_pairs, translate_pairs
from ...translators.quality_by_length import LANGUAGE
from .omissions import omits
from .passages import FEW, MANY

TRAININGS = {
    "as in the chapter": (CLAUSES, ATTENTION_STEPS),
    "three times the steps": (CLAUSES, 3 * ATTENTION_STEPS),
    "one to two clauses": ((1, 2), ATTENTION_STEPS),
    "one to eight clauses": ((1, 8), ATTENTION_STEPS),
}
"""The clauses of the training pairs, and the steps. Each pair is seen once."""
TESTS = (
    ((20, 29), (1, 2)),
    ((20, 29), (3, 4)),
    ((40, 49), FEW),
    ((40, 49), MANY),
    (BEYOND, MANY),
)
"""The source tokens and clauses of the test sets."""
JOBS = [(name, seed) for name in TRAININGS for seed in SEEDS]


@dataclass(frozen=True)
class Longer:
    """The result of one training, for each of TESTS.

    edits: the mean edit accuracy. omissions: the translations, of SENTENCES, in which a passage is
    missing.
    """

    edits: list[float]
    omissions: list[int]


def measure(job: int) -> Longer:
    """Train and test the machine of JOBS[job]."""
    name, seed = JOBS[job]
    clauses, steps = TRAININGS[name]
    model, task, _ = trained(attention, LANGUAGE, clauses, steps, seed)
    edits, omissions = [], []
    for lengths, test_clauses in TESTS:
        pairs = held_out_pairs(LANGUAGE, lengths, SENTENCES, test_clauses)
        written = translate_pairs(model, task, pairs)
        edits.append(mean_edits(written, pairs))
        omissions.append(
            sum(omits(ours, pair.target) for ours, pair in zip(written, pairs, strict=True))
        )
    return Longer(edits, omissions)


def measure_all() -> dict[str, list[Longer]]:
    """Return training -> results, in the order of SEEDS."""
    done = over_seeds(measure, range(len(JOBS)))
    return {
        name: [one for (which, _), one in zip(JOBS, done, strict=True) if which == name]
        for name in TRAININGS
    }
