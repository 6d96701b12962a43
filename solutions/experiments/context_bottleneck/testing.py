"""Two measures of a trained translator, by the length of the source.

The first measure compares a greedy translation with its reference, position by position. The second
gives the true prefix and asks for the next word (teacher forcing), so that no mistake affects later
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...data.translation import Language, Pair
from ...data.translation.vocabulary import PAD
from ...translators.machines import CLAUSES, LENGTHS, LONG, SENTENCES, SHORT
from ...translators.quality import Quality, held_out_pairs, quality
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, count_parameters, tensors

LANGUAGE: Language = "french"


@dataclass(frozen=True)
class Tested:
    """The test results of a trained machine. by_length and forced follow LENGTHS.

    forced: shares of right next tokens, given the true prefix. forced_short and forced_long: the
    same on SHORT and LONG. seconds: the processor seconds of the training.
    """

    by_length: list[Quality]
    short: Quality
    long: Quality
    forced: list[float]
    forced_short: float
    forced_long: float
    parameters: int
    seconds: float


def tested(model: Seq2Seq, task: Task, seconds: float) -> Tested:
    """Test a trained machine on SENTENCES of each of LENGTHS; SHORT and LONG have twice as many."""

    def pairs(lengths: tuple[int, int], times: int = 1) -> list[Pair]:
        return held_out_pairs(LANGUAGE, lengths, times * SENTENCES, CLAUSES)

    return Tested(
        [quality(model, task, pairs(lengths)) for lengths in LENGTHS],
        quality(model, task, pairs(SHORT, 2)),
        quality(model, task, pairs(LONG, 2)),
        [forced_accuracy(model, task, pairs(lengths)) for lengths in LENGTHS],
        forced_accuracy(model, task, pairs(SHORT, 2)),
        forced_accuracy(model, task, pairs(LONG, 2)),
        count_parameters(model),
        seconds,
    )


@torch.no_grad()
def forced_accuracy(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> float:
    """Return the share of right next tokens, including [STOP], given the true prefix."""
    sources, lengths, targets = tensors(task.batch(pairs))
    memory = model.encode(sources, lengths)
    logits, _ = model.decoder(targets[:, :-1], memory)
    wanted = targets[:, 1:]
    return (logits.argmax(dim=-1) == wanted)[wanted != PAD].float().mean().item()
