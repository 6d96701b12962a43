"""Quality by length of chapter 1's machine, also by ranges of equally frequent lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ...data.translation import Pair
from ...translators.edits import edits_by_length
from ...translators.machines import (
    BEYOND,
    BEYOND_CLAUSES,
    BOTTLENECK_STEPS,
    CLAUSES,
    SENTENCES,
    bottleneck,
    trained,
)
from ...translators.quality import Quality, held_out_pairs, quality, translate_pairs
from ...translators.training import DEVICE, Task
from . import inside
from .testing import LANGUAGE, Tested, tested

EXAMPLE_LENGTHS = tuple((n, n + 2) for n in range(4, 59, 4))
"""The source tokens of the examples: one example within each bounds."""
EXAMPLE_CLAUSES = (1, 8)
"""Clauses of the examples; few training pairs are as long as the longest example."""

FIFTHS = ((3, 9), (10, 16), (17, 22), (23, 28), (29, 48))
"""Ranges of source tokens, each with about a fifth of the training pairs."""


@dataclass(frozen=True)
class Example:
    """A test sentence, its reference, and the machine's translation, as tokens."""

    source: tuple[str, ...]
    reference: tuple[str, ...]
    translation: tuple[str, ...]

    @property
    def breaks_at(self) -> int | None:
        """The position of the first wrong token of the translation, counted from 0, or None.

        A translation of the wrong length breaks at the latest where the shorter of the two ends.
        """
        both = zip(self.translation, self.reference, strict=False)
        for position, (ours, theirs) in enumerate(both):
            if ours != theirs:
                return position
        shorter, longer = sorted((len(self.translation), len(self.reference)))
        return None if shorter == longer else shorter


@dataclass(frozen=True)
class Measured(Tested):
    """The result of a training run, besides the results of every tested machine.

    by_fifth: the quality on test sentences in each of FIFTHS. shares: the share of training pairs
    in each of FIFTHS. edits: the mean edit accuracy for each of LENGTHS and for BEYOND. task: the
    vocabularies, without the pairs. state: name -> trained weights.
    """

    beyond: Quality
    by_fifth: list[Quality]
    shares: list[float]
    edits: list[float]
    examples: list[Example]
    inside: inside.Inside
    task: Task
    state: dict[str, np.ndarray]


def measure(seed: int) -> Measured:
    """Train chapter 1's machine on CLAUSES and test it."""
    model, task, seconds = trained(bottleneck, LANGUAGE, CLAUSES, BOTTLENECK_STEPS, seed)
    torch.manual_seed(seed)
    fresh = bottleneck(len(task.source_vocabulary), len(task.target_vocabulary)).to(DEVICE)

    def on(lengths: tuple[int, int], clauses: tuple[int, int] = CLAUSES) -> Quality:
        return quality(model, task, held_out_pairs(LANGUAGE, lengths, SENTENCES, clauses))

    pairs = [held_out_pairs(LANGUAGE, n, 4, EXAMPLE_CLAUSES)[0] for n in EXAMPLE_LENGTHS]
    translations = translate_pairs(model, task, pairs)
    return Measured(
        **vars(tested(model, task, seconds)),
        beyond=on(BEYOND, BEYOND_CLAUSES),
        by_fifth=[on(lengths) for lengths in FIFTHS],
        shares=shares(task.pairs),
        edits=edits_by_length(model, task),
        examples=[
            Example(pair.source, pair.target, tokens)
            for pair, tokens in zip(pairs, translations, strict=True)
        ],
        inside=inside.look(model, fresh.eval(), task),
        task=replace(task, pairs=()),
        state={name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()},
    )


def shares(pairs: Sequence[Pair]) -> list[float]:
    """Return the share of the pairs with sources in each range of FIFTHS."""
    found = np.array([len(pair.source) for pair in pairs])
    return [float(((found >= low) & (found <= high)).mean()) for low, high in FIFTHS]
