"""`make bench`: compare the course's recurrent translators with those of the `d2l` package.

`tests.benchmarks.ablation` does the same with the two Transformers, change by change.

All learn from the same English-French pairs in the same order, although the batches differ. Each
runs on one thread of the same machine and is tested on the same held-out sentences. Our translator
trains first. Theirs has about as many parameters, and trains with the same seed for the same
seconds of processor time. If it is faster, it continues with more pairs, so no pair is seen twice.
The learning rate of each of theirs is tuned beforehand on validation pairs, with a separate seed,
and every trial is recorded. `tests.benchmarks.d2l_translators` describes which parts are theirs.
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
"""Our translators, their training steps, and the settings of AdamW, as in chapters 1 and 2."""
THEIRS = {"bottleneck": "rnn", "attention": "bahdanau"}
"""The function of `tests.benchmarks.d2l_translators` that makes the translator of the same kind."""
JOBS = [(name, seed) for name in reversed(OURS) for seed in SEEDS]
"""Every comparison, the longest first; `compare` takes an index in this list."""
MOST_PAIRS = 3
"""The pairs that are drawn for theirs, as a multiple of the pairs that ours learns from."""
TUNING_SEED, VALIDATION_SEED, VALIDATION = 10, 1014, 200
"""The seed of the tuning runs, the seed of the validation pairs, and the number of these."""


@dataclass(frozen=True)
class Trial:
    """A training run with one seed. seconds: of processor time; pairs: seen, each of them once."""

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
    tuned = [trial for trials in over_seeds(tune, range(len(OURS)), workers=2) for trial in trials]
    rates = {name: best_rate(tuned, f"d2l {THEIRS[name]}") for name in OURS}
    run = functools.partial(compare, rates)
    results = dict(zip(JOBS, over_seeds(run, range(len(JOBS)), workers=2), strict=True))
    rows = []
    for name, (_, _, recipe) in OURS.items():
        ours, theirs = zip(*(results[name, seed] for seed in SEEDS), strict=True)
        rows += [
            row(name, True, recipe.rate, ours),
            row(f"d2l {THEIRS[name]}", False, rates[name], theirs),
        ]
    write(RESULT, rows, tuned)
    print(table(rows))


def write(path: Path, rows: Sequence[dict[str, Any]], trials: Sequence[dict[str, Any]]) -> None:
    """Write the measured rows, the machine and the date, and every trial of the tuning."""
    result = {**_where_and_when(), "command": "make bench", "rows": rows, "trials": trials}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['date']}, {result['machine']}, {result['versions']}")


def install() -> None:
    """Install the package into the build folder, without its dependencies."""
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
    """Try all rates for their translator number `job`, each for as long as ours takes."""
    from tests.benchmarks import d2l_translators  # works only after `install`

    name = list(OURS)[job]
    machine, steps, recipe = OURS[name]
    _, _, seconds = trained(machine, LANGUAGE, CLAUSES, steps, TUNING_SEED, recipe)
    kind = THEIRS[name]
    trials = []
    for rate in d2l_translators.RATES:
        model, task, _, _ = theirs(kind, seconds, MOST_PAIRS * steps * recipe.batch, rate)
        pairs = validation_pairs()
        written = d2l_translators.translate_pairs(model, task, pairs)
        quality = bleu(written, [pair.target for pair in pairs])
        trials.append(tried(f"d2l {kind}", rate, quality))
    return trials


def tried(name: str, rate: float, quality: float) -> dict[str, Any]:
    """Print a trial and return its JSON."""
    say(f"{name}, rate {rate:g}: BLEU {quality:.1f} on validation pairs")
    return {"name": name, "rate": rate, "bleu": round(quality, 4)}


def best_rate(trials: Sequence[dict[str, Any]], name: str) -> float:
    """Return the rate with the highest BLEU of those tried for `name`."""
    own = [trial for trial in trials if trial["name"] == name]
    return float(max(own, key=lambda trial: trial["bleu"])["rate"])


def validation_pairs() -> list[Pair]:
    """Return long pairs, drawn like the training pairs but with a seed that no training uses."""
    rng = np.random.default_rng(VALIDATION_SEED)
    pairs: list[Pair] = []
    while len(pairs) < VALIDATION:
        drawn = sample_pairs(LANGUAGE, 1000, rng, CLAUSES)
        pairs += [pair for pair in drawn if LONG[0] <= len(pair.source) <= LONG[1]]
    return pairs[:VALIDATION]


def compare(rates: dict[str, float], job: int) -> tuple[Trial, Trial]:
    """Train and test our translator of JOBS[job], then theirs of its kind for the same seconds.

    rates: the tuned rate of their translator, by the name of ours.
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
    """Train their translator of a kind. Returns it, its task, the seconds and the steps."""
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
    """Test the translations of `translate` on held-out pairs, long and short."""

    def on(lengths: tuple[int, int]) -> tuple[float, float]:
        pairs: Sequence[Pair] = held_out_pairs(LANGUAGE, lengths, 2 * SENTENCES, CLAUSES)
        written, references = translate(pairs), [pair.target for pair in pairs]
        return bleu(written, references), token_accuracy(written, references)

    (bleu_long, accuracy_long), (bleu_short, _) = on(LONG), on(SHORT)
    return Trial(parameters, seconds, steps, pairs_seen, bleu_long, accuracy_long, bleu_short)


def row(name: str, ours: bool, rate: float, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the JSON of a translator: each figure as a list with a number for each trial.

    trials: one for each seed.
    """
    each = [asdict(trial) for trial in trials]
    figures = {
        key: [round(values[key], 4) for values in each] for key in each[0] if key != "parameters"
    }
    size = trials[0].parameters
    return {"name": name, "ours": ours, "rate": rate, "parameters": size, **figures}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return `rows` as lines of text, with the mean and range of each figure over the seeds."""
    lines = [f"{'':16}{'parameters':>10}{'seconds':>9}{'steps':>7}   BLEU, long and short"]
    for line in rows:
        seconds, steps = (_mean(line[key]) for key in ("seconds", "steps"))
        long, short = (
            f"{_mean(line[key]):5.1f} ({min(line[key]):.1f} to {max(line[key]):.1f})"
            for key in ("bleu_long", "bleu_short")
        )
        name, size = line["name"], line["parameters"]
        lines.append(f"{name:16}{size:>10}{seconds:>9.0f}{steps:>7.0f}   {long}, {short}")
    return "\n".join(lines)


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)


if __name__ == "__main__":
    main()
