"""`make bench`: try settings for chapter 10's GPT, and record every trial.

Each trial is a short run of the chapter's training, with a seed that is used for nothing else. It
is scored on the tuning text, on which the chapter reports nothing.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from solutions.experiments.gpt_and_bert import language_model
from solutions.experiments.gpt_and_bert.run import the_corpus
from solutions.running.seeds import over_seeds

RESULT = Path("book/measured/language_model.json")
TRIED = ((4e-3, 1.0), (2e-3, 0.1), (4e-3, 0.1), (8e-3, 0.1))
"""A learning rate, and a factor for the initial values of `W_o` and `W_2`."""
SEED, STEPS = 3, 300


@dataclass(frozen=True)
class Trial:
    """A rate, an initial scale, and the loss in nats per token on the tuning text after STEPS."""

    rate: float
    first_scale: float
    loss: float


def main() -> None:
    """Measure, print all trials, and write them where the appendix of chapter 10 reads them."""
    trials = over_seeds(try_settings, range(len(TRIED)))
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version()},
        "command": "make bench",
        "steps": STEPS,
        "trials": [asdict(trial) for trial in trials],
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    for trial in trials:
        print(f"rate {trial.rate:<6} first scale {trial.first_scale:<4} {trial.loss:.3f}")


def try_settings(place: int) -> Trial:
    """Train with the settings TRIED[place]."""
    rate, scale = TRIED[place]
    text = the_corpus()
    trained = language_model.train(SEED, text, STEPS, rate, scale)
    return Trial(rate, scale, language_model.mean_loss(trained.model, text.tuning))


if __name__ == "__main__":
    main()
