"""The first experiment of chapter 3: captioners with a soft look, a hard look, and no look.

All train on the same pictures in the same order, in two parts; the rate falls in the second part.
The hard captioner begins the second part with the soft captioner's parameters. Two budgets are
compared: `SHORT`, and `LONG`, whose curves hardly rise at their ends. The rates were chosen on
validation pictures with the short budget, by `tests.benchmarks.captioning_rates`. The one
without a look takes longest, so `tests.benchmarks.captioning_apart` trains it, and the page reads
its results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from ...data.pictures import Picture, sample_pictures
from ...data.translation import Split
from .baselines import Baseline, Linear
from .captioner import WIDTH, Captioner, Even, Look, OneVector, WholeView, softly, strongest
from .captions import Caption, Quality, accuracy, caption, judge
from .hiding import grown
from .learning import ByDraws, Softly, Stream, sampled, together
from .variance import gradient_variances


class Budget(NamedTuple):
    """The number of training steps in each of the two parts."""

    first: int
    then: int

    @property
    def steps(self) -> int:
        """Return the steps of both parts."""
        return self.first + self.then


SHORT, LONG = Budget(500, 400), Budget(2000, 1600)
EVERY = 400
"""The number of steps of `LONG` between two tests of a captioner."""
TEST, SHOWN = 500, 24
FALL = 2 / 3
"""The share of the rate at the end of the first part and the start of the second."""
RATES = {"soft": 0.006, "stored": 0.006, "without": 0.003}
"""The rate of each captioner's first part, chosen on validation pictures.

Those that are not named here differ from *soft* in one thing only, and have its rate.
"""
HARD_RATE = 0.01
"""The rate of the hard captioner, chosen in the same way."""
MEASURED = 4
"""How often the variance of the hard gradient is measured, besides once before the first step."""
FITTED = 20
"""The batches that a baseline sees before the first step of hard training.

They are pictures of their own, so that all captioners train on the same ones.
"""
BESIDE = 1000
"""Added to a seed: the stream of these pictures."""
MADE: dict[str, Callable[[], Captioner]] = {
    "soft": Captioner,
    "stored": lambda: Captioner(told=WIDTH),
    "without": OneVector,
    "even": Even,
    "whole": WholeView,
}
"""Name -> the function that makes a captioner. The state of *stored* receives all that it sees."""

Curve = dict[int, float]
"""Training steps -> share of right test captions."""


@dataclass(frozen=True)
class Attending:
    """The results of the captioners that attend for one seed, on combinations unseen in training.

    soft, hard: after `LONG`. strongest: the soft captioner, tested with the hard look. soft_seeing:
    the localisation of `soft` as in its Quality, but in boxes that are extended to contain all
    places that see any part of the shape. soft_curve, hard_curve: by training steps. variances:
    steps of hard training -> the variance of the gradient with and without the baseline. pictures:
    the first few test pictures, with captions. parameters: the number of parameters of a captioner.
    """

    soft: Quality
    strongest: Quality
    hard: Quality
    soft_seeing: np.ndarray
    soft_curve: Curve
    hard_curve: Curve
    variances: dict[int, tuple[float, float]]
    pictures: list[Picture]
    soft_captions: list[Caption]
    hard_captions: list[Caption]
    parameters: int
    soft_state: dict[str, np.ndarray]
    hard_state: dict[str, np.ndarray]


@dataclass(frozen=True)
class Unattending:
    """The results of the captioner without attention for one seed.

    curve: by training steps, on combinations unseen in training. short: the share of right captions
    after `SHORT`, in another run. known: the same on new pictures of combinations seen in training.
    """

    curve: Curve
    short: float
    known: float
    parameters: int


def pictures_for(seed: int, split: Split = "test") -> list[Picture]:
    """Return the test pictures for the captioners of one seed."""
    return sample_pictures(TEST, np.random.default_rng(2000 + seed), split)


def made(name: str, seed: int) -> Captioner:
    """Make a captioner of one seed."""
    torch.manual_seed(seed)
    return MADE[name]()


def begin(name: str, seed: int, rate: float, budget: Budget) -> tuple[Captioner, Stream]:
    """Make a captioner, and train the first part; return it and the rest of its pictures."""
    model, stream = made(name, seed), Stream(seed)
    together([Softly(model, rate, budget.first, FALL)], stream, budget.first)
    return model, stream


def second_part(model: Captioner, rate: float, budget: Budget) -> Softly:
    """Return the learner for the second part."""
    return Softly(model, FALL * rate, budget.then)


def fitted(model: Captioner, stream: Stream, baseline: Baseline) -> Baseline:
    """Show a baseline `FITTED` batches of draws, and return it; no parameter changes."""
    model = copy.deepcopy(model)
    for _ in range(FITTED):
        baseline.fit(*sampled(model, *stream.batch()))
    return baseline


def taught(names: Sequence[str], seed: int, budget: Budget = SHORT) -> list[Captioner]:
    """Return captioners of one seed, trained in both parts, in evaluation mode."""
    rates = [RATES.get(name, RATES["soft"]) for name in names]
    models, stream = [made(name, seed) for name in names], Stream(seed)
    pairs = list(zip(models, rates, strict=True))
    together([Softly(*pair, budget.first, FALL) for pair in pairs], stream, budget.first)
    together([second_part(*pair, budget) for pair in pairs], stream, budget.then)
    return [model.eval() for model in models]


def attend(seed: int) -> Attending:
    """Train the soft and the hard captioner of a seed for `LONG`, and test them."""
    test = pictures_for(seed)
    images = [picture.image for picture in test]
    soft, stream = made("soft", seed), Stream(seed)
    learners = [Softly(soft, RATES["soft"], LONG.first, FALL)]
    soft_curve = {}
    for done in range(EVERY, LONG.first + 1, EVERY):
        together(learners, stream, EVERY)
        soft_curve[done] = right(soft, test)
    beside = Stream(BESIDE + seed)
    by_draws = ByDraws(copy.deepcopy(soft), fitted(soft, beside, Linear()), HARD_RATE, LONG.then)
    hard, probe = by_draws.model, beside.batch()
    learners = [second_part(soft, RATES["soft"], LONG), by_draws]
    hard_curve = {LONG.first: right(hard, test, strongest)}
    variances = {}
    for done in range(0, LONG.then + 1, EVERY):
        if done % (LONG.then // MEASURED) == 0:
            variances[done] = gradient_variances(hard, by_draws.baseline, *probe)
        if done < LONG.then:
            together(learners, stream, EVERY)
            steps = LONG.first + done + EVERY
            soft_curve[steps] = right(soft, test)
            hard_curve[steps] = right(hard, test, strongest)
    for model in (soft, hard):
        model.eval()
    soft_captions, hard_captions = caption(soft, images), caption(hard, images, strongest)
    return Attending(
        soft=judge(test, soft_captions),
        strongest=judge(test, caption(soft, images, strongest)),
        hard=judge(test, hard_captions),
        soft_seeing=judge(test, soft_captions, grown).localisation,
        soft_curve=soft_curve,
        hard_curve=hard_curve,
        variances=variances,
        pictures=test[:SHOWN],
        soft_captions=soft_captions[:SHOWN],
        hard_captions=hard_captions[:SHOWN],
        parameters=_count(soft),
        soft_state=state_of(soft),
        hard_state=state_of(hard),
    )


def learn_without(seed: int) -> Unattending:
    """Train the captioner without attention for `LONG` and for `SHORT`, on the same pictures."""
    test, stream, rate = pictures_for(seed), Stream(seed), RATES["without"]
    model = made("without", seed)
    curve = {}
    learner = Softly(model, rate, LONG.first, FALL)
    for done in range(EVERY, LONG.steps + 1, EVERY):
        together([learner], stream, EVERY)
        curve[done] = right(model, test)
        if done == LONG.first:
            learner = second_part(model, rate, LONG)
    [other] = taught(["without"], seed)
    return Unattending(
        curve=curve,
        short=right(other, test),
        known=right(other, pictures_for(seed, "train")),
        parameters=_count(model),
    )


def as_row(result: Unattending) -> dict[str, Any]:
    """Return the results of a seed in the form in which `make bench` keeps them, for `from_row`."""
    return asdict(result) | {"curve": list(result.curve.items())}


def from_row(row: Mapping[str, Any]) -> Unattending:
    """Return the results of a seed from the row that `as_row` returned."""
    return Unattending(**row | {"curve": dict(row["curve"])})  # type: ignore[operator]  # JSON gives a dict


def right(model: Captioner, pictures: list[Picture], look: Look = softly) -> float:
    """Return the share of right captions; the model's mode is restored."""
    training = model.training
    said = caption(model.eval(), [picture.image for picture in pictures], look)
    model.train(training)
    return accuracy(pictures, said)


def state_of(model: Captioner) -> dict[str, np.ndarray]:
    """Return a captioner's weights by name."""
    return {name: one.numpy() for name, one in model.state_dict().items()}


def _count(model: Captioner) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
