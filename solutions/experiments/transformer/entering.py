"""Experiment for chapter 9: size and share of what enters a stack, and how fast the tables learn.

The page's own machine of 400 steps is trained with embeddings and positions of several sizes. A
change that also alters how far a step moves a word is run again with another rate for the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ...positions import sinusoidal_positions
from ...running.seeds import SEEDS
from ...transformer import TOKEN_SIZE
from ...translators.quality import held_out_pairs, token_accuracy
from ...translators.quality_by_length import LANGUAGE
from . import own

ROOT = own.SIZES["d_model"] ** 0.5
"""The factor of 2017, and the size of an embedded word if the table has variance 1."""
TIMES = ROOT / TOKEN_SIZE
"""How many times as large as ours such a word is."""


@dataclass(frozen=True)
class Entry:
    """What enters a stack: words, positions, and the learning rate of the tables.

    word: the root mean square of an embedded word's numbers at the start. position: the factor of
    the sinusoids. factor: the number that multiplies a row of the table. rate: the learning rate of
    the tables, as a multiple of that of all other weights.
    """

    word: float
    position: float = 1.0
    factor: float = ROOT
    rate: float = 1.0

    @property
    def share(self) -> float:
        """The word's share of the squared length at the start."""
        return self.word**2 / (self.word**2 + self.position**2 / 2)


FACTORS = {
    "with the factor (ours)": Entry(TOKEN_SIZE),
    "without it": Entry(1 / ROOT, factor=1.0),
    "without it, the tables' rate times 8": Entry(1 / ROOT, factor=1.0, rate=ROOT),
    "the same tables with it": Entry(1.0),
}
"""Our tables with the factor; tables of variance 1/64 without it and with it."""
CASES = {
    "small": Entry(TOKEN_SIZE),
    "small, drowned positions": Entry(TOKEN_SIZE, 1 / TIMES),
    "large": Entry(ROOT),
    "large, restored": Entry(ROOT, TIMES),
    "large, restored, the tables' rate times 20": Entry(ROOT, TIMES, rate=TIMES),
}
"""Our words and words twenty times as large; the right share and the wrong one."""
SWEEP = {size: Entry(size) for size in (0.1, 0.2, 0.4, 1.0, 2.0, 8.0)}
"""Sizes of an embedded word, with the positions as they are."""
ENTRIES = dict.fromkeys((*FACTORS.values(), *CASES.values()))
JOBS = tuple((entry, seed) for entry in ENTRIES for seed in SEEDS)
SWEEP_JOBS = tuple((entry, seed) for entry in SWEEP.values() for seed in SEEDS)


def measure_entering(job: int) -> float:
    """Return the token accuracy of the machine of JOBS[job]."""
    return _accuracy(*JOBS[job])


def measure_size(job: int) -> float:
    """Return the token accuracy of the machine of SWEEP_JOBS[job]."""
    return _accuracy(*SWEEP_JOBS[job])


def _accuracy(entry: Entry, seed: int) -> float:
    model, task, _ = own.train_own(0.1, seed, lambda model: resize(model, entry), entry.rate)
    pairs = held_out_pairs(LANGUAGE, own.LENGTHS, own.SENTENCES, own.CLAUSES)
    return token_accuracy(own.write(model, task, pairs), [pair.target for pair in pairs])


def resize(model: nn.Module, entry: Entry) -> None:
    """Give the tables, the factor and the positions of `model` the sizes of `entry`."""

    def hook(module: nn.Module, _: Any, embedded: Tensor) -> Tensor:
        n, d = embedded.shape[-2:]
        sinusoids = torch.from_numpy(sinusoidal_positions(n, d)).to(embedded)
        wanted = entry.factor * embedded + (entry.position - 1) * sinusoids
        return wanted / d**0.5  # `embed` multiplies by sqrt(d)

    for table in [one for one in model.modules() if isinstance(one, nn.Embedding)]:
        table.weight.data *= entry.word / entry.factor * ROOT / TOKEN_SIZE
        table.register_forward_hook(hook)
