"""Train the models of `two_relations`, with one head, two or eight, and choose the rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from ..queries_keys_values.associative_recall import BATCH, TEST
from .losses import LOSSES, Loss, mean_of_both, worse_of_both
from .switches import Switches, try_all_subsets
from .two_relations import GivenShares, Sequences, TwoRelations, accuracies, places, sequences

HEADS = (1, 2, 8)
STEPS, LONG, TIMES = 400, 4000, 20
RATES = (0.003, 0.01, 0.03)
HIDDEN = 128
"""The units of the hidden layer, where the read-out has one."""

Build = Callable[[], TwoRelations]


@dataclass(frozen=True)
class Run:
    """A training run. Accuracies are (both numbers right, own right, partner's right).

    validation: the share with both right at the end, on the sequences for choosing the rate. All
    other values are measured on other sequences. accuracy: step -> accuracies. loss: step -> the
    mean cross-entropy of the two answers. weight_on: for each head, its mean weight on the own
    record and on the partner's. example: see `_example`.
    """

    rate: float
    validation: float
    parameters: int
    accuracy: dict[int, list[float]]
    loss: dict[int, float]
    weight_on: list[list[float]]
    example: dict[str, list[Any]]


def train(
    build: Build, rate: float, seed: int, steps: int = STEPS, loss_of: Loss = mean_of_both
) -> tuple[TwoRelations, Run]:
    """Train the model that `build` makes; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    test, validation = held_out(seed)
    model = build()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    accuracy, test_loss = {}, {}
    for step in range(steps + 1):
        if step % (steps // TIMES) == 0:
            accuracy[step] = accuracies(model, test)
            test_loss[step] = _loss(model, test, mean_of_both).item()
        loss = _loss(model, sequences(BATCH, data), loss_of)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    run = Run(
        rate,
        accuracies(model, validation)[0],
        sum(parameter.numel() for parameter in model.parameters()),
        accuracy,
        test_loss,
        _weight_on(model, test),
        _example(model),
    )
    return model, run


def held_out(seed: int) -> tuple[Sequences, Sequences]:
    """Return the sequences for testing, and those for choosing: a rate, or an order of heads."""
    test, validation = (torch.Generator().manual_seed(at + seed) for at in (2000, 3000))
    return sequences(TEST, test), sequences(TEST, validation)


def _loss(model: TwoRelations, batch: Sequences, loss_of: Loss) -> torch.Tensor:
    *inputs, answers = batch
    return loss_of(model(*inputs)[0], answers)


@torch.no_grad()
def _weight_on(model: TwoRelations, test: Sequences) -> list[list[float]]:
    """Return the mean weight of each head on the own record and the partner's, (n_heads, 2)."""
    letters, numbers, asked, _ = test
    weights = model(letters, numbers, asked)[1]  # (batch, n_heads, records)
    index = places(letters, asked)[:, None].expand(-1, weights.shape[1], -1)
    found: list[list[float]] = weights.gather(-1, index).mean(dim=0).tolist()
    return found


@torch.no_grad()
def _example(model: TwoRelations) -> dict[str, list[Any]]:
    """Return a sequence of four pairs, and the weights of every head for every question.

    letters: 8 letters. numbers: what is stored under them. weights: (n_heads, question, record),
    with a question for each letter.
    """
    letters = torch.tensor([4, 1, 11, 5, 0, 8, 10, 9])
    numbers = torch.tensor([3, 14, 7, 0, 9, 12, 5, 2])
    weights = model(letters.expand(8, -1), numbers.expand(8, -1), letters)[1]
    return {
        "letters": [chr(ord("A") + letter) for letter in letters.tolist()],
        "numbers": numbers.tolist(),
        "weights": weights.transpose(0, 1).tolist(),
    }


def best_rate(
    build: Build, seed: int, steps: int = STEPS, loss_of: Loss = mean_of_both
) -> tuple[TwoRelations, Run]:
    """Train at every rate of RATES; return the best model on the validation sequences."""
    return _best(train(build, rate, seed, steps, loss_of) for rate in RATES)


def _best(trained: Iterable[tuple[TwoRelations, Run]]) -> tuple[TwoRelations, Run]:
    return max(trained, key=lambda one: one[1].validation)


def compare_heads(seed: int) -> tuple[dict[int, Run], dict[int, Switches]]:
    """Train a model with each of HEADS; return their runs, and what all subsets of heads reach."""
    trained = {n_heads: best_rate(partial(TwoRelations, n_heads), seed) for n_heads in HEADS}
    test, validation = held_out(seed)
    switches = {
        n_heads: try_all_subsets(model, test, validation) for n_heads, (model, _) in trained.items()
    }
    return {n_heads: run for n_heads, (_, run) in trained.items()}, switches


def train_long(seed: int) -> dict[str, list[Run]]:
    """Train one head ten times as long, with each of LOSSES, at every rate of RATES."""
    build = partial(TwoRelations, 1)
    return {
        name: [train(build, rate, seed, LONG, loss_of)[1] for rate in RATES]
        for name, loss_of in LOSSES.items()
    }


def compare_read_outs(seed: int) -> dict[str, Run]:
    """Train one head behind a linear read-out and behind a hidden layer, its shares given or not.

    Given shares need STEPS steps. Learned ones get LONG steps: all of them with one hidden layer,
    under the mean of both losses or the worse of both, or half of them with a hidden layer or a
    linear read-out that is then replaced.
    """
    learned = partial(TwoRelations, 1, HIDDEN)
    trained = {
        "given, linear": best_rate(partial(GivenShares, 1), seed),
        "given, hidden": best_rate(partial(GivenShares, 1, HIDDEN), seed),
        "learned, hidden": best_rate(learned, seed, LONG),
        "learned, worse of both": best_rate(learned, seed, LONG, worse_of_both),
        "learned, hidden twice": _best(_in_halves(HIDDEN, rate, seed) for rate in RATES),
        "learned, linear first": _best(_in_halves(0, rate, seed) for rate in RATES),
    }
    return {name: run for name, (_, run) in trained.items()}


def _in_halves(hidden: int, rate: float, seed: int) -> tuple[TwoRelations, Run]:
    """Train one head with a read-out of `hidden` units, and then with a new hidden layer."""
    first, _ = train(partial(TwoRelations, 1, hidden), rate, seed, LONG // 2)
    return train(partial(_with_hidden_layer, first), rate, seed, LONG // 2)


def _with_hidden_layer(first: TwoRelations) -> TwoRelations:
    model = TwoRelations(1, HIDDEN)
    for part in ("letter", "number", "attend"):
        getattr(model, part).load_state_dict(getattr(first, part).state_dict())
    return model
