"""`make bench`: run the experiments of chapter 3 that are too long for its two pages.

For the chapter, captioners learn from draws with three baselines at two rates each, and one without
attention learns for both budgets. For the appendix, one that sees all places equally learns for the
long budget, and one whose places see the whole picture for the short one. All compute with the
settings of the pages, and so give the numbers that they would give there. This takes about ten
minutes on two cores.
"""

from __future__ import annotations

import os
from pathlib import Path

from solutions.experiments.captioning import looking, remembering, worth
from solutions.running.arithmetic import SAME_EVERYWHERE
from solutions.running.seeds import SEEDS, over_seeds
from tests.benchmarks.measured_file import write

BASELINES = Path("book/measured/captioning_baselines.json")
ONE_VECTOR = Path("book/measured/captioning_one_vector.json")
CONTROLS = Path("book/measured/captioning_controls.json")


def main() -> None:
    """Run them, and write what the chapter and its appendix read."""
    os.environ.update(SAME_EVERYWHERE)  # the processes that train import NumPy and torch anew
    learned = over_seeds(worth.learn_by_draws, workers=len(SEEDS))
    write(BASELINES, {"seeds": list(SEEDS), "arms": worth.as_rows(learned)})
    without = over_seeds(looking.learn_without, workers=len(SEEDS))
    write(ONE_VECTOR, {"seeds": list(SEEDS), "runs": [looking.as_row(run) for run in without]})
    asked = remembering.ask_all(remembering.APART)
    write(CONTROLS, {"runs": [remembering.as_row(*pair) for pair in asked.items()]})


if __name__ == "__main__":
    main()
