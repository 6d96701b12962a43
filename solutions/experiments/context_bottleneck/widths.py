"""Two widths of `c` between the same encoder and the same decoder, watched while they learn.

The encoder's two last states, 256 numbers, pass through one matrix that makes `c` of them. So `c`
is all that differs, and with it the columns of the decoder that read it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...data.translation import Language
from ...translators.machines import SENTENCES
from ...translators.quality import held_out_pairs, quality
from ...translators.recurrent import BottleneckDecoder, Encoder
from ...translators.seq2seq import Memory, Seq2Seq, loss_of
from ...translators.training import (
    CLIP,
    DEVICE,
    RECURRENT,
    Task,
    batches,
    count_parameters,
    make_task,
    tensors,
)

LANGUAGE: Language = "german"
WIDTHS = (32, 256)
CLAUSES = (1, 1)
CHECKPOINTS = (75, 150, 300)
"""Steps of training after which the accuracy is measured, each twice the one before."""
LENGTHS = ((3, 5), (6, 7), (8, 9), (10, 11), (12, 14))
"""Source tokens of the test sets after the last step."""
D_ENCODER, D_DECODER = 128, 128


class Squeeze(nn.Module):
    """The encoder of chapter 1, and one matrix from its two last states to `c`."""

    def __init__(self, vocabulary_size: int, d_context: int) -> None:
        """d_context: the width of `c`."""
        super().__init__()
        self.encoder = Encoder(vocabulary_size, D_ENCODER)
        self.squeeze = nn.Linear(2 * D_ENCODER, d_context)

    def forward(self, sources: Tensor, lengths: Tensor) -> Memory:
        """sources: (B, n) ids, padded on the right; lengths: (B,), at least 1 each."""
        memory = self.encoder(sources, lengths)
        return Memory(memory.states, memory.mask, self.squeeze(memory.context))


def machine(source_tokens: int, target_tokens: int, d_context: int) -> Seq2Seq:
    """Return an untrained translator with a `c` of this width."""
    decoder = BottleneckDecoder(target_tokens, d_context, D_DECODER)
    return Seq2Seq(Squeeze(source_tokens, d_context), decoder)


@dataclass(frozen=True)
class Measured:
    """One training run. learning: token accuracy at CHECKPOINTS, on all lengths together.

    by_length: token accuracy at the end, for each of LENGTHS. seconds: of a core, to train.
    """

    learning: list[float]
    by_length: list[float]
    parameters: int
    seconds: float


def measure(seed: int) -> dict[int, Measured]:
    """Train a machine of each of WIDTHS on the same pairs in the same order."""
    task = make_task(LANGUAGE, CLAUSES, CHECKPOINTS[-1] * RECURRENT.batch, seed)
    everything = (LENGTHS[0][0], LENGTHS[-1][1])
    mixed = held_out_pairs(LANGUAGE, everything, 2 * SENTENCES, CLAUSES)
    found = {}
    for width in WIDTHS:
        torch.manual_seed(seed)
        model = machine(len(task.source_vocabulary), len(task.target_vocabulary), width)
        learning, seconds = [], []
        for so_far in train(model.to(DEVICE), task, seed):
            seconds.append(so_far)
            learning.append(quality(model, task, mixed).token_accuracy)
        by_length = [
            quality(model, task, held_out_pairs(LANGUAGE, n, SENTENCES, CLAUSES)).token_accuracy
            for n in LENGTHS
        ]
        found[width] = Measured(learning, by_length, count_parameters(model), seconds[-1])
    return found


def rate(step: int) -> float:
    """The share of the highest rate at `step`: up in a line, then down as one over the root.

    So no checkpoint is favoured, as the last one is by a rate that falls to 0 there.
    """
    return min((step + 1) / RECURRENT.warm_up, math.sqrt(RECURRENT.warm_up / (step + 1)))


def train(model: Seq2Seq, task: Task, seed: int) -> Iterator[float]:
    """Train as chapter 1's machine, but for the rate; yields the seconds at each checkpoint."""
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=RECURRENT.rate,
        betas=(0.9, RECURRENT.beta_2),
        weight_decay=RECURRENT.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    seconds, start = 0.0, time.process_time()
    for step, batch in enumerate(batches(task, RECURRENT.batch, seed), start=1):
        loss = loss_of(model, *tensors(batch))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        schedule.step()
        if step in CHECKPOINTS:
            seconds += time.process_time() - start
            yield seconds
            start = time.process_time()
