"""What is said when the decoder may look at nothing but one shape: the one it names, or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...data.pictures import KINDS, SIDE, VOCABULARY, Box, Picture, box_to_grid, make_batch
from .captioner import GRID, Captioner

BEYOND = 4
"""So many pixels around its own cell a place sees: a box grown by them holds all places that see
any of the shape."""

FREE = "its own look"
ON_NAMED, ON_OTHER = "the look kept on the named shape", "the look kept on another shape"
LOOKS = (FREE, ON_NAMED, ON_OTHER)


@dataclass(frozen=True)
class Said:
    """What is said at the words for kinds, of which the picture has another kind too.

    named, other: the share of these words that are the kind of the named shape, and that of the
    other one. weight: of the decoder's own weight at these words, the share on places that it may
    not see then.
    """

    named: float
    other: float
    weight: float


@dataclass(frozen=True)
class _Asked:
    """One word for a kind: of which picture, which word of it, and the boxes of two shapes."""

    picture: int
    word: int
    named: Box
    other: Box
    other_kind: str


class Blinkered:
    """A soft look that sees only some places at one word of each picture, and all at the others."""

    def __init__(self, words: Tensor, kept: Tensor) -> None:
        """words: (B,), the step at which each look is changed. kept: (B, L) bool, what it sees."""
        self.words, self.kept, self.step = words, kept, 0

    def __call__(self, weights: Tensor) -> Tensor:
        """weights: (B, L). Return the shares: the weight of what is hidden goes to the rest."""
        left = weights * self.kept
        now = (self.words == self.step)[:, None]
        self.step += 1
        return torch.where(now, left / left.sum(dim=-1, keepdim=True).clamp_min(1e-9), weights)


@torch.no_grad()
def kinds_said(model: Captioner, pictures: Sequence[Picture], look: str) -> Said:
    """Return what the model says for kinds of shapes under one of LOOKS.

    The words before are given as they should be. The look is changed at one word of a caption at a
    time, so that no earlier change has a part in what is said. Every word for a kind is asked that
    has a shape of another kind beside its own. A place that sees both shapes sees the named one.
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
    """Return (L,): the places that see any of a box."""
    return torch.from_numpy(box_to_grid(grown(box), GRID) > 0).flatten()


def grown(box: Box) -> np.ndarray:
    """Return a box with `BEYOND` pixels more on each side, as far as the picture goes: (4,)."""
    return np.clip(np.array(box) + np.array([-BEYOND, -BEYOND, BEYOND, BEYOND]), 0, SIDE)


def _asked(number: int, picture: Picture) -> list[_Asked]:
    """The words for kinds of a picture that has a shape of another kind too, the first of them."""
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
