"""Experiments for chapter 9: positions that begin later, and clauses against length.

No machine is trained here. A trained Transformer reads and writes with all its positions moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ...positions import sinusoidal_positions
from ...translators.quality import Quality, held_out_pairs, quality
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task

SHIFTS = (0, 2, 5, 10, 15, 20, 30)
TOKENS, SENTENCES = (20, 29), 100
"""The source tokens and the number of the sentences that are read with moved positions."""
MANY_CLAUSES, FEW_CLAUSES = ((35, 45), (5, 8)), ((40, 49), (1, 4))
"""Source tokens and clauses of two test sets of about equal length."""


@contextmanager
def moved(model: nn.Module, shift: int) -> Iterator[None]:
    """Let the positions of every stack in `model` begin at `shift` instead of 0.

    `embed` adds the sinusoids of 0, 1, 2, ... to the embeddings. What is missing to those of shift,
    shift + 1, ... is added to each embedding beforehand.
    """

    def hook(module: nn.Module, _: Any, embedded: Tensor) -> Tensor:
        n, d = embedded.shape[-2:]
        table = torch.from_numpy(sinusoidal_positions(n + shift, d))
        missing = (table[shift:] - table[:n]).to(embedded)
        return embedded + missing / d**0.5  # `embed` multiplies by sqrt(d)

    tables = [one for one in model.modules() if isinstance(one, nn.Embedding)]
    handles = [table.register_forward_hook(hook) for table in tables]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def measure_moved(model: Seq2Seq, task: Task) -> list[Quality]:
    """Return the quality of the same translations with positions moved by each of SHIFTS."""
    pairs = held_out_pairs(LANGUAGE, TOKENS, SENTENCES, (1, 4))
    found = []
    for shift in SHIFTS:
        with moved(model, shift):
            found.append(quality(model, task, pairs))
    return found


def measure_clauses(model: Seq2Seq, task: Task) -> tuple[Quality, Quality]:
    """Return the quality on many clauses and on few, with about as many source tokens."""
    many, few = (
        quality(model, task, held_out_pairs(LANGUAGE, lengths, SENTENCES, clauses))
        for lengths, clauses in (MANY_CLAUSES, FEW_CLAUSES)
    )
    return many, few
