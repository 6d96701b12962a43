"""Chapter 9's own `Transformer`, trained on short sentences with 2017's loss and learning rate.

The loop is that of the chapter's page; here it can be run over seeds and smoothings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...data.translation import Pair
from ...data.translation.vocabulary import PAD, START
from ...transformer import Transformer, label_smoothed_loss, shift_right, warmup_learning_rate
from ...translators.quality import held_out_pairs, token_accuracy
from ...translators.quality_by_length import LANGUAGE
from ...translators.training import CLIP, Task, batches, make_task, tensors

CLAUSES, LENGTHS, SENTENCES = (1, 1), (3, 14), 200
"""The clauses of all pairs; the source tokens and the number of the test sentences."""
STEPS, BATCH, WARM_UP = 400, 32, 100
FACTOR = 0.5
"""The learning rate as a multiple of that of 2017."""
SIZES = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2}
JOBS = tuple((smoothing, seed) for seed in range(2) for smoothing in (0.0, 0.1))
"""Training runs that differ only in the smoothing of the loss and in the seed."""


@dataclass(frozen=True)
class Own:
    """A training run, tested on new sentences.

    losses: the loss of each step, smoothed as in training. perplexity: that of the right tokens
    under teacher forcing. likeliest: the mean probability of the likeliest token under teacher
    forcing. right: the share of cases in which it is the right token. written: the token accuracy
    of greedy translations.
    """

    losses: list[float]
    perplexity: float
    likeliest: float
    right: float
    written: float


def measure_own(job: int) -> Own:
    """Train and test the model of JOBS[job]."""
    smoothing, seed = JOBS[job]
    model, task, losses = train_own(smoothing, seed)
    pairs = held_out_pairs(LANGUAGE, LENGTHS, SENTENCES, CLAUSES)
    sources, _, rows = tensors(task.batch(pairs))
    targets = rows[:, 1:]
    with torch.no_grad():
        logits = model(sources, shift_right(targets, START), sources != PAD)
    counts = targets != PAD
    shares, best = logits.softmax(dim=-1).max(dim=-1)
    return Own(
        losses,
        label_smoothed_loss(logits, targets, 0.0, PAD).exp().item(),
        shares[counts].mean().item(),
        (best == targets)[counts].double().mean().item(),
        token_accuracy(write(model, task, pairs), [pair.target for pair in pairs]),
    )


def rate_at(step: int) -> float:
    """Return the page's learning rate at `step`, 1, 2, ..."""
    return FACTOR * warmup_learning_rate(step, SIZES["d_model"], WARM_UP)


def without_the_rise(step: int) -> float:
    """Return the rate of a schedule that starts at its peak and falls as the page's does."""
    return rate_at(max(step, WARM_UP))


def measure_without_rise(seed: int) -> float:
    """Return the token accuracy of the page's machine, trained without the rise."""
    model, task, _ = train_own(0.1, seed, rate=without_the_rise)
    pairs = held_out_pairs(LANGUAGE, LENGTHS, SENTENCES, CLAUSES)
    return token_accuracy(write(model, task, pairs), [pair.target for pair in pairs])


def train_own(
    smoothing: float,
    seed: int,
    change: Callable[[Transformer], None] = lambda model: None,
    tables: float = 1.0,
    rate: Callable[[int], float] = rate_at,
) -> tuple[Transformer, Task, list[float]]:
    """Train the page's machine. Returns the machine, its task, and the loss of every step.

    change: called with the new machine before its training. tables: the rate of the tables of
    embeddings, as a multiple of that of the other weights. rate: step -> learning rate.
    """
    torch.manual_seed(seed)
    task = make_task(LANGUAGE, CLAUSES, STEPS * BATCH, seed)
    model = Transformer(len(task.source_vocabulary), len(task.target_vocabulary), **SIZES)
    change(model)
    embeddings, others = by_kind(model)
    groups = [{"params": others}, {"params": embeddings}]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.1)
    losses = []
    for step, batch in enumerate(batches(task, BATCH, seed), start=1):
        for group, times in zip(optimiser.param_groups, (1.0, tables), strict=True):
            group["lr"] = times * rate(step)
        sources, _, rows = tensors(batch)  # a row: [START] ... [STOP], then padding
        targets = rows[:, 1:]
        logits = model(sources, shift_right(targets, START), sources != PAD)
        loss = label_smoothed_loss(logits, targets, smoothing, PAD)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        losses.append(loss.item())
    return model.eval(), task, losses


def by_kind(model: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """Return the tables of embeddings, and all other parameters."""
    tables = [one.weight for one in model.modules() if isinstance(one, nn.Embedding)]
    known = {id(table) for table in tables}
    return tables, [one for one in model.parameters() if id(one) not in known]


@torch.no_grad()
def write(model: Transformer, task: Task, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Translate the sources of `pairs` greedily in a batch. Returns the tokens of each."""
    sources, _, rows = tensors(task.batch(pairs))
    written = torch.full((len(pairs), 1), START)
    for _ in range(rows.shape[1] + 5):
        logits = model(sources, written, sources != PAD)
        written = torch.cat([written, logits[:, -1:].argmax(dim=-1)], dim=1)
    return [task.target_vocabulary.decode(row.tolist()) for row in written]
