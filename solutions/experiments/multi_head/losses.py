"""Losses of two answers at once: the mean of their losses, or the larger of the two."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From logits (batch, 2, NUMBERS) and answers (batch, 2) to one number."""


def mean_of_both(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of the two answers."""
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten())


def mean_of_margins(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the mean by which wrong logits come nearer than 1 to the right one, of both answers.

    Unlike the cross-entropy, it is 0 for an answer that is ahead by a margin of 1.
    """
    return F.multi_margin_loss(logits.flatten(0, 1), answers.flatten())


def worse_of_both(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return, as a mean over the batch, the larger cross-entropy of the two answers."""
    each = F.cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="none")
    return each.unflatten(0, answers.shape).amax(dim=1).mean()


LOSSES: dict[str, Loss] = {
    "mean of both": mean_of_both,
    "mean margin": mean_of_margins,
    "worse of both": worse_of_both,
}
