"""Experiment for chapter 9: is it the size of the embeddings that matters, or their share?

The page's own machine of 400 steps is trained with small and with large embeddings. Each is trained
with the word's share of the input as it comes, and with the share of the other: for that, the
positions are made as many times larger or smaller as the embeddings were.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...positions import sinusoidal_positions
from ...running.seeds import SEEDS
from ...transformer import TOKEN_SIZE
from ...translators.quality import held_out_pairs, token_accuracy
from ...translators.quality_by_length import LANGUAGE
from . import own

LARGE = own.SIZES["d_model"] ** 0.5
"""The root mean square of an embedded word if the table has variance 1: sqrt(d_model)."""


def share(word: float, position: float = 1.0) -> float:
    """Return the word's share of the squared length of what enters a stack.

    word: the root mean square of an embedded word. position: the factor of the sinusoids.
    """
    return word**2 / (word**2 + position**2 / 2)


CASES = {
    (word, position): share(word, position)
    for word, position in (
        (TOKEN_SIZE, 1.0),
        (LARGE, 1.0),
        (LARGE, LARGE / TOKEN_SIZE),
        (TOKEN_SIZE, TOKEN_SIZE / LARGE),
    )
}
"""(size of an embedded word, factor of the positions) -> the word's share."""
JOBS = tuple((case, seed) for case in CASES for seed in SEEDS)
SWEEP = (0.1, 0.2, 0.4, 1.0, 2.0, 8.0)
"""Sizes of an embedded word, with the positions as they are."""
SWEEP_JOBS = tuple(((size, 1.0), seed) for size in SWEEP for seed in SEEDS)


def measure_entering(job: int) -> float:
    """Return the token accuracy of the machine of JOBS[job]."""
    (word, position), seed = JOBS[job]
    return _accuracy(word, position, seed)


def measure_size(job: int) -> float:
    """Return the token accuracy of the machine of SWEEP_JOBS[job]."""
    (word, position), seed = SWEEP_JOBS[job]
    return _accuracy(word, position, seed)


def _accuracy(word: float, position: float, seed: int) -> float:
    model, task, _ = own.train_own(0.1, seed, lambda model: resize(model, word, position))
    pairs = held_out_pairs(LANGUAGE, own.LENGTHS, own.SENTENCES, own.CLAUSES)
    return token_accuracy(own.write(model, task, pairs), [pair.target for pair in pairs])


def resize(model: nn.Module, word: float, position: float) -> None:
    """Give each table of embeddings another size, and the positions another factor.

    word: the new root mean square of an embedded word. position: the factor of the sinusoids.
    """

    def hook(module: nn.Module, _: Any, embedded: Tensor) -> Tensor:
        n, d = embedded.shape[-2:]
        sinusoids = torch.from_numpy(sinusoidal_positions(n, d)).to(embedded)
        return embedded + (position - 1) * sinusoids / d**0.5  # `embed` multiplies by sqrt(d)

    for table in [one for one in model.modules() if isinstance(one, nn.Embedding)]:
        table.weight.data *= word / TOKEN_SIZE
        table.register_forward_hook(hook)
