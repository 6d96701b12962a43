"""Quality by length: the training and the tests of the machines of chapters 2 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch

from ..data.translation import Language
from .machines import (
    ATTENTION_STEPS,
    BEYOND,
    BEYOND_CLAUSES,
    CLAUSES,
    LENGTHS,
    LONG,
    SENTENCES,
    TRANSFORMER_STEPS,
    Machine,
    attention,
    trained,
    transformer,
)
from .quality import Quality, held_out_pairs, quality
from .seq2seq import Seq2Seq
from .training import DEVICE, PARALLEL, RECURRENT, Recipe, Task, count_parameters

LANGUAGE: Language = "french"
MACHINES: dict[str, tuple[Machine, int, Recipe]] = {
    "attention": (attention, ATTENTION_STEPS, RECURRENT),
    "transformer": (transformer, TRANSFORMER_STEPS, PARALLEL),
}
"""Name -> the machine, its training steps, and AdamW's settings."""


@dataclass(frozen=True)
class Measured:
    """The result of training MACHINES[name]: its quality for each of LENGTHS, for LONG and BEYOND.

    task: the vocabularies, without the pairs. state: name -> trained weights, for `restore`.
    seconds: the processor seconds of the training alone.
    """

    name: str
    by_length: list[Quality]
    long: Quality
    beyond: Quality
    parameters: int
    task: Task
    state: dict[str, np.ndarray]
    seconds: float


def measure(name: str, seed: int) -> Measured:
    """Train MACHINES[name] and test it."""
    machine, steps, recipe = MACHINES[name]
    model, task, seconds = trained(machine, LANGUAGE, CLAUSES, steps, seed, recipe)

    def on(lengths: tuple[int, int], sentences: int, clauses: tuple[int, int] = CLAUSES) -> Quality:
        return quality(model, task, held_out_pairs(LANGUAGE, lengths, sentences, clauses))

    return Measured(
        name,
        [on(lengths, SENTENCES) for lengths in LENGTHS],
        on(LONG, 2 * SENTENCES),
        on(BEYOND, SENTENCES, BEYOND_CLAUSES),
        count_parameters(model),
        replace(task, pairs=()),
        {name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()},
        seconds,
    )


def restore(measured: Measured) -> Seq2Seq:
    """Return the trained machine, rebuilt from its measurement in this process."""
    task, (machine, _, _) = measured.task, MACHINES[measured.name]
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary))
    model.load_state_dict({name: torch.from_numpy(a) for name, a in measured.state.items()})
    return model.to(DEVICE).eval()


class Tested(Protocol):
    """The result of training and testing a machine, here or in the experiment of chapter 1."""

    by_length: list[Quality]
    long: Quality
    beyond: Quality
    parameters: int
    seconds: float


def as_figure_data(runs: Sequence[Tested]) -> dict[str, Any]:
    """Return the results of a machine's training runs for later chapters, as lists of numbers.

    The seconds are reported separately, because they differ between runs.

    "token_accuracy" and "bleu" have a row for each seed and a column for each of LENGTHS. The same
    two with "_long" or "_beyond" have a number for each seed, and so has "parameters".
    """
    data: dict[str, Any] = {"lengths": LENGTHS}
    for what in ("token_accuracy", "bleu"):
        data[what] = [[getattr(one, what) for one in run.by_length] for run in runs]
        data[f"{what}_long"] = [getattr(run.long, what) for run in runs]
        data[f"{what}_beyond"] = [getattr(run.beyond, what) for run in runs]
    return data | {"parameters": [run.parameters for run in runs]}
