"""Caption pictures, and compare the captions with the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...captioning import localisation
from ...data.pictures import SIDE, VOCABULARY, Box, Picture, check_image
from ...data.translation.vocabulary import START, STOP
from .captioner import GRID, Captioner, Look, State, softly

LONGEST = 16
"""The largest number of words in a caption."""


@dataclass(frozen=True)
class Caption:
    """The words of a caption, and where the captioner looked: (m, L), a row for each word."""

    words: tuple[str, ...]
    shares: np.ndarray


@torch.no_grad()
def caption(model: Captioner, images: Sequence[np.ndarray], look: Look = softly) -> list[Caption]:
    """Caption images greedily: take the likeliest word, until [STOP] or `LONGEST` words.

    Each image is (3, 48, 48), float32, from 0 to 1. The model should be in evaluation mode, so that
    a caption does not depend on the other images. Raises TypeError and ValueError as `check_image`
    does. Without images, the list is empty.
    """
    for image in images:
        check_image(image)
    if not len(images):
        return []
    device = model.places.device
    memory = model.encode(torch.from_numpy(np.stack(images)).to(device))
    previous = torch.full((len(images),), START, device=device)
    state: State | None = None
    said: list[Tensor] = []
    seen: list[Tensor] = []
    while len(said) < LONGEST and not (said and (torch.stack(said) == STOP).any(dim=0).all()):
        logits, state, shares = model.decode_step(previous, state, memory, look)
        previous = logits.argmax(dim=-1)  # (B,)
        said.append(previous)
        seen.append(shares)
    words = [VOCABULARY.decode(row) for row in torch.stack(said, dim=1).tolist()]
    rows = torch.stack(seen, dim=1).cpu().numpy()  # (B, m, L)
    return [Caption(w, row[: len(w)]) for w, row in zip(words, rows, strict=True)]


@dataclass(frozen=True)
class Quality:
    """The quality of captions.

    accuracy: the share of pictures whose whole caption is right. localisation: for each word that
    names a shape in the true captions, the share of the weight inside its box, or 0 if the caption
    is too short. named: these words, in the same order.
    """

    accuracy: float
    localisation: np.ndarray
    named: list[str]


def accuracy(pictures: Sequence[Picture], captions: Sequence[Caption]) -> float:
    """Return the share of pictures whose whole caption is right."""
    pairs = zip(pictures, captions, strict=True)
    return float(np.mean([picture.caption == said.words for picture, said in pairs]))


def judge(
    pictures: Sequence[Picture],
    captions: Sequence[Caption],
    outline: Callable[[Box], np.ndarray] = np.array,
) -> Quality:
    """Compare captions with their pictures, word by word; `outline` gives the area of a shape."""
    cells = np.array([*GRID, *GRID]) / SIDE
    inside, named = [], []
    for picture, said in zip(pictures, captions, strict=True):
        for i, box in enumerate(picture.boxes):
            if box is not None:
                seen = said.shares[i] if i < len(said.words) else np.zeros(GRID[0] * GRID[1])
                inside.append(localisation(seen, outline(box) * cells, GRID))
                named.append(picture.caption[i])
    return Quality(accuracy(pictures, captions), np.array(inside), named)
