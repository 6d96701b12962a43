"""`make bench`: train chapter 10's GPT with QK-norm, and with experts, for chapter 12.

QK-norm is meant for trainings in which scores run away, so it and the GPT are also trained at a
rate that is too high for both. All takes about twelve minutes on two cores, which is too long for
the pages that read the result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from solutions.experiments.gpt_and_bert.language_model import RATE, STEPS
from solutions.experiments.today.newer import (
    CHOSEN,
    GPT,
    N_EXPERTS,
    NAMES,
    NUDGE,
    QK_NORM,
    train,
)
from solutions.running.seeds import SEEDS, over_seeds
from tests.benchmarks.measured_file import write

RESULT = Path("book/measured/today_newer.json")
RUNS = Path("_build/newer_pieces")
TIMES = 10
"""The factor of the rate that is too high."""

Job = tuple[str, int, int]
"""A model's name, the factor of the rate, and a seed."""


def run(jobs: Sequence[Job], place: int) -> None:
    """Train as jobs[place] says, and keep the result."""
    name, times, seed = jobs[place]
    found = train(name, seed, rate=times * RATE)
    file(jobs[place]).write_text(json.dumps(asdict(found)), encoding="utf-8")


def file(job: Job) -> Path:
    """Return where the result of a job is kept."""
    return RUNS / ("-".join(map(str, job)).replace(" ", "_") + ".json")


def kept(name: str, times: int) -> list[dict[str, Any]]:
    """Return the results of a model at a rate, one a seed."""
    return [json.loads(file((name, times, seed)).read_text(encoding="utf-8")) for seed in SEEDS]


def main() -> None:
    """Train what has not been trained, and write what the page reads."""
    RUNS.mkdir(parents=True, exist_ok=True)
    usual, high = [(name, 1) for name in NAMES], [(name, TIMES) for name in (GPT, QK_NORM)]
    jobs = [(*one, seed) for one in (*usual, *high) for seed in SEEDS]
    missing = [job for job in jobs if not file(job).exists()]
    if missing:
        over_seeds(partial(run, missing), range(len(missing)), workers=2)
    runs = {name: kept(name, 1) for name in NAMES}
    result: dict[str, Any] = {
        "seeds": list(SEEDS),
        "steps": STEPS,
        "experts": N_EXPERTS,
        "chosen": CHOSEN,
        "nudge": NUDGE,
        "models": {
            name: {
                "losses": [one["loss"] for one in found],
                "parameters": found[0]["parameters"],
                "active": found[0]["active"],
                "loads": [one["loads"] for one in found],
            }
            for name, found in runs.items()
        },
        "times_the_rate": TIMES,
        "losses_at_the_high_rate": {
            name: [one["loss"] for one in kept(name, TIMES)] for name, _ in high
        },
    }
    write(RESULT, result)
    for name, one in result["models"].items():
        print(f"{name}: {one['losses']}, {one['active']:,} of {one['parameters']:,} active")
    print(f"at {TIMES} times the rate: {result['losses_at_the_high_rate']}")


if __name__ == "__main__":
    main()
