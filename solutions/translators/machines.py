"""The trainings of chapters 1, 2 and 9: which machine, on which pairs, for how many steps."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..data.translation import Language
from .recurrent import AttentionDecoder, BottleneckDecoder, Encoder
from .seq2seq import Seq2Seq
from .training import DEVICE, RECURRENT, Recipe, Task, make_task, train
from .transformer import TransformerDecoder, TransformerEncoder

Machine = Callable[[int, int], Seq2Seq]
"""Makes an untrained translator for so many source and target tokens."""

CLAUSES = (1, 4)
BOTTLENECK_STEPS, TRANSFORMER_STEPS = 1000, 1400
"""Of training, for chapters 1 and 9: what three minutes a chapter allow, on two cores."""
ATTENTION_STEPS = BOTTLENECK_STEPS
"""Of training, for chapter 2, which compares its machine with chapter 1's."""
LENGTHS = ((3, 9), (10, 19), (20, 29), (30, 39), (40, 49))
"""Source tokens of the test sets on the curves, of as many clauses as the training pairs."""
SHORT, LONG = (3, 10), (30, 60)
"""Source tokens of the test sets of the headline numbers."""
BEYOND, BEYOND_CLAUSES = (50, 60), (5, 8)
"""Source tokens and clauses of a test set: no pair of the training has so many clauses."""
SENTENCES = 100
"""Test sentences of each length on a curve; a headline number has twice as many."""

D_CONTEXT = 256
"""The width of the context vector `c`."""
D_LOOKING = 108
"""The width of the state of chapter 2's decoder: both machines have as many parameters, to 1 %."""
TRANSFORMER_SIZES = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2}


def bottleneck(source_tokens: int, target_tokens: int, d_context: int = D_CONTEXT) -> Seq2Seq:
    """Return chapter 1's machine: `c` is the last state of each direction, of half its width."""
    return Seq2Seq(
        Encoder(source_tokens, d_context // 2), BottleneckDecoder(target_tokens, d_context, 128)
    )


def attention(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return chapter 2's machine: chapter 1's encoder, and another decoder.

    A narrower state than chapter 1's decoder has makes up for what it takes to look.
    """
    encoder = Encoder(source_tokens, D_CONTEXT // 2)
    return Seq2Seq(encoder, AttentionDecoder(target_tokens, D_CONTEXT, D_LOOKING))


def transformer(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return chapter 9's machine: width 64, 4 heads, 2 blocks in either stack."""
    return Seq2Seq(
        TransformerEncoder(source_tokens, **TRANSFORMER_SIZES),
        TransformerDecoder(target_tokens, **TRANSFORMER_SIZES),
    )


def trained(
    machine: Machine,
    language: Language,
    clauses: tuple[int, int],
    steps: int,
    seed: int,
    recipe: Recipe = RECURRENT,
) -> tuple[Seq2Seq, Task, float]:
    """Train a new `machine` on fresh pairs.

    Returns it, its task, and the seconds of processor time that the training took.
    """
    task = make_task(language, clauses, steps * recipe.batch, seed)
    torch.manual_seed(seed)
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary)).to(DEVICE)
    seconds = train(model, task, seed, recipe)
    return model.eval(), task, seconds
