"""`make bench`: run the trials by which chapter 1's learning rate was chosen.

Each trial trains the translator of the chapter as the chapter does, with a seed that is used for
nothing else, and scores it on validation sentences. These are new sentences from the clauses of the
training set. The test sentences have other clauses and are not used.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from solutions.data.translation import sample_pairs
from solutions.running.seeds import SEEDS, over_seeds
from solutions.translators.machines import BOTTLENECK_STEPS, CLAUSES, bottleneck, trained
from solutions.translators.quality import quality
from solutions.translators.quality_by_length import LANGUAGE
from solutions.translators.training import RECURRENT

RESULT = Path("book/measured/learning_rate.json")
RATES = (2e-3, 4e-3, 8e-3, 1.6e-2)
SEED = max(SEEDS) + 1
VALIDATION_SEED, SENTENCES = 2015, 400


def main() -> None:
    """Try every rate, print a line for each, and write them where the appendix reads them."""
    trials = over_seeds(attempt, range(len(RATES)), workers=2)
    for trial in trials:
        print(trial)
    result = {"seed": SEED, "sentences": SENTENCES, "steps": BOTTLENECK_STEPS, "trials": trials}
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


def attempt(job: int) -> dict[str, Any]:
    """Train with RATES[job] and translate the validation sentences."""
    recipe = replace(RECURRENT, rate=RATES[job])
    model, task, seconds = trained(bottleneck, LANGUAGE, CLAUSES, BOTTLENECK_STEPS, SEED, recipe)
    pairs = sample_pairs(LANGUAGE, SENTENCES, np.random.default_rng(VALIDATION_SEED), CLAUSES)
    measured = quality(model, task, pairs)
    return {
        "rate": RATES[job],
        "token_accuracy": round(measured.token_accuracy, 4),
        "bleu": round(measured.bleu, 2),
        "seconds": round(seconds),
    }


def best(trials: list[dict[str, Any]]) -> float:
    """Return the rate whose translations have the highest token accuracy."""
    return float(max(trials, key=lambda trial: trial["token_accuracy"])["rate"])


if __name__ == "__main__":
    main()
