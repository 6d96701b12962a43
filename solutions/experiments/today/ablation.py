"""Test each piece of a model of today alone, in chapter 10's GPT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ...running.seeds import SEEDS
from ...transformer_block import RMSNorm
from ...variants.reading_models import ngram_interpolation
from ..gpt_and_bert.language_model import (
    CONTEXT,
    RATE,
    SIZES,
    STEPS,
    Corpus,
    begin_small,
    corpus,
    fit,
)
from .pieces import Model, Pieces

WINDOW = 8
"""The number of earlier tokens that a token sees in a local block."""

ORDERS, WEIGHTS = (2, 3, 4, 5), (1.0, 2.0, 4.0, 8.0, 16.0)
"""The orders and weights of the n-grams; the weight is chosen on the tuning text."""

TODAY = "rotary, RMSNorm, SwiGLU, grouped"

VARIANTS = {
    "chapter 10's GPT": Pieces(),
    "no positions": Pieces(positions="none", d_ff=400),
    "rotary positions": Pieces(positions="rotary", d_ff=400),
    "RMSNorm": Pieces(norm=RMSNorm),
    "SwiGLU": Pieces(gated=True, d_ff=256),
    "grouped queries": Pieces(n_kv_heads=2, d_ff=432),
    "local and global": Pieces(window=WINDOW),
    "a sink": Pieces(sink=True),
    TODAY: Pieces(positions="rotary", norm=RMSNorm, gated=True, n_kv_heads=2, d_ff=302),
}
"""Each hidden width makes the number of parameters equal to the GPT's within 1 %."""

JOBS = [(name, seed) for name in VARIANTS for seed in SEEDS]


@dataclass(frozen=True)
class Ablated:
    """A model of one seed. curve: (step, training loss, validation loss), in nats a token."""

    curve: list[tuple[int, float, float]]
    parameters: int

    @property
    def loss(self) -> float:
        """Return the loss on the validation text after the last step, in nats a token."""
        return self.curve[-1][2]


def trained(
    name: str, seed: int, steps: int = STEPS
) -> tuple[Model, list[tuple[int, float, float]]]:
    """Train the model `name` of VARIANTS, on the same batches as all others.

    Returns the model and its curve, as in `Ablated`.
    """
    text = the_corpus()
    torch.manual_seed(seed)
    sizes = {key: SIZES[key] for key in ("d_model", "n_heads", "n_layers")}
    model = Model(len(text.tokens.pieces), **sizes, max_len=CONTEXT, pieces=VARIANTS[name])
    begin_small(model.blocks)
    torch.manual_seed(seed)  # the same batches for all models, however many weights they drew
    return model, fit(model, text, steps, RATE)


def numbered(job: int) -> Ablated:
    """Train the model JOBS[job]; single jobs keep parallel processes busy."""
    model, curve = trained(*JOBS[job])
    return Ablated(curve, sum(one.numel() for one in model.parameters()))


def rivals() -> dict[int, tuple[float, float]]:
    """Return the n-grams' results: order -> nats a token, and the chosen weight."""
    text = the_corpus()

    def nats(order: int, weight: float, ids: Tensor) -> float:
        size = len(text.tokens.pieces)
        found = ngram_interpolation(text.train.numpy(), ids.numpy(), order, size, weight)
        return -float(found[1:].mean())

    found = {}
    for order in ORDERS:
        tuned = {weight: nats(order, weight, text.tuning) for weight in WEIGHTS}
        weight = min(tuned, key=tuned.__getitem__)
        found[order] = nats(order, weight, text.validation), weight
    return found


@cache
def the_corpus() -> Corpus:
    """Return the book's text; it is split into tokens once in each process."""
    return corpus()
