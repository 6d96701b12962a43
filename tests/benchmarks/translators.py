"""`make bench`: the course's recurrent translators beside those of the `d2l` package.

`tests.benchmarks.ablation` does the same with the two Transformers, change by change.

All learn from the same English-French pairs in the same order, but for their grouping in batches,
on one thread of the same cores, and are tested on the same held-out sentences. Ours trains first;
theirs, of about the same number of parameters, then has as many seconds of processor time with the
same seed. Where it is faster it goes on to further pairs: no pair is seen twice. Before that the
learning rate of each of theirs is tuned, with a seed of its own, on validation pairs; every trial
is recorded. See `tests.benchmarks.d2l_translators` for what is theirs.
"""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from solutions.data.translation import Pair, sample_pairs
from solutions.running.progress import say
from solutions.running.seeds import SEEDS, over_seeds
from solutions.translators.machines import (
    ATTENTION_STEPS,
    BOTTLENECK_STEPS,
    CLAUSES,
    LONG,
    SENTENCES,
    SHORT,
    attention,
    bottleneck,
    trained,
)
from solutions.translators.quality import bleu, held_out_pairs, token_accuracy, translate_pairs
from solutions.translators.quality_by_length import LANGUAGE
from solutions.translators.training import RECURRENT, Task, count_parameters, make_task

D2L = "1.0.3"
FOLDER = Path("_build/d2l")
RESULT = Path("book/measured/d2l.json")
OURS = {
    "bottleneck": (bottleneck, BOTTLENECK_STEPS, RECURRENT),
    "attention": (attention, ATTENTION_STEPS, RECURRENT),
}
"""Our machines, their steps of training, and AdamW's settings, as in chapters 1 and 2."""
THEIRS = {"bottleneck": "rnn", "attention": "bahdanau"}
"""The function of `tests.benchmarks.d2l_translators` that makes theirs of the same kind."""
JOBS = [(name, seed) for name in reversed(OURS) for seed in SEEDS]
"""Every comparison, the longest first; `compare` takes the place in this list."""
MOST_PAIRS = 3
"""Times as many pairs are drawn for theirs as ours learns from."""
TUNING_SEED, VALIDATION_SEED, VALIDATION = 10, 1014, 200
"""Of the trainings that tune a rate, and of the pairs, so many, that choose it."""


@dataclass(frozen=True)
class Trial:
    """One training with one seed. seconds: of a core; pairs: seen, each once."""

    parameters: int
    seconds: float
    steps: int
    pairs: int
    bleu_long: float
    token_accuracy_long: float
    bleu_short: float


def main() -> None:
    """Measure, print a table, and write it where chapter 9 reads it."""
    install()
    tuned = [one for trials in over_seeds(tune, range(len(OURS)), workers=2) for one in trials]
    rates = {name: best_rate(tuned, f"d2l {THEIRS[name]}") for name in OURS}
    run = functools.partial(compare, rates)
    found = dict(zip(JOBS, over_seeds(run, range(len(JOBS)), workers=2), strict=True))
    rows = []
    for name, (_, _, recipe) in OURS.items():
        ours, theirs = zip(*(found[name, seed] for seed in SEEDS), strict=True)
        rows += [
            row(name, True, recipe.rate, ours),
            row(f"d2l {THEIRS[name]}", False, rates[name], theirs),
        ]
    write(RESULT, rows, tuned)
    print(table(rows))


def write(path: Path, rows: Sequence[dict[str, Any]], trials: Sequence[dict[str, Any]]) -> None:
    """Write what was measured, where and when, and every trial of its tuning."""
    result = {**_where_and_when(), "command": "make bench", "rows": rows, "trials": trials}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['date']}, {result['machine']}, {result['versions']}")


def install() -> None:
    """Put the package into the build folder, without the versions of others that it asks for."""
    if not (FOLDER / f"d2l-{D2L}.dist-info").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet"]
        target = ["--disable-pip-version-check", "--target", str(FOLDER)]
        subprocess.run([*pip, *target, f"d2l=={D2L}"], check=True)


def _where_and_when() -> dict[str, Any]:
    versions = {name: importlib.metadata.version(name) for name in ("torch", "sacrebleu")}
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), "d2l": D2L, **versions},
    }


def tune(job: int) -> list[dict[str, Any]]:
    """Try the rates of theirs of the job-th kind, for as long as ours of the kind takes."""
    from tests.benchmarks import d2l_translators  # needs the package, so not before it is installed

    name = list(OURS)[job]
    machine, steps, recipe = OURS[name]
    _, _, seconds = trained(machine, LANGUAGE, CLAUSES, steps, TUNING_SEED, recipe)
    kind = THEIRS[name]
    trials = []
    for rate in d2l_translators.RATES:
        model, task, _, _ = theirs(kind, seconds, MOST_PAIRS * steps * recipe.batch, rate)
        pairs = validation_pairs()
        written = d2l_translators.translate_pairs(model, task, pairs)
        trials.append(tried(f"d2l {kind}", rate, bleu(written, [one.target for one in pairs])))
    return trials


def tried(name: str, rate: float, quality: float) -> dict[str, Any]:
    """Return the JSON of a trial, and tell it."""
    say(f"{name}, rate {rate:g}: BLEU {quality:.1f} on validation pairs")
    return {"name": name, "rate": rate, "bleu": round(quality, 4)}


def best_rate(trials: Sequence[dict[str, Any]], name: str) -> float:
    """Return the rate with the highest BLEU of those tried for `name`."""
    own = [one for one in trials if one["name"] == name]
    return float(max(own, key=lambda one: one["bleu"])["rate"])


def validation_pairs() -> list[Pair]:
    """Return long pairs, drawn like those of training but with a seed that no training has."""
    rng = np.random.default_rng(VALIDATION_SEED)
    found: list[Pair] = []
    while len(found) < VALIDATION:
        drawn = sample_pairs(LANGUAGE, 1000, rng, CLAUSES)
        found += [pair for pair in drawn if LONG[0] <= len(pair.source) <= LONG[1]]
    return found[:VALIDATION]


def compare(rates: dict[str, float], job: int) -> tuple[Trial, Trial]:
    """Train and test our machine of JOBS[job], then theirs of its kind for the same seconds.

    rates: the tuned rate of theirs, by the name of ours.
    """
    from tests.benchmarks import d2l_translators

    name, seed = JOBS[job]
    machine, steps, recipe = OURS[name]
    model, task, seconds = trained(machine, LANGUAGE, CLAUSES, steps, seed, recipe)
    translate = functools.partial(translate_pairs, model, task)
    ours = trial(count_parameters(model), seconds, steps, steps * recipe.batch, translate)
    most_pairs = MOST_PAIRS * steps * recipe.batch
    other, task, spent, their_steps = theirs(THEIRS[name], seconds, most_pairs, rates[name], seed)
    translate = functools.partial(d2l_translators.translate_pairs, other, task)
    size = count_parameters(other)
    their = trial(size, spent, their_steps, their_steps * d2l_translators.BATCH, translate)
    rows = [
        row(f"{name}, seed {seed}", True, recipe.rate, [ours]),
        row("d2l", False, rates[name], [their]),
    ]
    say(table(rows))
    return ours, their


def theirs(
    kind: str,
    seconds: float,
    most_pairs: int,
    rate: float,
    seed: int = TUNING_SEED,
    changes: Any = None,
) -> tuple[Any, Task, float, int]:
    """Train theirs of a kind. Returns it, its task, the seconds spent and the steps."""
    from tests.benchmarks import d2l_translators

    task = make_task(LANGUAGE, CLAUSES, most_pairs, seed)
    torch.manual_seed(seed)
    machine = getattr(d2l_translators, kind)
    if changes is not None:
        machine = functools.partial(machine, changes=changes)
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary))
    schedule = changes is not None and changes.schedule
    spent, steps = d2l_translators.train(model, task, seed, seconds, rate, schedule)
    return model, task, spent, steps


def trial(parameters: int, seconds: float, steps: int, pairs_seen: int, translate: Any) -> Trial:
    """Test what `translate` writes on held-out pairs, long and short."""

    def on(lengths: tuple[int, int]) -> tuple[float, float]:
        pairs: Sequence[Pair] = held_out_pairs(LANGUAGE, lengths, 2 * SENTENCES, CLAUSES)
        written, references = translate(pairs), [pair.target for pair in pairs]
        return bleu(written, references), token_accuracy(written, references)

    (bleu_long, accuracy_long), (bleu_short, _) = on(LONG), on(SHORT)
    return Trial(parameters, seconds, steps, pairs_seen, bleu_long, accuracy_long, bleu_short)


def row(name: str, ours: bool, rate: float, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the JSON of a machine's `trials`, one a seed: a list for each figure."""
    each = [asdict(trial) for trial in trials]
    figures = {key: [round(one[key], 4) for one in each] for key in each[0] if key != "parameters"}
    size = trials[0].parameters
    return {"name": name, "ours": ours, "rate": rate, "parameters": size, **figures}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return `rows` as lines of text, each figure as the mean of the seeds and its range."""
    lines = [f"{'':16}{'parameters':>10}{'seconds':>9}{'steps':>7}   BLEU, long and short"]
    for one in rows:
        seconds, steps = (_mean(one[key]) for key in ("seconds", "steps"))
        long, short = (
            f"{_mean(one[key]):5.1f} ({min(one[key]):.1f} to {max(one[key]):.1f})"
            for key in ("bleu_long", "bleu_short")
        )
        name, size = one["name"], one["parameters"]
        lines.append(f"{name:16}{size:>10}{seconds:>9.0f}{steps:>7.0f}   {long}, {short}")
    return "\n".join(lines)


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)


if __name__ == "__main__":
    main()
