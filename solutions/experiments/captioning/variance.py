"""Measure the noise in the gradient of a captioner that trains on draws."""

from __future__ import annotations

import torch
from torch import Tensor

from ...data.translation.vocabulary import PAD
from .baselines import Baseline
from .captioner import Captioner, drawn
from .learning import log_likelihood, log_probability, mean, rewards

DRAWS = 20
"""The number of draws for measuring a variance."""


def gradient_variances(
    model: Captioner, baseline: Baseline, images: Tensor, targets: Tensor
) -> tuple[float, float]:
    """Return the variances of the gradient with and without the baseline.

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
