"""`make bench`: train the machines of chapters 1 and 2 for longer, on other pairs, and otherwise.

This takes about forty minutes on two cores, which is too long for the pages that read the results.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from solutions.experiments.alignment import longer, scores
from solutions.experiments.context_bottleneck import more_training
from solutions.running.seeds import SEEDS
from tests.benchmarks.measured_file import write

MEASURED = Path("book/measured")


def keep(name: str, trainings: dict[str, Any]) -> None:
    """Write what the pages read: a training's name -> its results."""
    write(MEASURED / f"{name}.json", {"seeds": list(SEEDS), "trainings": trainings})


def main() -> None:
    """Train all, and write what chapters 1 and 2 read."""
    keep("training_or_width", more_training.measure_all())
    keep("alignment_scores", scores.measure_all())
    found = longer.measure_all()
    keep("alignment_longer", {name: [asdict(run) for run in found[name]] for name in found})


if __name__ == "__main__":
    main()
