"""What the decoder says if it may look at only one shape: the shape that it names, or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...data.pictures import KINDS, SIDE, VOCABULARY, Box, Picture, box_to_grid, make_batch
from .captioner import GRID, Captioner

BEYOND = 4
"""The pixels that a place sees around its own cell.

A box that is extended by them contains all places that see any part of the shape.
"""

FREE = "its own look"
ON_NAMED, ON_OTHER = "the look kept on the named shape", "the look kept on another shape"
LOOKS = (FREE, ON_NAMED, ON_OTHER)


@dataclass(frozen=True)
class Said:
    """The results at words for a kind, in pictures that have a shape of another kind too.

    named, other: the shares of these words that are the kind of the named shape and the kind of the
    other shape. weight: the share of the decoder's own weight on places that are then hidden.
    """

    named: float
    other: float
    weight: float


@dataclass(frozen=True)
class _Asked:
    """A word for a kind: the picture, the word's position, and the boxes of two shapes."""

    picture: int
    word: int
    named: Box
    other: Box
    other_kind: str


class Blinkered:
    """A soft look that sees some places at one word of each picture, and all at other words."""

    def __init__(self, words: Tensor, kept: Tensor) -> None:
        """words: (B,), the step of each changed look. kept: (B, L) bool, the visible places."""
        self.words, self.kept, self.step = words, kept, 0

    def __call__(self, weights: Tensor) -> Tensor:
        """Return the shares: the weight of hidden places goes to the others. weights: (B, L)."""
        left = weights * self.kept
        now = (self.words == self.step)[:, None]
        self.step += 1
        return torch.where(now, left / left.sum(dim=-1, keepdim=True).clamp_min(1e-9), weights)


@torch.no_grad()
def kinds_said(model: Captioner, pictures: Sequence[Picture], look: str) -> Said:
    """Return the model's words for kinds of shapes under one of LOOKS.

    The model reads the true previous words. The look is changed at one word of a caption at a time,
    so that no earlier change affects the word. Every word for a kind is tried if the picture has a
    shape of another kind. A place that sees both shapes counts for the named shape.
    """
    asked = [one for i, picture in enumerate(pictures) for one in _asked(i, picture)]
    batch = make_batch([pictures[one.picture] for one in asked])
    targets, images = torch.from_numpy(batch.targets), torch.from_numpy(batch.images)
    words = torch.tensor([one.word for one in asked])
    named, other = (
        torch.stack([seeing(getattr(one, which)) for one in asked]) for which in ("named", "other")
    )
    kept = {
        FREE: torch.ones_like(named),
        ON_NAMED: named,
        ON_OTHER: other & ~named,
    }[look]
    reading = model(images, targets[:, :-1], Blinkered(words, kept))
    rows = torch.arange(len(asked))
    said = reading.logits[rows, words].argmax(dim=-1)
    true = targets[rows, words + 1]
    others = torch.tensor(VOCABULARY.encode([one.other_kind for one in asked]))
    weight = (reading.weights[rows, words] * ~kept).sum(dim=-1)
    return Said(*(float(one.float().mean()) for one in (said == true, said == others, weight)))


def seeing(box: Box) -> Tensor:
    """Return (L,): whether each place sees any part of a box."""
    return torch.from_numpy(box_to_grid(grown(box), GRID) > 0).flatten()


def grown(box: Box) -> np.ndarray:
    """Return a box with `BEYOND` pixels more on each side, clipped to the picture: (4,)."""
    return np.clip(np.array(box) + np.array([-BEYOND, -BEYOND, BEYOND, BEYOND]), 0, SIDE)


def _asked(number: int, picture: Picture) -> list[_Asked]:
    """Return the words for kinds in a picture, each with the first shape of another kind."""
    kinds = [
        (i, word, box)
        for i, (word, box) in enumerate(zip(picture.caption, picture.boxes, strict=True))
        if box is not None and word in KINDS
    ]
    found = []
    for i, word, box in kinds:
        others = [(kind, place) for _, kind, place in kinds if kind != word]
        if others:
            kind, place = others[0]
            found.append(_Asked(number, i, box, place, kind))
    return found
