"""The experiments of chapter 3: a captioner that looks softly, and one that looks hard.

The soft captioner is trained by backpropagation. The hard one takes over its parameters early and
goes on with draws: with the score-function estimator of Williams (1992) and a baseline, as in Xu et
al. (2015).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...data.pictures import Picture, make_batch, sample_pictures
from ...data.translation.vocabulary import PAD
from .captioner import (
    D_STATE,
    Caption,
    Captioner,
    Quality,
    Reading,
    caption,
    drawn,
    judge,
    strongest,
)

TEST, SHOWN = 500, 12
BATCH = 32
STEPS, RATE, WARM_UP = 1600, 0.015, 50
SWITCH = 500
"""After so many of the steps the hard captioner takes over the soft one's parameters."""
HARD_STEPS, HARD_RATE = 400, 0.01
KEPT = 0.95
"""How much an older batch counts in the baseline's fit, against the one after it."""
DRAWS, TIMES = 20, 4
"""How often places are drawn to measure a variance, and how often that is done."""


class Training:
    """The pictures of one seed, none of which comes twice, and the two ways to learn from them."""

    def __init__(self, seed: int) -> None:
        """Begin the stream of pictures."""
        self.rng = np.random.default_rng(5000 + seed)

    def batch(self) -> tuple[Tensor, Tensor]:
        """Draw new pictures: images (B, 3, 48, 48) and targets (B, m + 2)."""
        batch = make_batch(sample_pictures(BATCH, self.rng))
        return torch.from_numpy(batch.images), torch.from_numpy(batch.targets)

    def soft(self, model: Captioner, steps: int) -> Iterator[int]:
        """Train by backpropagation through the soft look; yields the number of steps done."""
        optimiser, schedule = _optimiser(model, RATE, steps)
        for step in range(steps):
            yield step
            images, targets = self.batch()
            reading = model(images, targets[:, :-1])
            loss = -_mean(log_likelihood(reading, targets), targets[:, 1:] != PAD)
            _step(loss, optimiser, schedule, model)

    def hard(self, model: Captioner, baseline: Baseline, steps: int) -> Iterator[int]:
        """Train by draws against a baseline; yields the number of steps done."""
        optimiser, schedule = _optimiser(model, HARD_RATE, steps)
        for step in range(steps):
            yield step
            images, targets = self.batch()
            reading = model(images, targets[:, :-1], drawn)
            said, real = log_likelihood(reading, targets), targets[:, 1:] != PAD
            advantage = rewards(said) - baseline(reading.states)  # (B, m), no gradient
            loss = -_mean(said + advantage * log_probability(reading), real)
            _step(loss, optimiser, schedule, model)
            baseline.fit(reading.states[real], rewards(said)[real])
        yield steps


class Baseline:
    """A linear function of the decoder's state that fits the rewards of recent draws best."""

    def __init__(self) -> None:
        """Expect nothing yet."""
        self.square = torch.eye(D_STATE + 1) / 100
        self.product = torch.zeros(D_STATE + 1)
        self.solution = torch.zeros(D_STATE + 1)

    @torch.no_grad()
    def fit(self, states: Tensor, rewards: Tensor) -> None:
        """Add N draws to the fit, which is one of least squares. states: (N, d). rewards: (N,)."""
        table = torch.cat([states, torch.ones(len(states), 1)], dim=-1)  # (N, d + 1)
        self.square = KEPT * self.square + table.T @ table
        self.product = KEPT * self.product + table.T @ rewards
        self.solution = torch.linalg.solve(self.square, self.product)

    @torch.no_grad()
    def see(self, model: Captioner, images: Tensor, targets: Tensor) -> None:
        """Draw places for some pictures and add them to the fit; no parameter changes."""
        reading, real = model(images, targets[:, :-1], drawn), targets[:, 1:] != PAD
        self.fit(reading.states[real], rewards(log_likelihood(reading, targets))[real])

    @torch.no_grad()
    def __call__(self, states: Tensor) -> Tensor:
        """Return the rewards (...) to be expected in the states (..., d)."""
        return states @ self.solution[:-1] + self.solution[-1]


def log_likelihood(reading: Reading, targets: Tensor) -> Tensor:
    """Return (B, m): the log probability of each true word; 0 at padding."""
    losses = F.cross_entropy(
        reading.logits.transpose(1, 2), targets[:, 1:], ignore_index=PAD, reduction="none"
    )
    return -losses


def rewards(said: Tensor) -> Tensor:
    """Return (B, m): what a look brings, the log probability of its word and of all after it."""
    return said.detach().flip(1).cumsum(dim=1).flip(1)


def log_probability(reading: Reading) -> Tensor:
    """Return (B, m): the log probability of the places that were drawn."""
    return (reading.weights * reading.shares).sum(dim=-1).clamp_min(1e-9).log()


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
                _mean(advantage * chance, real), parameters, retain_graph=True
            )
            kept.append(torch.cat([part.flatten() for part in parts]))
    model.train()
    with_baseline, without = (torch.stack(kept).var(dim=0).sum().item() for kept in gradients)
    return with_baseline, without


@dataclass(frozen=True)
class Run:
    """What one seed showed.

    variances: steps of hard training -> with the baseline, without it. pictures: the first few of
    the test, with the captions of both. seconds: of the whole run.
    """

    soft: Quality
    hard: Quality
    variances: dict[int, tuple[float, float]]
    pictures: list[Picture]
    soft_captions: list[Caption]
    hard_captions: list[Caption]
    seconds: float
    parameters: int


def compare_looks(seed: int) -> Run:
    """Train softly, go on hard, and test both on combinations that no training picture had."""
    start = time.perf_counter()
    torch.manual_seed(seed)
    training = Training(seed)
    test = sample_pictures(TEST, np.random.default_rng(2000 + seed), "test")
    images = [picture.image for picture in test]

    model = hard_model = Captioner()
    for step in training.soft(model, STEPS):
        if step == SWITCH:
            hard_model = copy.deepcopy(model)
    soft_captions = caption(model.eval(), images)

    probe, baseline, variances = training.batch(), Baseline(), {}
    for _ in range(20):
        baseline.see(hard_model, *training.batch())
    for step in training.hard(hard_model, baseline, HARD_STEPS):
        if step % (HARD_STEPS // TIMES) == 0:
            variances[step] = gradient_variances(hard_model, baseline, *probe)
    hard_captions = caption(hard_model.eval(), images, strongest)
    return Run(
        judge(test, soft_captions),
        judge(test, hard_captions),
        variances,
        test[:SHOWN],
        soft_captions[:SHOWN],
        hard_captions[:SHOWN],
        time.perf_counter() - start,
        sum(parameter.numel() for parameter in model.parameters()),
    )


def _optimiser(
    model: nn.Module, rate: float, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """AdamW; the rate rises for `WARM_UP` steps and then falls towards 0."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    rise = torch.optim.lr_scheduler.LinearLR(optimiser, 1 / WARM_UP, 1.0, WARM_UP)
    fall = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.02, steps - WARM_UP)
    return optimiser, torch.optim.lr_scheduler.SequentialLR(optimiser, [rise, fall], [WARM_UP])


def _step(
    loss: Tensor,
    optimiser: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    model: nn.Module,
) -> None:
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    schedule.step()


def _mean(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum() / where.sum()
