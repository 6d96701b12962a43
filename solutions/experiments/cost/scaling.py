"""A scaling law: the loss of five small GPTs by their size, and its forecast for a sixth.

The law is that of Kaplan et al. (2020), "Scaling laws for neural language models", for models of
different sizes that read equally many tokens; the constant is that of Hoffmann et al. (2022),
"Training compute-optimal large language models".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ...gpt_and_bert import GPT
from ...running.progress import say
from ..gpt_and_bert.language_model import (
    BATCH,
    CONTEXT,
    RATE,
    begin_small,
    corpus,
    fit,
)

WIDTHS, LARGEST = (12, 16, 24, 32, 48), 96
"""The features of the five models, and of the one whose loss is forecast."""

N_HEADS, N_BLOCKS, STEPS = 4, 2, 400
TOKENS = STEPS * BATCH * CONTEXT
"""The number of tokens that every model reads."""


@dataclass(frozen=True)
class Sized:
    """A trained model: the parameters of its blocks, and its loss in nats a token."""

    parameters: int
    loss: float


def train(seed: int) -> dict[int, Sized]:
    """Train a GPT of each width on the book's text; return width -> result."""
    text = corpus()
    found = {}
    for width in (*WIDTHS, LARGEST):
        torch.manual_seed(seed)
        model = GPT(len(text.tokens.pieces), width, N_HEADS, 4 * width, N_BLOCKS, CONTEXT)
        begin_small(model.blocks)
        curve = fit(model, text, STEPS, RATE)
        parameters = sum(one.numel() for one in model.blocks.parameters())
        found[width] = Sized(parameters, curve[-1][2])
        say(f"scaling law, seed {seed}: width {width} done")
    return found


@dataclass(frozen=True)
class Law:
    """loss = floor + factor * parameters ** -power."""

    floor: float
    factor: float
    power: float

    def loss(self, parameters: float) -> float:
        """Return the forecast for a number of parameters."""
        return self.floor + self.factor * parameters**-self.power


def fitted_law(parameters: Sequence[float], losses: Sequence[float], floor: bool = True) -> Law:
    """Return the law with the least squares; without a floor, it is 0.

    For each power on a grid, the other two are a linear fit. A floor is never below 0.
    """
    sizes, seen = np.asarray(parameters, dtype=float), np.asarray(losses, dtype=float)
    found = []
    for power in np.linspace(0.01, 1.5, 1490):
        shrunk = sizes**-power
        columns = np.stack([shrunk, np.ones_like(shrunk)], axis=1)
        factor, least = np.linalg.lstsq(columns, seen, rcond=None)[0]
        if not floor or least < 0:
            factor, least = shrunk @ seen / (shrunk @ shrunk), 0.0
        law = Law(float(least), float(factor), float(power))
        found.append((float(((law.loss(sizes) - seen) ** 2).sum()), law))  # type: ignore[arg-type]
    return min(found, key=lambda one: one[0])[1]
