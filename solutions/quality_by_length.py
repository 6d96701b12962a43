"""The training of chapter 2: quality against length, with a decoder that looks back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from .seq2seq import Seq2Seq
from .translation import Language
from .translation_experiments import (
    ATTENTION_STEPS,
    CLAUSES,
    LENGTHS,
    LONG,
    SENTENCES,
    attention,
    trained,
)
from .translation_quality import Quality, held_out_pairs, quality
from .translator_training import DEVICE, Task

LANGUAGE: Language = "french"


@dataclass(frozen=True)
class Measured:
    """What one training gave: quality for each of LENGTHS, and for LONG.

    task: the vocabularies, without the pairs. state: the trained weights by their names, for
    `restore`. seconds: of a core.
    """

    by_length: list[Quality]
    long: Quality
    task: Task
    state: dict[str, np.ndarray]
    seconds: float


def measure(seed: int) -> Measured:
    """Train the machine of chapter 2 and test it."""
    model, task, seconds = trained(attention, LANGUAGE, CLAUSES, ATTENTION_STEPS, seed)

    def on(lengths: tuple[int, int], sentences: int) -> Quality:
        return quality(model, task, held_out_pairs(LANGUAGE, lengths, sentences, CLAUSES))

    return Measured(
        [on(lengths, SENTENCES) for lengths in LENGTHS],
        on(LONG, 2 * SENTENCES),
        replace(task, pairs=()),
        {name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()},
        seconds,
    )


def restore(measured: Measured) -> Seq2Seq:
    """Return the trained machine again, in the process that has the measurement."""
    task = measured.task
    model = attention(len(task.source_vocabulary), len(task.target_vocabulary))
    model.load_state_dict({name: torch.from_numpy(a) for name, a in measured.state.items()})
    return model.to(DEVICE).eval()
