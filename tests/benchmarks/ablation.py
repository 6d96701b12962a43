"""`make bench`: find which changes make the difference between the `d2l` Transformer and ours.

The first row is the Transformer of the book. Each row below keeps the changes above and adds one.
The last row is our Transformer, with everything else that differs. The learning rate of each row,
including ours, is tuned on validation pairs with a separate seed, and every trial is recorded. All
rows of a seed get as many seconds of processor time as our Transformer took with that seed.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

from solutions.running.progress import say
from solutions.running.seeds import SEEDS, over_seeds
from solutions.translators.machines import CLAUSES, trained, transformer
from solutions.translators.quality import bleu, translate_pairs
from solutions.translators.quality_by_length import LANGUAGE
from solutions.translators.training import PARALLEL, count_parameters
from tests.benchmarks.translators import (
    MOST_PAIRS,
    TUNING_SEED,
    Trial,
    best_rate,
    install,
    row,
    table,
    theirs,
    trial,
    tried,
    validation_pairs,
    write,
)

RESULT = Path("book/measured/d2l_ablation.json")
OURS = "ours"
CHANGES = {
    "as in the book": (),
    "learning-rate schedule": ("schedule",),
    "small embeddings": ("schedule", "small_embeddings"),
    "norm first": ("schedule", "small_embeddings", "norm_first"),
}
"""The fields of `tests.benchmarks.d2l_translators.Changes` that are set in each row."""
STEPS = 1000
"""Training steps of ours. There are fewer than in the course, since forty runs take this time."""
RATES = (0.00075, 0.0015, 0.003, 0.006, 0.012)
"""The learning rates that are tried for every row, including ours."""
TRIALS = [(name, rate) for name in CHANGES for rate in RATES]
PAIRS = MOST_PAIRS * STEPS * PARALLEL.batch


def main() -> None:
    """Tune, measure, print a table, and write it where chapter 9 reads it."""
    install()
    own = over_seeds(try_ours, range(len(RATES)), workers=2)
    trials = [trial for trial, _ in own]
    seconds = sum(spent for _, spent in own) / len(own)
    attempt = functools.partial(try_theirs, seconds)
    trials += over_seeds(attempt, range(len(TRIALS)), workers=2)
    rates = {name: best_rate(trials, name) for name in (*CHANGES, OURS)}
    by_seed = over_seeds(functools.partial(measure, rates), SEEDS, workers=2)
    rows = [
        row(name, name == OURS, rate, [trials[name] for trials in by_seed])
        for name, rate in rates.items()
    ]
    write(RESULT, rows, trials)
    print(table(rows))


def try_ours(job: int) -> tuple[dict[str, Any], float]:
    """Train ours with RATES[job]. Returns the trial and its seconds of processor time."""
    rate = RATES[job]
    model, task, seconds = _ours(rate, TUNING_SEED)
    pairs = validation_pairs()
    written = translate_pairs(model, task, pairs)
    return tried(OURS, rate, bleu(written, [pair.target for pair in pairs])), seconds


def try_theirs(seconds: float, job: int) -> dict[str, Any]:
    """Train the row and rate of TRIALS[job] for `seconds` of processor time."""
    from tests.benchmarks import d2l_translators  # works only after `install`

    name, rate = TRIALS[job]
    model, task, _, _ = theirs("transformer", seconds, PAIRS, rate, changes=_changes(name))
    pairs = validation_pairs()
    written = d2l_translators.translate_pairs(model, task, pairs)
    return tried(name, rate, bleu(written, [pair.target for pair in pairs]))


def measure(rates: dict[str, float], seed: int) -> dict[str, Trial]:
    """Train and test ours with a seed, then every other row for the same processor time."""
    from tests.benchmarks import d2l_translators

    model, task, seconds = _ours(rates[OURS], seed)
    translate = functools.partial(translate_pairs, model, task)
    pairs_seen = STEPS * PARALLEL.batch
    size = count_parameters(model)
    trials = {OURS: trial(size, seconds, STEPS, pairs_seen, translate)}
    for name in CHANGES:
        other, task, spent, steps = theirs(
            "transformer", seconds, PAIRS, rates[name], seed, _changes(name)
        )
        translate = functools.partial(d2l_translators.translate_pairs, other, task)
        pairs_seen = steps * d2l_translators.BATCH
        trials[name] = trial(count_parameters(other), spent, steps, pairs_seen, translate)
        say(table([row(f"{name}, seed {seed}", False, rates[name], [trials[name]])]))
    return trials


def _ours(rate: float, seed: int) -> Any:
    recipe = replace(PARALLEL, rate=rate)
    return trained(transformer, LANGUAGE, CLAUSES, STEPS, seed, recipe)


def _changes(name: str) -> Any:
    from tests.benchmarks import d2l_translators

    return d2l_translators.Changes(**dict.fromkeys(CHANGES[name], True))


if __name__ == "__main__":
    main()
