"""`make bench`: train the machines of chapters 1 and 2 for longer, on other pairs, and otherwise.

This takes about forty minutes on two cores, which is too long for the pages that read the results.
"""

from __future__ import annotations

import datetime
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from solutions.experiments.alignment import longer, scores
from solutions.experiments.context_bottleneck import more_training
from solutions.running.seeds import SEEDS

MEASURED = Path("book/measured")


def write(name: str, trainings: dict[str, Any]) -> None:
    """Write what the pages read: a training's name -> its results."""
    result = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
        "seeds": list(SEEDS),
        "trainings": trainings,
    }
    text = json.dumps(result, indent=1) + "\n"
    (MEASURED / f"{name}.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Train all, and write what chapters 1 and 2 read."""
    write("training_or_width", more_training.measure_all())
    write("alignment_scores", scores.measure_all())
    found = longer.measure_all()
    write("alignment_longer", {name: [asdict(run) for run in found[name]] for name in found})


if __name__ == "__main__":
    main()
