"""`make bench`: train chapter 10's GPT and its modern form, each for a budget of its own.

A long training whose rate falls slowly says little about a short one: what a model reaches after
some steps depends on how far its rate has fallen by then. Here each budget is a training of its
own, whose rate falls to nearly 0 at its end, and budgets grow until one is no better. The best
budget of a model is the one with the lowest loss on the tuning text; what is compared are losses on
the validation text.

This takes about twenty minutes on two cores. Every run is kept in the build folder as soon as it is
done, so that a command that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from solutions.experiments.gpt_and_bert.language_model import mean_loss
from solutions.experiments.today.ablation import TODAY, VARIANTS, the_corpus, trained
from solutions.running.seeds import SEEDS, over_seeds
from tests.benchmarks.measured_file import write

RESULT = Path("book/measured/own_budgets.json")
RUNS = Path("_build/own_budgets")
BUDGETS = (500, 700, 1000, 1500, 2200, 3300, 4900)
"""The numbers of steps that may be tried; each is 1.4 to 1.5 times the one before."""
MODELS = {"gpt": next(iter(VARIANTS)), "today": TODAY}

Losses = dict[str, list[float]]
"""Text -> the loss of each seed."""
Job = tuple[str, int, int]
"""A model of MODELS, the number of steps, and a seed."""


def file(job: Job) -> Path:
    """Return where the result of a job is kept."""
    return RUNS / ("-".join(map(str, job)) + ".json")


def run(jobs: Sequence[Job], place: int) -> None:
    """Train as jobs[place] says, and keep the losses at the end."""
    name, steps, seed = jobs[place]
    model, curve = trained(MODELS[name], seed, steps)
    text = the_corpus()
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
    losses = {name: longer_until_no_better(name) for name in MODELS}
    result: dict[str, Any] = {
        "seeds": list(SEEDS),
        "losses": losses,
        "best": {name: best_of(found) for name, found in losses.items()},
    }
    write(RESULT, result)
    shutil.rmtree(RUNS)  # another day's code may give other losses
    for name, by_budget in losses.items():
        for steps, found in by_budget.items():
            print(f"{name:>5} {steps:>5}  ", *(f"{loss:.3f}" for loss in found["validation"]))


def longer_until_no_better(name: str) -> dict[int, Losses]:
    """Train a model for one of BUDGETS after the other, until one is no better than the best."""
    losses: dict[int, Losses] = {}
    for steps in BUDGETS:
        missing = [job for seed in SEEDS if not file(job := (name, steps, seed)).exists()]
        if missing:
            over_seeds(partial(run, missing), range(len(missing)))
        losses[steps] = by_seed(name, steps)
        if best_of(losses) != steps:
            break
    return losses


def best_of(losses: dict[int, Losses]) -> int:
    """Return the budget with the lowest mean loss on the tuning text."""
    return min(losses, key=lambda steps: float(np.mean(losses[steps]["tuning"])))


def by_seed(name: str, steps: int) -> Losses:
    """Return the kept losses, each a list of one number for each seed."""
    runs = [json.loads(file((name, steps, seed)).read_text("utf-8")) for seed in SEEDS]
    return {text: [one[text] for one in runs] for text in runs[0]}


if __name__ == "__main__":
    main()
