"""A task on which a related pair is not a similar pair, and attention layers that try to learn it.

A sequence holds `RECORDS` records and ends with a question. A record binds a letter to a number,
both drawn at random, in one token: the sum of two learned vectors. The question names a letter. In
the task "own" the answer is the number stored under that letter; in the task "partner" it is the
number stored under its partner (A and B are partners, C and D, and so on). Recall from a list of
pairs made in the moment is a standard test of sequence models (Ba et al. 2016, "Using fast weights
to attend to the recent past").
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

LETTERS, NUMBERS, RECORDS = 16, 16, 8
D_MODEL = 32
STEPS, BATCH, TIMES, TEST = 300, 64, 10, 1024
RATES = (0.003, 0.01, 0.03)
LAYERS = ("parameter-free", "one projection for Q and K", "Q, K, V")


def own(letter: torch.Tensor) -> torch.Tensor:
    """The letter itself."""
    return letter


def partner(letter: torch.Tensor) -> torch.Tensor:
    """The other letter of the pair: 0 and 1 are partners, 2 and 3, and so on."""
    return letter ^ 1


TASKS = {"own": own, "partner": partner}


def sample(batch: int, task: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw sequences of the task: letters, numbers, the letter asked for, and the right answer.

    Returns letters and numbers of shape (batch, RECORDS), asked and answer of shape (batch,).
    Letters are distinct within a sequence, and so are numbers. The record of the letter that is
    asked for and the record of its partner are always there.
    """
    asked = torch.randint(LETTERS, (batch,), generator=generator)
    pair = torch.stack([asked, partner(asked)], dim=1)  # (batch, 2)
    order = torch.rand(batch, LETTERS, generator=generator)
    order.scatter_(1, pair, -1.0)  # smallest first: the pair is taken before the rest
    chosen = order.argsort(dim=1)[:, :RECORDS]  # (batch, RECORDS)
    shuffle = torch.rand(batch, RECORDS, generator=generator).argsort(dim=1)
    letters = chosen.gather(1, shuffle)
    numbers = torch.rand(batch, NUMBERS, generator=generator).argsort(dim=1)[:, :RECORDS]
    target = TASKS[task](asked)
    place = (letters == target[:, None]).int().argmax(dim=1)  # which record holds the answer
    return letters, numbers, asked, numbers.gather(1, place[:, None])[:, 0]


class Recall(nn.Module):
    """Embeddings, one attention layer, and a linear read-out at the last token, the question."""

    def __init__(self, layer: str, d: int = D_MODEL, power: float = 0.5) -> None:
        """Build the model with one of LAYERS; nothing else differs between models.

        "one projection for Q and K" has as many parameters as "Q, K, V": its one projection is
        twice as wide. The scores are divided by their width to the `power`.
        """
        super().__init__()
        self.letter = nn.Embedding(LETTERS, d)
        self.number = nn.Embedding(NUMBERS + 1, d)  # the last one stands for "which number?"
        self.read_out = nn.Linear(d, NUMBERS)
        self.power = power
        projections: Sequence[nn.Module] = [nn.Identity()] * 3
        if layer == "one projection for Q and K":
            projections = [nn.Linear(d, 2 * d, bias=False)] * 2 + [nn.Linear(d, d, bias=False)]
        elif layer == "Q, K, V":
            projections = [nn.Linear(d, d, bias=False) for _ in range(3)]
        self.W_q, self.W_k, self.W_v = projections

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, NUMBERS) and the question's weights (batch, RECORDS + 1)."""
        records = self.letter(letters) + self.number(numbers)  # (batch, RECORDS, d)
        question = self.letter(asked) + self.number.weight[NUMBERS]  # (batch, d)
        X = torch.cat([records, question[:, None]], dim=1)  # (batch, n, d), n = RECORDS + 1
        Q, K, V = self.W_q(X[:, -1:]), self.W_k(X), self.W_v(X)  # only the question's row is read
        scores = Q @ K.transpose(-1, -2) / Q.shape[-1] ** self.power  # (batch, 1, n)
        weights = scores.softmax(dim=-1)
        return self.read_out((weights @ V)[:, 0]), weights[:, 0]

    @torch.no_grad()
    def letter_scores(self) -> torch.Tensor:
        """Return (LETTERS, LETTERS): the score of the question i on the letter part of record j."""
        Q = self.W_q(self.letter.weight + self.number.weight[NUMBERS])
        K = self.W_k(self.letter.weight)
        return Q @ K.T / Q.shape[-1] ** self.power


@dataclass(frozen=True)
class Run:
    """One training: step -> accuracy on fresh sequences, and what the model attends to at the end.

    weight_on: mean weight of the question on the letter's own record, on its partner's, on itself.
    """

    rate: float
    accuracy: dict[int, float]
    weight_on: dict[str, float]
    letter_scores: list[list[float]]
    parameters: int


def train(model: Callable[[], Recall], task: str, rate: float, seed: int, steps: int) -> Run:
    """Train one model and look at it TIMES times; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    test = sample(TEST, task, torch.Generator().manual_seed(2000 + seed))
    recall = model()
    optimiser = torch.optim.AdamW(recall.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    accuracy = {}
    for step in range(steps + 1):
        if step % (steps // TIMES) == 0:
            accuracy[step] = _accuracy(recall, test)
        letters, numbers, asked, answer = sample(BATCH, task, data)
        loss = F.cross_entropy(recall(letters, numbers, asked)[0], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    return Run(
        rate,
        accuracy,
        _weight_on(recall, test),
        recall.letter_scores().tolist(),
        sum(parameter.numel() for parameter in recall.parameters()),
    )


def best_of(runs: Iterable[Run]) -> Run:
    """The run with the highest accuracy at the end."""
    return max(runs, key=lambda run: list(run.accuracy.values())[-1])


@torch.no_grad()
def _accuracy(model: Recall, test: tuple[torch.Tensor, ...]) -> float:
    *inputs, answer = test
    return (model(*inputs)[0].argmax(dim=-1) == answer).float().mean().item()


@torch.no_grad()
def _weight_on(model: Recall, test: tuple[torch.Tensor, ...]) -> dict[str, float]:
    letters, numbers, asked, _ = test
    weights = model(letters, numbers, asked)[1]
    found = {"itself": weights[:, -1].mean().item()}
    for name, relation in TASKS.items():
        there = letters == relation(asked)[:, None]  # (batch, RECORDS), one True a row
        found[name] = weights[:, :-1][there].mean().item()
    return found


def compare_layers(seed: int) -> dict[tuple[str, str], Run]:
    """Train every layer on every task, at every rate of RATES; keep the best rate of each."""
    return {
        (task, layer): best_of(
            train(partial(Recall, layer), task, rate, seed, STEPS) for rate in RATES
        )
        for task in TASKS
        for layer in LAYERS
    }
