"""Train the machine of chapter 1 for three times the steps, and switch off what else differs.

Three times the steps on fresh pairs are three times the pairs too, so one control has the steps
alone. Two others change the width of `c`, after as many steps as the machine that they are compared
with. The last learns without any source: what it gets right, the words before tell by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ...running.seeds import SEEDS, over_seeds
from ...translators.machines import BOTTLENECK_STEPS, CLAUSES, D_CONTEXT, bottleneck, trained
from ...translators.seq2seq import Memory, Seq2Seq
from ...translators.training import DEVICE, RECURRENT, make_task, train
from . import widths
from .testing import LANGUAGE, Tested, tested

TIMES = 3
STEPS = TIMES * BOTTLENECK_STEPS
WIDE = 2 * D_CONTEXT


def fresh_pairs(seed: int) -> Tested:
    """Train chapter 1's machine for STEPS, on each pair once, and test it."""
    return tested(*trained(bottleneck, LANGUAGE, CLAUSES, STEPS, seed))


def same_pairs(seed: int) -> Tested:
    """Train it for STEPS on the pairs of its 1,000 steps, each TIMES times."""
    once = make_task(LANGUAGE, CLAUSES, BOTTLENECK_STEPS * RECURRENT.batch, seed)
    task = replace(once, pairs=[*once.pairs] * TIMES)
    torch.manual_seed(seed)
    model = bottleneck(len(task.source_vocabulary), len(task.target_vocabulary)).to(DEVICE)
    seconds = train(model, task, seed)
    return tested(model.eval(), task, seconds)


def narrow(seed: int) -> Tested:
    """Train the machine of `widths`, whose `c` has 64 numbers, for STEPS, on each pair once."""
    return tested(*trained(widths.machine, LANGUAGE, CLAUSES, STEPS, seed))


def wide(seed: int) -> Tested:
    """Train a machine whose readers have together WIDE numbers for chapter 1's 1,000 steps."""
    machine = partial(bottleneck, d_context=WIDE)
    return tested(*trained(machine, LANGUAGE, CLAUSES, BOTTLENECK_STEPS, seed))


def sourceless(seed: int) -> Tested:
    """Train the machine `without_source` for chapter 1's 1,000 steps, and test it."""
    return tested(*trained(without_source, LANGUAGE, CLAUSES, BOTTLENECK_STEPS, seed))


def without_source(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return chapter 1's machine, untrained, with zeros in place of every `c`."""
    model = bottleneck(source_tokens, target_tokens)
    model.encoder.register_forward_hook(_forget)
    return model


def _forget(_: nn.Module, _arguments: tuple[Tensor, ...], memory: Memory) -> Memory:
    """Return `memory` with zeros in place of the one vector."""
    assert memory.context is not None
    return replace(memory, context=torch.zeros_like(memory.context))


RUNS: dict[str, Callable[[int], Tested]] = {
    "fresh_pairs": fresh_pairs,
    "same_pairs": same_pairs,
    "narrow": narrow,
    "wide": wide,
    "sourceless": sourceless,
}
JOBS = [(name, seed) for name in RUNS for seed in SEEDS]


def run(job: int) -> Tested:
    """Run the training and seed of JOBS[job]."""
    name, seed = JOBS[job]
    return RUNS[name](seed)


def measure_all() -> dict[str, dict[str, Any]]:
    """Return the results of RUNS for all seeds, as lists with a row for each seed.

    "token_accuracy" and "forced" have a column for each of LENGTHS.
    """
    done = over_seeds(run, range(len(JOBS)))
    return {
        name: _as_lists([one for (which, _), one in zip(JOBS, done, strict=True) if which == name])
        for name in RUNS
    }


def _as_lists(runs: list[Tested]) -> dict[str, Any]:
    return {
        "token_accuracy": [[one.token_accuracy for one in run.by_length] for run in runs],
        "forced": [run.forced for run in runs],
        "token_accuracy_long": [run.long.token_accuracy for run in runs],
        "token_accuracy_short": [run.short.token_accuracy for run in runs],
        "bleu_long": [run.long.bleu for run in runs],
        "forced_long": [run.forced_long for run in runs],
    }
