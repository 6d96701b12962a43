"""`make bench`: what makes the difference between the `d2l` Transformer and ours, change by change.

The first row is theirs as in the book. Each row below keeps the changes above and adds one; the
last is ours, which differs from the row before in everything else. The rate of each row is tuned
with a seed of its own on validation pairs, ours too, and every trial is recorded. All rows of a
seed have the seconds of processor time that ours took with it.
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
"""What each row has of `tests.benchmarks.d2l_translators.Changes`."""
STEPS = 1000
"""Of ours, here: forty trainings take the seconds that these take."""
RATES = (0.00075, 0.0015, 0.003, 0.006, 0.012)
"""Tried for every row, ours among them."""
TRIALS = [(name, rate) for name in CHANGES for rate in RATES]
PAIRS = MOST_PAIRS * STEPS * PARALLEL.batch


def main() -> None:
    """Tune, measure, print a table, and write it where chapter 9 reads it."""
    install()
    own = over_seeds(try_ours, range(len(RATES)), workers=2)
    trials = [one for one, _ in own]
    seconds = sum(spent for _, spent in own) / len(own)
    attempt = functools.partial(try_theirs, seconds)
    trials += over_seeds(attempt, range(len(TRIALS)), workers=2)
    rates = {name: best_rate(trials, name) for name in (*CHANGES, OURS)}
    found = over_seeds(functools.partial(measure, rates), SEEDS, workers=2)
    rows = [
        row(name, name == OURS, rate, [one[name] for one in found]) for name, rate in rates.items()
    ]
    write(RESULT, rows, trials)
    print(table(rows))


def try_ours(job: int) -> tuple[dict[str, Any], float]:
    """Train ours with RATES[job]. Returns the trial, and the seconds of a core that it took."""
    rate = RATES[job]
    model, task, seconds = _ours(rate, TUNING_SEED)
    pairs = validation_pairs()
    written = translate_pairs(model, task, pairs)
    return tried(OURS, rate, bleu(written, [one.target for one in pairs])), seconds


def try_theirs(seconds: float, job: int) -> dict[str, Any]:
    """Train the row and rate of TRIALS[job] for so many seconds."""
    from tests.benchmarks import d2l_translators  # needs the package, so not before it is installed

    name, rate = TRIALS[job]
    model, task, _, _ = theirs("transformer", seconds, PAIRS, rate, changes=_changes(name))
    pairs = validation_pairs()
    written = d2l_translators.translate_pairs(model, task, pairs)
    return tried(name, rate, bleu(written, [one.target for one in pairs]))


def measure(rates: dict[str, float], seed: int) -> dict[str, Trial]:
    """Train and test ours with one seed, then every row for the same seconds."""
    from tests.benchmarks import d2l_translators

    model, task, seconds = _ours(rates[OURS], seed)
    translate = functools.partial(translate_pairs, model, task)
    pairs_seen = STEPS * PARALLEL.batch
    size = count_parameters(model)
    found = {OURS: trial(size, seconds, STEPS, pairs_seen, translate)}
    for name in CHANGES:
        other, task, spent, steps = theirs(
            "transformer", seconds, PAIRS, rates[name], seed, _changes(name)
        )
        translate = functools.partial(d2l_translators.translate_pairs, other, task)
        pairs_seen = steps * d2l_translators.BATCH
        found[name] = trial(count_parameters(other), spent, steps, pairs_seen, translate)
        say(table([row(f"{name}, seed {seed}", False, rates[name], [found[name]])]))
    return found


def _ours(rate: float, seed: int) -> Any:
    recipe = replace(PARALLEL, rate=rate)
    return trained(transformer, LANGUAGE, CLAUSES, STEPS, seed, recipe)


def _changes(name: str) -> Any:
    from tests.benchmarks import d2l_translators

    return d2l_translators.Changes(**dict.fromkeys(CHANGES[name], True))


if __name__ == "__main__":
    main()
