"""A task with two relations at once, and an attention layer with one head, two, or more.

The sequences are those of `associative_recall`: records that bind a letter to a number, and a
question that names a letter. Now the answer consists of two numbers: the number stored under the
letter itself, and the number stored under its partner.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ...multi_head import head_importance
from ..queries_keys_values.associative_recall import (
    BATCH,
    D_MODEL,
    LETTERS,
    NUMBERS,
    TEST,
    own,
    partner,
    sample,
)

RELATIONS = ("own", "partner")
RATES = (0.003, 0.01, 0.03)
HEADS = (1, 2, 8)
HIDDEN = 128
STEPS, TIMES = 400, 10
SHARES = (2 / 3, 1 / 3)
"""The weights of the own record and of the partner's in `GivenShares`."""


def places(letters: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
    """Return the positions (batch, 2) of a question's own record and its partner's.

    letters: (batch, records). asked: (batch,), letters whose own and partner's records are present.
    """
    wanted = torch.stack([relation(asked) for relation in (own, partner)], dim=1)  # (batch, 2)
    return (letters[:, None] == wanted[..., None]).int().argmax(dim=-1)


class TwoRelations(nn.Module):
    """One attention layer and a read-out of two numbers, linear or with one hidden layer.

    Queries and keys are computed from letters and values from numbers, so the weights cannot depend
    on the numbers. All sizes, and so the number of parameters, are the same for every number of
    heads.
    """

    def __init__(self, n_heads: int, hidden: int = 0) -> None:
        """Build the model; D_MODEL must be divisible by n_heads. hidden: units of the read-out."""
        super().__init__()
        self.letter = nn.Embedding(LETTERS, D_MODEL)
        self.number = nn.Embedding(NUMBERS, D_MODEL)
        self.attend = nn.MultiheadAttention(D_MODEL, n_heads, bias=False, batch_first=True)
        logits = len(RELATIONS) * NUMBERS
        self.read_out: nn.Module = nn.Linear(hidden or D_MODEL, logits)
        if hidden:
            self.read_out = nn.Sequential(nn.Linear(D_MODEL, hidden), nn.ReLU(), self.read_out)

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, 2, NUMBERS) and weights (batch, n_heads, records)."""
        question = self.letter(asked)[:, None]  # (batch, 1, d)
        keys, values = self.letter(letters), self.number(numbers)  # (batch, records, d)
        output, weights = self.attend(question, keys, values, average_attn_weights=False)
        logits = self.read_out(output[:, 0])  # (batch, 2 * NUMBERS)
        return logits.unflatten(-1, (len(RELATIONS), NUMBERS)), weights[:, :, 0]

    @torch.no_grad()
    def importance(self, sequences: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the importance of each head, (n_heads,): the mean of `head_importance`."""
        letters, numbers, asked = sequences[:3]
        _, weights = self(letters, numbers, asked)
        W_v = self.attend.in_proj_weight.chunk(3)[2].T
        values = self.number(numbers) @ W_v  # (batch, records, d)
        values = values.unflatten(-1, (weights.shape[1], -1)).transpose(1, 2)
        W_o = self.attend.out_proj.weight.T
        found = head_importance(weights[:, :, None].numpy(), values.numpy(), W_o.numpy())
        return torch.from_numpy(found).mean(dim=0)

    @torch.no_grad()
    def without(self, heads: Iterable[int]) -> "TwoRelations":
        """Return a copy without the contributions of `heads` to the output."""
        rest = copy.deepcopy(self)
        columns = rest.attend.out_proj.weight.unflatten(-1, (self.attend.num_heads, -1))
        columns[:, list(heads)] = 0  # (d, n_heads, d_head): the columns of each head
        return rest


class GivenShares(TwoRelations):
    """The model with one head whose weights are fixed: SHARES, and 0 elsewhere."""

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, 2, NUMBERS) and weights (batch, 1, records)."""
        shares = torch.tensor(SHARES, dtype=self.number.weight.dtype).expand(len(letters), -1)
        weights = self.number.weight.new_zeros(letters.shape)
        weights = weights.scatter(1, places(letters, asked), shares)[:, None]  # (batch, 1, records)
        values = self.number(numbers) @ self.attend.in_proj_weight.chunk(3)[2].T
        output = self.attend.out_proj(weights @ values)  # (batch, 1, d)
        return self.read_out(output[:, 0]).unflatten(-1, (len(RELATIONS), NUMBERS)), weights


ONE_HEAD: dict[str, Callable[[], TwoRelations]] = {
    "given shares, linear": partial(GivenShares, 1),
    "given shares, hidden layer": partial(GivenShares, 1, HIDDEN),
    "learned shares, hidden layer": partial(TwoRelations, 1, HIDDEN),
}
"""Name -> model with one head; the name says how its weights and its read-out are made."""


@dataclass(frozen=True)
class Run:
    """A training run. Accuracies are (both numbers right, own right, partner's right).

    validation: the share with both numbers right at the end, on the sequences for choosing the
    rate. All other values are measured on other sequences. accuracy: step -> share with both
    numbers right. weight_on: a row for each head, its mean weight on the own record and on the
    partner's. without: accuracies after the removal of each head alone. fewer: accuracy (both)
    after the removal of 0, 1, ... n_heads heads, by "least important first" and "most important
    first". example: letters, numbers and weights (n_heads, question, record) of a sequence that
    contains every letter's partner, with a question for each letter.
    """

    rate: float
    validation: float
    parameters: int
    accuracy: dict[int, float]
    weight_on: list[list[float]]
    importance: list[float]
    complete: list[float]
    without: list[list[float]]
    fewer: dict[str, list[float]]
    example: dict[str, list[Any]]


def train(build: Callable[[], TwoRelations], rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train the model that `build` makes; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    test = sequences(TEST, torch.Generator().manual_seed(2000 + seed))
    validation = sequences(TEST, torch.Generator().manual_seed(3000 + seed))
    model = build()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    accuracy = {}
    for step in range(steps + 1):
        if step % (steps // TIMES) == 0:
            accuracy[step] = accuracies(model, test)[0]
        letters, numbers, asked, answers = sequences(BATCH, data)
        logits, _ = model(letters, numbers, asked)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    return _look(model, rate, accuracies(model, validation)[0], accuracy, test)


def sequences(batch: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw letters and numbers (batch, records), asked (batch,), and both answers (batch, 2)."""
    letters, numbers, asked, _ = sample(batch, RELATIONS[0], generator)
    return letters, numbers, asked, numbers.gather(1, places(letters, asked))


@torch.no_grad()
def accuracies(model: TwoRelations, test: tuple[torch.Tensor, ...]) -> list[float]:
    """Return the shares of sequences with both numbers right, the own right, the partner's."""
    *inputs, answers = test
    right = model(*inputs)[0].argmax(dim=-1) == answers  # (batch, 2)
    return [right.all(dim=1).float().mean().item(), *right.float().mean(dim=0).tolist()]


@torch.no_grad()
def _look(
    model: TwoRelations,
    rate: float,
    validation: float,
    accuracy: dict[int, float],
    test: tuple[torch.Tensor, ...],
) -> Run:
    letters, numbers, asked, _ = test
    n_heads = model.attend.num_heads
    weights = model(letters, numbers, asked)[1]  # (batch, n_heads, records)
    index = places(letters, asked)[:, None].expand(-1, n_heads, -1)
    importance = model.importance(test)
    ranking = importance.argsort().tolist()
    orders = {"least important first": ranking, "most important first": ranking[::-1]}
    return Run(
        rate,
        validation,
        sum(parameter.numel() for parameter in model.parameters()),
        accuracy,
        weights.gather(-1, index).mean(dim=0).tolist(),
        importance.tolist(),
        accuracies(model, test),
        [accuracies(model.without([head]), test) for head in range(n_heads)],
        {
            name: [accuracies(model.without(order[:k]), test)[0] for k in range(n_heads + 1)]
            for name, order in orders.items()
        },
        _example(model),
    )


def _example(model: TwoRelations) -> dict[str, list[Any]]:
    letters = torch.tensor([4, 1, 11, 5, 0, 8, 10, 9])  # four pairs
    numbers = torch.tensor([3, 14, 7, 0, 9, 12, 5, 2])
    weights = model(letters.expand(8, -1), numbers.expand(8, -1), letters)[1]
    return {
        "letters": [chr(ord("A") + letter) for letter in letters.tolist()],
        "numbers": numbers.tolist(),
        "weights": weights.transpose(0, 1).tolist(),
    }


def best_rate(build: Callable[[], TwoRelations], seed: int) -> Run:
    """Train at every rate of RATES; return the best run on the validation sequences."""
    return max((train(build, rate, seed) for rate in RATES), key=lambda run: run.validation)


def compare_heads(seed: int) -> dict[int, Run]:
    """Train a model with each of HEADS."""
    return {n_heads: best_rate(partial(TwoRelations, n_heads), seed) for n_heads in HEADS}


def compare_read_outs(seed: int) -> dict[str, Run]:
    """Train each model of ONE_HEAD."""
    return {name: best_rate(build, seed) for name, build in ONE_HEAD.items()}
