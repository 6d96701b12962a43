"""The training runs of chapters 1, 2 and 9: the machines, the pairs, and the numbers of steps."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..data.translation import Language
from .recurrent import AttentionDecoder, BottleneckDecoder, Encoder
from .seq2seq import Seq2Seq
from .training import DEVICE, RECURRENT, Recipe, Task, make_task, train
from .transformer import TransformerDecoder, TransformerEncoder

Machine = Callable[[int, int], Seq2Seq]
"""Makes an untrained translator, given the numbers of source and of target tokens."""

CLAUSES = (1, 4)
BOTTLENECK_STEPS, TRANSFORMER_STEPS = 1000, 1400
"""The training steps of chapters 1 and 9, which take three minutes a chapter on two cores."""
ATTENTION_STEPS = BOTTLENECK_STEPS
"""The training steps of chapter 2, which compares its machine with chapter 1's."""
LENGTHS = ((3, 9), (10, 19), (20, 29), (30, 39), (40, 49))
"""The source tokens of the curves' test sets, which have as many clauses as the training pairs."""
SHORT, LONG = (3, 10), (30, 60)
"""The source tokens of the test sets for the headline numbers."""
BEYOND, BEYOND_CLAUSES = (50, 60), (5, 8)
"""The source tokens and clauses of a test set with more clauses than any training pair."""
SENTENCES = 100
"""The test sentences for each length on a curve; a headline number has twice as many."""

D_CONTEXT = 256
"""The width of the context vector `c`."""
D_LOOKING = 108
"""The width of chapter 2's decoder state; the two machines' parameters differ by less than 1 %."""
TRANSFORMER_SIZES = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2}


def bottleneck(source_tokens: int, target_tokens: int, d_context: int = D_CONTEXT) -> Seq2Seq:
    """Return chapter 1's machine: `c` is the last states of both directions, side by side."""
    return Seq2Seq(
        Encoder(source_tokens, d_context // 2), BottleneckDecoder(target_tokens, d_context, 128)
    )


def attention(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return chapter 2's machine: chapter 1's encoder and another decoder.

    Its state is narrower than that of chapter 1's decoder, to make up for the parameters of
    attention.
    """
    encoder = Encoder(source_tokens, D_CONTEXT // 2)
    return Seq2Seq(encoder, AttentionDecoder(target_tokens, D_CONTEXT, D_LOOKING))


def transformer(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return chapter 9's machine: width 64, 4 heads, 2 blocks in each stack."""
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

    Returns the machine, its task, and the processor seconds of the training.
    """
    task = make_task(language, clauses, steps * recipe.batch, seed)
    torch.manual_seed(seed)
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary)).to(DEVICE)
    seconds = train(model, task, seed, recipe)
    return model.eval(), task, seconds
