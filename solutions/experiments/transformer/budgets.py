"""Experiment for chapter 9: quality on long sentences at equal cost, and the cost of a step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ...running.claims import median_ratio, paired_seconds
from ...running.seeds import SEEDS
from ...translators.machines import (
    CLAUSES,
    LONG,
    SENTENCES,
    Machine,
    attention,
    bottleneck,
    trained,
    transformer,
)
from ...translators.quality import Quality, held_out_pairs, quality
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import loss_of
from ...translators.training import (
    CLIP,
    PARALLEL,
    RECURRENT,
    Recipe,
    Task,
    batches,
    make_task,
    tensors,
)

MACHINES: dict[str, tuple[Machine, Recipe]] = {
    "one vector": (bottleneck, RECURRENT),
    "looking back": (attention, RECURRENT),
    "Transformer": (transformer, PARALLEL),
}
RUNS = (("Transformer", 700), ("Transformer", 2250), ("looking back", 500))
"""Half the page's steps, as many as chapter 2's 1,000 cost, and half of those.

The middle one is from `step_costs`, measured once: a cost taken anew would move the results.
"""
JOBS = tuple((*run, seed) for run in RUNS for seed in SEEDS)


def measure_budget(job: int) -> Quality:
    """Train as JOBS[job] says, over whose steps the rate rises and falls to 0.

    Returns the quality on long sentences.
    """
    name, steps, seed = JOBS[job]
    machine, recipe = MACHINES[name]
    model, task, _ = trained(machine, LANGUAGE, CLAUSES, steps, seed, recipe)
    return quality(model, task, held_out_pairs(LANGUAGE, LONG, 2 * SENTENCES, CLAUSES))


def step_costs(rounds: int = 5) -> dict[str, float]:
    """Return the cost of a training step of each of MACHINES; the Transformer's is 1.

    All take the same 24 batches in turn, on one core.
    """
    size = RECURRENT.batch
    task = make_task(LANGUAGE, CLAUSES, 24 * size, seed=0)
    drawn = [tensors(batch) for batch in batches(task, size, seed=0)]
    calls = {name: _epoch(machine, task, drawn) for name, (machine, _) in MACHINES.items()}
    taken = paired_seconds(calls, rounds)
    return {name: median_ratio(taken[name], taken["Transformer"]) for name in MACHINES}


def _epoch(
    machine: Machine, task: Task, drawn: list[tuple[Tensor, Tensor, Tensor]]
) -> Callable[[], None]:
    torch.manual_seed(0)
    model = machine(len(task.source_vocabulary), len(task.target_vocabulary))
    optimiser = torch.optim.AdamW(model.parameters(), fused=True)

    def epoch() -> None:
        for batch in drawn:
            loss = loss_of(model, *batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimiser.step()

    return epoch
