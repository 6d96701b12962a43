"""Train chapter 10's GPT and its modernised form for five budgets, each with its own falling rate.

A long training whose rate falls slowly says little about a short one: what a model reaches after
some steps depends on how far its rate has fallen by then. Here each budget is a training of its
own, whose rate falls to nearly 0 at its end. The best budget of a model is the one with the lowest
loss on the tuning text; what is compared are losses on the validation text.

Every run is kept in the build folder as soon as it is done, so that a command that was interrupted
goes on where it stopped. This takes about 75 minutes on two cores, so it is not a part of
`make bench`: `python -m tests.benchmarks.own_budgets`.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from solutions.experiments.gpt_and_bert.language_model import (
    CONTEXT,
    RATE,
    SIZES,
    begin_small,
    fit,
    mean_loss,
)
from solutions.experiments.today.ablation import TODAY, VARIANTS, the_corpus
from solutions.experiments.today.pieces import Model
from solutions.running.seeds import SEEDS, over_seeds

RESULT = Path("book/measured/own_budgets.json")
RUNS = Path("_build/own_budgets")
BUDGETS = (500, 700, 1000, 1500, 2200)
"""The numbers of steps; each is 1.4 to 1.5 times the one before."""
MODELS = {"gpt": next(iter(VARIANTS)), "today": TODAY}

Job = tuple[str, int, int]
"""A model of MODELS, the number of steps, and a seed."""


def file(job: Job) -> Path:
    """Return where the result of a job is kept."""
    return RUNS / ("-".join(map(str, job)) + ".json")


def run(jobs: Sequence[Job], place: int) -> None:
    """Train as jobs[place] says, on the batches of `ablate`, and keep the losses at the end."""
    name, steps, seed = jobs[place]
    text = the_corpus()
    torch.manual_seed(seed)
    sizes = {key: SIZES[key] for key in ("d_model", "n_heads", "n_layers")}
    pieces = VARIANTS[MODELS[name]]
    model = Model(len(text.tokens.pieces), **sizes, max_len=CONTEXT, pieces=pieces)
    begin_small(model.blocks)
    torch.manual_seed(seed)
    curve = fit(model, text, steps, RATE)
    result = {
        "training": curve[-1][1],
        "tuning": mean_loss(model, text.tuning),
        "validation": mean_loss(model, text.validation),
    }
    file(jobs[place]).write_text(json.dumps(result), encoding="utf-8")
    print(name, steps, seed, result, flush=True)


def main() -> None:
    """Train what has not been trained, and write the losses by model, budget and seed."""
    RUNS.mkdir(parents=True, exist_ok=True)
    jobs = [(model, steps, seed) for steps in BUDGETS for model in MODELS for seed in SEEDS]
    missing = [job for job in jobs if not file(job).exists()]
    if missing:
        over_seeds(partial(run, missing), range(len(missing)), workers=2)
    losses = {name: {steps: by_seed(name, steps) for steps in BUDGETS} for name in MODELS}
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "python -m tests.benchmarks.own_budgets",
        "seeds": list(SEEDS),
        "losses": losses,
        "best": {
            name: min(found, key=lambda steps: float(np.mean(found[steps]["tuning"])))
            for name, found in losses.items()
        },
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, by_budget in losses.items():
        for steps, found in by_budget.items():
            print(f"{name:>5} {steps:>5}  ", *(f"{loss:.3f}" for loss in found["validation"]))


def by_seed(name: str, steps: int) -> dict[str, list[float]]:
    """Return the kept losses, each a list of one number for each seed."""
    runs = [json.loads(file((name, steps, seed)).read_text("utf-8")) for seed in SEEDS]
    return {text: [one[text] for one in runs] for text in runs[0]}


if __name__ == "__main__":
    main()
