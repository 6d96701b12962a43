"""A task in which related tokens are not similar, and attention layers that try to learn it.

A sequence has `RECORDS` records. A record binds a letter to a number, both drawn at random. The
question names a letter. In the task "own" the answer is the number stored under that letter; in the
task "partner" it is the number stored under its partner (A and B are partners, C and D, and so on).
Recall from a new list of pairs is a standard test of sequence models (Ba et al. 2016, "Using fast
weights to attend to the recent past").
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
USUAL, SMALL = 1.0, 0.3
"""Initial standard deviations of the embeddings: torch's, and a smaller one."""

ARMS = (("own", SMALL), ("partner", SMALL), ("partner", USUAL))
"""The arms of the experiment: a task, and the initial standard deviation of the embeddings."""


def own(letter: torch.Tensor) -> torch.Tensor:
    """Return the letter itself."""
    return letter


def partner(letter: torch.Tensor) -> torch.Tensor:
    """Return the other letter of the pair: 0 and 1 are partners, 2 and 3, and so on."""
    return letter ^ 1


TASKS = {"own": own, "partner": partner}


def sample(batch: int, task: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw sequences of the task: letters, numbers, the letter asked for, and the right answer.

    Returns letters and numbers of shape (batch, RECORDS), asked and answer of shape (batch,).
    Letters are distinct within a sequence, and so are numbers. The records of the requested letter
    and of its partner are always present.
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
    """Embeddings, an attention layer from the question to the records, and a linear read-out.

    Queries and keys are computed from letters and values from numbers, so the weights cannot depend
    on the numbers.
    """

    def __init__(
        self, layer: str, start: float = SMALL, d: int = D_MODEL, power: float = 0.5
    ) -> None:
        """Build the model with one of LAYERS; all else is the same in all models.

        "one projection for Q and K" has as many parameters as "Q, K, V", because its projection is
        twice as wide. start: the initial standard deviation of the embeddings. The scores are
        divided by the keys' width to the power `power`.
        """
        super().__init__()
        self.letter, self.number = nn.Embedding(LETTERS, d), nn.Embedding(NUMBERS, d)
        for embedding in (self.letter, self.number):
            nn.init.normal_(embedding.weight, std=start)
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
        """Return logits (batch, NUMBERS) and the question's weights (batch, RECORDS)."""
        Q = self.W_q(self.letter(asked))[:, None]  # (batch, 1, d_k), one question
        K = self.W_k(self.letter(letters))  # (batch, RECORDS, d_k)
        V = self.W_v(self.number(numbers))  # (batch, RECORDS, d)
        scores = Q @ K.transpose(-1, -2) / Q.shape[-1] ** self.power  # (batch, 1, RECORDS)
        weights = scores.softmax(dim=-1)
        return self.read_out((weights @ V)[:, 0]), weights[:, 0]

    @torch.no_grad()
    def letter_scores(self) -> torch.Tensor:
        """Return (LETTERS, LETTERS): the score of question i on a record of letter j."""
        Q, K = self.W_q(self.letter.weight), self.W_k(self.letter.weight)
        return Q @ K.T / Q.shape[-1] ** self.power


@dataclass(frozen=True)
class Run:
    """One training run.

    validation: the accuracy at the end, on the sequences for choosing the rate. accuracy: step ->
    accuracy on other sequences. own_at_start: the question's mean weight on its letter's own record
    before the first step. weight_on: the weights at the end on its own record and on its partner's.
    """

    rate: float
    validation: float
    accuracy: dict[int, float]
    own_at_start: float
    weight_on: dict[str, float]
    letter_scores: list[list[float]]
    parameters: int


def train(model: Callable[[], Recall], task: str, rate: float, seed: int, steps: int) -> Run:
    """Train a model and test it TIMES times; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    test = sample(TEST, task, torch.Generator().manual_seed(2000 + seed))
    validation = sample(TEST, task, torch.Generator().manual_seed(3000 + seed))
    recall = model()
    own_at_start = _weight_on(recall, test)["own"]
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
        _accuracy(recall, validation),
        accuracy,
        own_at_start,
        _weight_on(recall, test),
        recall.letter_scores().tolist(),
        sum(parameter.numel() for parameter in recall.parameters()),
    )


def best_of(runs: Iterable[Run]) -> Run:
    """Return the first run with the highest accuracy on the validation sequences."""
    return max(runs, key=lambda run: run.validation)


@torch.no_grad()
def _accuracy(model: Recall, sequences: tuple[torch.Tensor, ...]) -> float:
    *inputs, answer = sequences
    return (model(*inputs)[0].argmax(dim=-1) == answer).float().mean().item()


@torch.no_grad()
def _weight_on(model: Recall, sequences: tuple[torch.Tensor, ...]) -> dict[str, float]:
    letters, numbers, asked, _ = sequences
    weights = model(letters, numbers, asked)[1]
    found = {}
    for name, relation in TASKS.items():
        there = letters == relation(asked)[:, None]  # (batch, RECORDS), with one True in each row
        found[name] = weights[there].mean().item()
    return found


def compare_layers(seed: int) -> dict[tuple[str, float, str], Run]:
    """Train every layer on every arm, at every rate of RATES; keep the best rate of each."""
    return {
        (task, start, layer): best_of(
            train(partial(Recall, layer, start), task, rate, seed, STEPS) for rate in RATES
        )
        for task, start in ARMS
        for layer in LAYERS
    }
