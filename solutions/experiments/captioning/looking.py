"""The experiments of chapter 3: captioners that look softly, hard, not at all, and with a memory.

All learn `FIRST` steps, and then `THEN` steps at another rate, on the same pictures in the same
order. The hard one begins with the soft one's parameters at the change.
`tests.benchmarks.captioning_rates` chose the rates on validation pictures.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...data.pictures import Picture, sample_pictures
from ...data.translation.vocabulary import PAD
from .captioner import WIDTH, Captioner, OneVector, drawn, strongest
from .captions import Caption, Quality, accuracy, caption, judge
from .hiding import HIDDEN, grown, kinds_right
from .learning import (
    Baseline,
    ByDraws,
    Softly,
    Stream,
    log_likelihood,
    log_probability,
    mean,
    rewards,
    together,
)

TEST, SHOWN = 500, 12
FIRST, THEN = 500, 400
FALL = 2 / 3
"""The share of its rate at which the first part ends, and the second begins."""
RATES = {"soft": 0.006, "stored": 0.006, "without": 0.003}
"""The rate of each captioner's first part, chosen on validation pictures."""
HARD_RATE = 0.002
"""The rate of the hard captioner, chosen likewise."""
DRAWS, TIMES = 20, 4
"""How often places are drawn to measure a variance, and how often that is done."""
FITTED = 20
"""The batches that the baseline sees before the first step of hard training."""


def gradient_variances(
    model: Captioner, baseline: Baseline, images: Tensor, targets: Tensor
) -> tuple[float, float]:
    """Return the variance of the gradient with the baseline, and without it.

    Places are drawn DRAWS times for the same pictures with the same parameters. The gradient is
    that of the parameters of the scores, and its variance is summed over them. Both gradients use
    the same draws.
    """
    model.eval()
    parameters = [*model.W_s.parameters(), *model.W_a.parameters(), *model.v.parameters()]
    gradients: list[list[Tensor]] = [[], []]
    real = targets[:, 1:] != PAD
    for _ in range(DRAWS):
        reading = model(images, targets[:, :-1], drawn)
        reward, chance = rewards(log_likelihood(reading, targets)), log_probability(reading)
        expected = baseline(reading.states)
        for kept, advantage in zip(gradients, (reward - expected, reward), strict=True):
            parts = torch.autograd.grad(
                mean(advantage * chance, real), parameters, retain_graph=True
            )
            kept.append(torch.cat([part.flatten() for part in parts]))
    model.train()
    with_baseline, without = (torch.stack(kept).var(dim=0).sum().item() for kept in gradients)
    return with_baseline, without


@dataclass(frozen=True)
class Run:
    """What one seed showed, on combinations that no training picture had.

    All after `FIRST` + `THEN` steps. strongest: the soft one, tested with the hard look. stored:
    the one that tells its state what it saw. without: accuracy of the one without attention.
    soft_seeing: localisation of `soft` as in its Quality, in boxes grown until they hold all places
    that see any of the shape. kinds: captioner -> the share of words for kinds that it says when
    what stands in HIDDEN is hidden. variances: steps of hard training -> with the baseline, without
    it. pictures: the first few of the test, with captions. parameters: of the captioner, and of
    that without attention. seconds: of the whole run.
    """

    soft: Quality
    strongest: Quality
    hard: Quality
    stored: Quality
    without: float
    soft_seeing: np.ndarray
    kinds: dict[str, dict[str, float]]
    variances: dict[int, tuple[float, float]]
    pictures: list[Picture]
    soft_captions: list[Caption]
    hard_captions: list[Caption]
    stored_captions: list[Caption]
    parameters: tuple[int, int]
    seconds: float


def begin(rates: Mapping[str, float], stream: Stream) -> dict[str, Captioner]:
    """Make the captioners that `rates` names, and let them learn `FIRST` steps."""
    made: dict[str, Captioner] = {
        "soft": Captioner(),
        "stored": Captioner(told=WIDTH),
        "without": OneVector(),
    }
    models = {name: made[name] for name in made if name in rates}
    learners = [Softly(model, rates[name], FIRST, FALL) for name, model in models.items()]
    together(learners, stream, FIRST)
    return models


def second_part(models: Mapping[str, Captioner], rates: Mapping[str, float]) -> list[Softly]:
    """Return those that take the captioners on for `THEN` steps."""
    return [Softly(model, FALL * rates[name], THEN) for name, model in models.items()]


def fitted(model: Captioner, stream: Stream) -> Baseline:
    """Return a baseline that has seen `FITTED` batches of draws; no parameter changes."""
    model, baseline = copy.deepcopy(model), Baseline()
    for _ in range(FITTED):
        baseline.see(model, *stream.batch())
    return baseline


def compare_looks(seed: int) -> Run:
    """Train all captioners of one seed, and test them."""
    start = time.perf_counter()
    torch.manual_seed(seed)
    stream = Stream(seed)
    test = sample_pictures(TEST, np.random.default_rng(2000 + seed), "test")
    images = [picture.image for picture in test]

    models = begin(RATES, stream)
    soft, stored, without = models.values()
    by_draws = ByDraws(copy.deepcopy(soft), fitted(soft, stream), HARD_RATE, THEN)
    learners = [*second_part(models, RATES), by_draws]
    variances = _go_on(learners, by_draws, stream)

    hard = by_draws.model
    for model in (*models.values(), hard):
        model.eval()
    kinds = {
        name: {what: kinds_right(model, test, what) for what in HIDDEN}
        for name, model in (("soft", soft), ("stored", stored))
    }
    soft_captions = caption(soft, images)
    hard_captions = caption(hard, images, strongest)
    stored_captions = caption(stored, images)
    return Run(
        soft=judge(test, soft_captions),
        strongest=judge(test, caption(soft, images, strongest)),
        hard=judge(test, hard_captions),
        stored=judge(test, stored_captions),
        without=accuracy(test, caption(without, images)),
        soft_seeing=judge(test, soft_captions, grown).localisation,
        kinds=kinds,
        variances=variances,
        pictures=test[:SHOWN],
        soft_captions=soft_captions[:SHOWN],
        hard_captions=hard_captions[:SHOWN],
        stored_captions=stored_captions[:SHOWN],
        parameters=(_count(soft), _count(without)),
        seconds=time.perf_counter() - start,
    )


def _go_on(
    learners: list[Softly], by_draws: ByDraws, stream: Stream
) -> dict[int, tuple[float, float]]:
    """Let all take `THEN` steps; return the variances of the hard one's gradient on the way."""
    probe, variances = stream.batch(), {}
    for part in range(TIMES + 1):
        done = part * THEN // TIMES
        variances[done] = gradient_variances(by_draws.model, by_draws.baseline, *probe)
        if done < THEN:
            together(learners, stream, THEN // TIMES)
    return variances


def _count(model: Captioner) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
