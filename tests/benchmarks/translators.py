"""`make bench`: the course's three translators beside those of the `d2l` package.

All learn from the same English-French pairs in the same order, but for their grouping in batches,
on one thread of the same cores, and are tested on the same held-out sentences. Ours trains first;
theirs, of about the same number of parameters, then has as many seconds of processor time with the
same seed. Where it is faster it goes on to further pairs: no pair is seen twice. See
`tests.benchmarks.d2l_translators` for what is theirs.
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

import torch

from solutions.data.translation import Pair
from solutions.running.progress import say
from solutions.running.seeds import SEEDS, over_seeds
from solutions.translators.machines import (
    ATTENTION_STEPS,
    CLAUSES,
    LONG,
    SENTENCES,
    SHORT,
    TRANSFORMER_STEPS,
    attention,
    bottleneck,
    trained,
    transformer,
)
from solutions.translators.quality import bleu, held_out_pairs, token_accuracy, translate_pairs
from solutions.translators.quality_by_length import LANGUAGE
from solutions.translators.training import PARALLEL, RECURRENT, count_parameters, make_task

D2L = "1.0.3"
FOLDER = Path("_build/d2l")
RESULT = Path("book/measured/d2l.json")
OURS = {
    "bottleneck": (bottleneck, 2100, RECURRENT),
    "attention": (attention, ATTENTION_STEPS, RECURRENT),
    "transformer": (transformer, TRANSFORMER_STEPS, PARALLEL),
}
"""Our machines, their steps of training, and AdamW's settings, as in chapters 2 and 9.

The bottleneck has more steps than in chapter 1, so that all three train for about as long.
"""
THEIRS = {"bottleneck": "rnn", "attention": "bahdanau", "transformer": "transformer"}
"""The function of `tests.benchmarks.d2l_translators` that makes theirs of the same kind."""
JOBS = [(name, seed) for name in reversed(OURS) for seed in SEEDS]
"""Every comparison, the longest first; `compare` takes the place in this list."""
MOST_PAIRS = 3
"""Times as many pairs are drawn for theirs as ours learns from."""


@dataclass(frozen=True)
class Trial:
    """One training with one seed. seconds: of a core."""

    parameters: int
    seconds: float
    steps: int
    bleu_long: float
    token_accuracy_long: float
    bleu_short: float


def main() -> None:
    """Measure, print a table, and write it where chapter 9 reads it."""
    _install()
    trials = dict(zip(JOBS, over_seeds(compare, range(len(JOBS)), workers=2), strict=True))
    rows = []
    for name in OURS:
        ours, theirs = zip(*(trials[name, seed] for seed in SEEDS), strict=True)
        rows += [row(name, True, ours), row(f"d2l {THEIRS[name]}", False, theirs)]
    result = {**_where_and_when(), "command": "make bench", "rows": rows}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['date']}, {result['machine']}, {result['versions']}")
    print(table(rows))


def _install() -> None:
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


def compare(job: int) -> tuple[Trial, Trial]:
    """Train and test our machine of JOBS[job], then theirs of its kind for the same seconds."""
    name, seed = JOBS[job]
    machine, steps, recipe = OURS[name]
    model, task, seconds = trained(machine, LANGUAGE, CLAUSES, steps, seed, recipe)
    translate = functools.partial(translate_pairs, model, task)
    ours = _trial(count_parameters(model), seconds, steps, translate)
    theirs = _theirs(THEIRS[name], seconds, MOST_PAIRS * steps * recipe.batch, seed)
    say(table([row(f"{name}, seed {seed}", True, [ours]), row("d2l", False, [theirs])]))
    return ours, theirs


def _theirs(name: str, seconds: float, most_pairs: int, seed: int) -> Trial:
    from tests.benchmarks import d2l_translators  # needs the package, so not before it is installed

    task = make_task(LANGUAGE, CLAUSES, most_pairs, seed)
    torch.manual_seed(seed)
    machine = getattr(d2l_translators, name)
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary))
    seconds, steps = d2l_translators.train(model, task, seed, seconds)
    translate = functools.partial(d2l_translators.translate_pairs, model, task)
    return _trial(count_parameters(model), seconds, steps, translate)


def _trial(parameters: int, seconds: float, steps: int, translate: Any) -> Trial:
    def on(lengths: tuple[int, int]) -> tuple[float, float]:
        pairs: Sequence[Pair] = held_out_pairs(LANGUAGE, lengths, 2 * SENTENCES, CLAUSES)
        written, references = translate(pairs), [pair.target for pair in pairs]
        return bleu(written, references), token_accuracy(written, references)

    (bleu_long, accuracy_long), (bleu_short, _) = on(LONG), on(SHORT)
    return Trial(parameters, seconds, steps, bleu_long, accuracy_long, bleu_short)


def row(name: str, ours: bool, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the JSON of a machine's `trials`, one a seed: a list for each figure."""
    each = [asdict(trial) for trial in trials]
    figures = {key: [round(one[key], 4) for one in each] for key in each[0] if key != "parameters"}
    return {"name": name, "ours": ours, "parameters": trials[0].parameters, **figures}


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
