"""`make bench`: train chapter 10's GPT with QK-norm, and with experts, for chapter 12.

This takes about ten minutes on two cores, which is too long for the pages that read the result.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from solutions.experiments.gpt_and_bert.language_model import STEPS
from solutions.experiments.today.newer import CHOSEN, N_EXPERTS, NAMES, NUDGE, train
from solutions.running.seeds import SEEDS, over_seeds

RESULT = Path("book/measured/today_newer.json")
RUNS = Path("_build/newer_pieces")


def run(jobs: Sequence[tuple[str, int]], place: int) -> None:
    """Train as jobs[place] says, and keep the result."""
    name, seed = jobs[place]
    file(name, seed).write_text(json.dumps(asdict(train(name, seed))), encoding="utf-8")


def file(name: str, seed: int) -> Path:
    """Return where the result is kept."""
    return RUNS / f"{name.replace(' ', '_')}-{seed}.json"


def main() -> None:
    """Train what has not been trained, and write what the page reads."""
    RUNS.mkdir(parents=True, exist_ok=True)
    jobs = [(name, seed) for name in NAMES for seed in SEEDS]
    missing = [job for job in jobs if not file(*job).exists()]
    if missing:
        over_seeds(partial(run, missing), range(len(missing)), workers=2)
    runs = {
        name: [json.loads(file(name, seed).read_text(encoding="utf-8")) for seed in SEEDS]
        for name in NAMES
    }
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
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
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, one in result["models"].items():
        print(f"{name}: {one['losses']}, {one['active']:,} of {one['parameters']:,} active")


if __name__ == "__main__":
    main()
