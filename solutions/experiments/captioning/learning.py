"""Train captioners: soft looks by backpropagation, hard looks by draws with a baseline.

The estimator for draws is that of Williams (1992), the baseline as in Xu et al. (2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...data.pictures import make_batch, sample_pictures
from ...data.translation.vocabulary import PAD
from .baselines import Baseline
from .captioner import Captioner, Reading, drawn

BATCH = 32
WARM_UP = 50
CLIP = 1.0
"""The largest norm of a gradient, over all parameters."""


class Stream:
    """The training pictures of one seed; each occurs once."""

    def __init__(self, seed: int) -> None:
        """Begin the stream."""
        self.rng = np.random.default_rng(5000 + seed)

    def batch(self) -> tuple[Tensor, Tensor]:
        """Draw new pictures: images (B, 3, 48, 48) and targets (B, m + 2)."""
        batch = make_batch(sample_pictures(BATCH, self.rng))
        return torch.from_numpy(batch.images), torch.from_numpy(batch.targets)


class Softly:
    """Trains by backpropagation through the soft look.

    The optimiser is AdamW. The rate rises to `rate` for `WARM_UP` steps, and falls to `end` times
    `rate` at the last of `steps`.
    """

    def __init__(self, model: Captioner, rate: float, steps: int, end: float = 0.02) -> None:
        """Begin `steps` steps with a new optimiser."""
        self.model = model
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
        scheduler = torch.optim.lr_scheduler
        rise = scheduler.LinearLR(self.optimiser, 1 / WARM_UP, 1.0, WARM_UP)
        fall = scheduler.LinearLR(self.optimiser, 1.0, end, steps - WARM_UP)
        self.schedule = scheduler.SequentialLR(self.optimiser, [rise, fall], [WARM_UP])

    def learn(self, images: Tensor, targets: Tensor) -> None:
        """Take one step."""
        loss = self.loss(images, targets)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimiser.step()
        self.schedule.step()

    def loss(self, images: Tensor, targets: Tensor) -> Tensor:
        """Return the cross-entropy of the true words."""
        reading = self.model(images, targets[:, :-1])
        return -mean(log_likelihood(reading, targets), targets[:, 1:] != PAD)


class ByDraws(Softly):
    """Trains on draws with a baseline, and fits the baseline to them."""

    def __init__(self, model: Captioner, baseline: Baseline, rate: float, steps: int) -> None:
        """Begin `steps` steps with a new optimiser."""
        super().__init__(model, rate, steps)
        self.baseline = baseline

    def loss(self, images: Tensor, targets: Tensor) -> Tensor:
        """Return a loss whose gradient is the score-function estimate."""
        reading = self.model(images, targets[:, :-1], drawn)
        said, real = log_likelihood(reading, targets), targets[:, 1:] != PAD
        advantage = rewards(said) - self.baseline(reading.states)  # (B, m), no gradient
        self.baseline.fit(reading.states[real], rewards(said)[real])
        return -mean(said + advantage * log_probability(reading), real)


@torch.no_grad()
def sampled(model: Captioner, images: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Draw places for pictures; return the states (N, d) before the looks, and the rewards (N,)."""
    reading, real = model(images, targets[:, :-1], drawn), targets[:, 1:] != PAD
    return reading.states[real], rewards(log_likelihood(reading, targets))[real]


def together(learners: Sequence[Softly], stream: Stream, steps: int) -> None:
    """Let all learners take `steps` steps on the same pictures."""
    for _ in range(steps):
        images, targets = stream.batch()
        for learner in learners:
            learner.learn(images, targets)


def log_likelihood(reading: Reading, targets: Tensor) -> Tensor:
    """Return (B, m): the log probability of each true word; 0 at padding."""
    losses = F.cross_entropy(
        reading.logits.transpose(1, 2), targets[:, 1:], ignore_index=PAD, reduction="none"
    )
    return -losses


def rewards(said: Tensor) -> Tensor:
    """Return (B, m): a look's reward, the log probability of its word and of all later words."""
    return said.detach().flip(1).cumsum(dim=1).flip(1)


def log_probability(reading: Reading) -> Tensor:
    """Return (B, m): the log probability of the places that were drawn."""
    return (reading.weights * reading.shares).sum(dim=-1).clamp_min(1e-9).log()


def mean(values: Tensor, where: Tensor) -> Tensor:
    """Return the mean of the `values` (B, m) where `where` (B, m) is true."""
    return (values * where).sum() / where.sum()
