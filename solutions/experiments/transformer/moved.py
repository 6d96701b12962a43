"""Experiments for chapter 9: positions that begin later, and clauses against length.

A trained Transformer reads and writes with all its positions moved. So does the null: a machine
that is trained here, in the same way, with positions that begin somewhere else in each batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...data.translation.pairs import Pair
from ...positions import sinusoidal_positions
from ...running.seeds import SEEDS
from ...translators.machines import (
    BEYOND,
    BEYOND_CLAUSES,
    CLAUSES,
    LONG,
    SENTENCES,
    TRANSFORMER_STEPS,
    trained,
    transformer,
)
from ...translators.quality import (
    Quality,
    held_out_pairs,
    quality,
    token_accuracy,
    translate_pairs,
)
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import PARALLEL, Task

SHIFTS = (0, 2, 5, 10, 15, 20, 30)
TOKENS, ENDS = (20, 29), 6
"""The source tokens of the sentences that are read with moved positions; how many tokens of their
translations count as the beginning, and as the end."""
NEAR, ANYWHERE = 10, 40
"""The latest first position in the training of two nulls: one within SHIFTS, one beyond them."""
JOBS = [(latest, seed) for latest in (ANYWHERE, NEAR) for seed in SEEDS]
LENGTHS, MANY_CLAUSES, FEW_CLAUSES = (40, 49), (5, 8), (1, 4)
"""Source tokens and clauses of two test sets, from which pairs of the same lengths are taken."""


@dataclass(frozen=True)
class Moved:
    """Translations with moved positions, compared with the references.

    changed: the share that differ from those with positions from 0. first, last: the share of right
    tokens among the first ENDS, and among the last ENDS, counted from the end.
    """

    changed: float
    first: float
    last: float
    token_accuracy: float


@dataclass(frozen=True)
class Anywhere:
    """The null, tested: long and beyond as in the page's table, and moved by each of SHIFTS."""

    long: Quality
    beyond: Quality
    moved: list[Moved]


def missing(n: int, shift: int, like: Tensor) -> Tensor:
    """Return what turns the positions 0 to n - 1 into `shift`, shift + 1, ...: (n, d).

    It belongs to an embedding, so it is divided by the sqrt(d) by which `embed` multiplies.
    """
    d = like.shape[-1]
    table = torch.from_numpy(sinusoidal_positions(n + shift, d))
    return (table[shift:] - table[:n]).to(like) / d**0.5


@contextmanager
def moved(model: nn.Module, shift: int) -> Iterator[None]:
    """Let the positions of every stack in `model` begin at `shift` instead of 0."""

    def hook(module: nn.Module, _: Any, embedded: Tensor) -> Tensor:
        return embedded + missing(embedded.shape[-2], shift, embedded)

    tables = [one for one in model.modules() if isinstance(one, nn.Embedding)]
    handles = [table.register_forward_hook(hook) for table in tables]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def anywhere(source_tokens: int, target_tokens: int, latest: int) -> Seq2Seq:
    """Return chapter 9's machine; in each training batch its positions begin at 0 to `latest`."""
    model = transformer(source_tokens, target_tokens)
    rng = np.random.default_rng(0)
    shift = 0

    def draw(module: nn.Module, _: Any) -> None:
        nonlocal shift
        shift = int(rng.integers(latest + 1))

    def hook(module: nn.Module, _: Any, embedded: Tensor) -> Tensor:
        if not module.training:
            return embedded
        return embedded + missing(embedded.shape[-2], shift, embedded)

    model.encoder.register_forward_pre_hook(draw)  # source and target begin at the same position
    for table in [one for one in model.modules() if isinstance(one, nn.Embedding)]:
        table.register_forward_hook(hook)
    return model


def measure_anywhere(job: int) -> Anywhere:
    """Train a null of JOBS with the page's steps and recipe, and test it."""
    latest, seed = JOBS[job]
    build = partial(anywhere, latest=latest)
    model, task, _ = trained(build, LANGUAGE, CLAUSES, TRANSFORMER_STEPS, seed, PARALLEL)
    long = held_out_pairs(LANGUAGE, LONG, 2 * SENTENCES, CLAUSES)
    beyond = held_out_pairs(LANGUAGE, BEYOND, SENTENCES, BEYOND_CLAUSES)
    return Anywhere(
        quality(model, task, long), quality(model, task, beyond), measure_moved(model, task)
    )


def measure_moved(model: Seq2Seq, task: Task) -> list[Moved]:
    """Translate the same sentences with positions moved by each of SHIFTS."""
    pairs = held_out_pairs(LANGUAGE, TOKENS, SENTENCES, CLAUSES)
    references = [pair.target for pair in pairs]
    unmoved = translate_pairs(model, task, pairs)
    found = []
    for shift in SHIFTS:
        with moved(model, shift):
            written = translate_pairs(model, task, pairs)
        found.append(
            Moved(
                float(np.mean([one != two for one, two in zip(written, unmoved, strict=True)])),
                right_at_start(written, references),
                right_at_start([one[::-1] for one in written], [one[::-1] for one in references]),
                token_accuracy(written, references),
            )
        )
    return found


def right_at_start(written: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Return the share of the first ENDS tokens of each reference that `written` has there."""
    right = [
        sum(a == b for a, b in zip(one[:ENDS], reference[:ENDS], strict=False)) / ENDS
        for one, reference in zip(written, references, strict=True)
    ]
    return float(np.mean(right))


def measure_clauses(model: Seq2Seq, task: Task) -> tuple[Quality, Quality]:
    """Return the quality on many clauses and on few, for sources of exactly the same lengths."""
    many, few = of_equal_lengths(
        *(
            held_out_pairs(LANGUAGE, LENGTHS, 2 * SENTENCES, clauses)
            for clauses in (MANY_CLAUSES, FEW_CLAUSES)
        )
    )
    return quality(model, task, many), quality(model, task, few)


def of_equal_lengths(one: Sequence[Pair], other: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Return as many pairs of each as have a partner in the other whose source is as long."""
    lengths = [Counter(len(pair.source) for pair in pairs) for pairs in (one, other)]
    shared = lengths[0] & lengths[1]

    def chosen(pairs: Sequence[Pair]) -> Iterator[Pair]:
        left = shared.copy()
        for pair in pairs:
            if left[len(pair.source)] > 0:
                left[len(pair.source)] -= 1
                yield pair

    return [*chosen(one)], [*chosen(other)]
