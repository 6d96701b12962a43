"""What happens to a word when the decoder may not look at the shape that the word names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...data.pictures import KINDS, SIDE, VOCABULARY, Box, Picture, box_to_grid, make_batch
from .captioner import GRID, Captioner

BEYOND = 4
"""So many pixels around its own cell a place sees: a box grown by them holds all places that see
any of the shape."""

NOTHING, NAMED, OTHER = "nothing", "the shape it names", "another shape"
HIDDEN = (NOTHING, NAMED, OTHER)


class Blinkered:
    """A soft look that cannot see some places. hidden: (m, B, L) bool, a row a step."""

    def __init__(self, hidden: Tensor) -> None:
        """Begin with the first step."""
        self.steps = iter(hidden)

    def __call__(self, weights: Tensor) -> Tensor:
        """Share the weight of what is hidden out among the rest."""
        left = weights * ~next(self.steps)
        return left / left.sum(dim=-1, keepdim=True).clamp_min(1e-9)


@torch.no_grad()
def kinds_right(model: Captioner, pictures: Sequence[Picture], what: str) -> float:
    """Return the share of words for a kind of shape that the model says when `what` is hidden.

    The words before are given as they should be. Places are hidden at the words for kinds alone.
    """
    batch = make_batch(pictures)
    targets = torch.from_numpy(batch.targets)
    hidden = torch.zeros(targets.shape[1] - 1, len(pictures), GRID[0] * GRID[1], dtype=torch.bool)
    for b, picture in enumerate(pictures):
        for i, box in enumerate(picture.boxes):
            if box is not None and picture.caption[i] in KINDS and what != NOTHING:
                hidden[i, b] = seeing(box if what == NAMED else another(picture, box))
    reading = model(torch.from_numpy(batch.images), targets[:, :-1], Blinkered(hidden))
    kinds = torch.isin(targets[:, 1:], torch.tensor(VOCABULARY.encode(KINDS)))
    return float((reading.logits.argmax(dim=-1) == targets[:, 1:])[kinds].float().mean())


def seeing(box: Box) -> Tensor:
    """Return (L,): the places that see any of a box."""
    return torch.from_numpy(box_to_grid(grown(box), GRID) > 0).flatten()


def grown(box: Box) -> np.ndarray:
    """Return a box with `BEYOND` pixels more on each side, as far as the picture goes: (4,)."""
    return np.clip(np.array(box) + np.array([-BEYOND, -BEYOND, BEYOND, BEYOND]), 0, SIDE)


def another(picture: Picture, box: Box) -> Box:
    """Return the box of the first other shape that the caption names."""
    return next(one for one in picture.boxes if one is not None and one != box)
