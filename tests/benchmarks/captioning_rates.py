"""`make bench`: choose the learning rates of chapter 3's captioners, and record every trial.

Each captioner is trained as in the chapter, but at four rates, with a seed that is used for nothing
else. The rate with the most correct captions on validation pictures is the rate of the chapter.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from solutions.data.pictures import sample_pictures
from solutions.experiments.captioning.baselines import Linear
from solutions.experiments.captioning.captioner import Captioner, Look, softly, strongest
from solutions.experiments.captioning.captions import accuracy, caption
from solutions.experiments.captioning.learning import ByDraws, Stream, together
from solutions.experiments.captioning.looking import (
    BESIDE,
    FALL,
    RATES,
    SHORT,
    begin,
    fitted,
    second_part,
)
from solutions.running.seeds import over_seeds
from tests.benchmarks.measured_file import write

RESULT = Path("book/measured/captioning_rates.json")
TRIED = (0.003, 0.006, 0.015, 0.03)
"""The learning rates at the start of the first part. The second part starts at `FALL` of these."""
PLACES = range(len(TRIED))
SEED = 3
VALIDATION = 500
"""The number of validation pictures. They show combinations of the training set, none of a test."""
HARD = "hard"


@dataclass(frozen=True)
class Trial:
    """A captioner at one rate.

    rate: the learning rate at its first step; accuracy: the share of correct captions.
    """

    captioner: str
    rate: float
    accuracy: float


def main() -> None:
    """Measure, print all trials, and write them where the appendix of chapter 3 reads them."""
    trials = [trial for by_captioner in over_seeds(try_rate, PLACES) for trial in by_captioner]
    hard = partial(try_hard, best(trials)["soft"])
    trials += over_seeds(hard, PLACES)
    result = {
        "trials": [asdict(trial) for trial in trials],
    }
    write(RESULT, result)
    for trial in trials:
        print(f"{trial.captioner:>8}  {trial.rate:<6}  {trial.accuracy:.3f}")


def try_rate(place: int) -> list[Trial]:
    """Train all captioners except the hard one at the rate TRIED[place]."""
    rate, trials = TRIED[place], []
    for name in RATES:
        model, stream = begin(name, SEED, rate, SHORT)
        together([second_part(model, rate, SHORT)], stream, SHORT.then)
        trials.append(Trial(name, rate, captions_right(model)))
    return trials


def try_hard(soft_rate: float, place: int) -> Trial:
    """Train the hard captioner at a rate, starting from the first part of the soft one."""
    rate = round(FALL * TRIED[place], 6)
    soft, stream = begin("soft", SEED, soft_rate, SHORT)
    baseline = fitted(soft, Stream(BESIDE + SEED), Linear())
    learner = ByDraws(copy.deepcopy(soft), baseline, rate, SHORT.then)
    together([learner], stream, SHORT.then)
    return Trial(HARD, rate, captions_right(learner.model, strongest))


def captions_right(model: Captioner, look: Look = softly) -> float:
    """Return the share of validation pictures whose whole caption is correct."""
    pictures = sample_pictures(VALIDATION, np.random.default_rng(9000 + SEED))
    model.eval()
    images = [picture.image for picture in pictures]
    return accuracy(pictures, caption(model, images, look))


def best(trials: Sequence[Trial]) -> dict[str, float]:
    """Return the rate with the most correct captions for each captioner; in a tie, the lower."""
    chosen: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.rate):
        name = trial.captioner
        if name not in chosen or trial.accuracy > chosen[name].accuracy:
            chosen[name] = trial
    return {name: trial.rate for name, trial in chosen.items()}


if __name__ == "__main__":
    main()
