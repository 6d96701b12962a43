"""Tasks in which related tokens are not similar, and attention layers that try to learn them.

A sequence has `RECORDS` records. A record binds a letter to a number, both drawn at random. The
question names a letter. In the task "own" the answer is the number stored under that letter; in the
task "partner" it is the number stored under its partner (A and B are partners, C and D, and so on);
in the task "next" it is the number stored under the next letter of its circle (A, B, C, and back to
A). Recall from a new list is a standard test of sequence models: Graves et al. (2014), "Neural
Turing machines", ask for the item that followed, and Ba et al. (2016), "Using fast weights to
attend to the recent past", store pairs as here.
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
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
LAYERS = ("parameter-free", "one projection", "one projection, signed", "Q, K, V")
LONG_STEPS = 3000
"""The steps of the runs that ask whether more training would help."""

Start = tuple[float, float]
"""The initial standard deviations of the letters' and of the numbers' embeddings."""
SMALL, USUAL = (0.3, 0.3), (1.0, 1.0)
"""A small start, and PyTorch's."""


def own(letter: torch.Tensor) -> torch.Tensor:
    """Return the letter itself."""
    return letter


def partner(letter: torch.Tensor) -> torch.Tensor:
    """Return the other letter of the pair: 0 and 1 are partners, 2 and 3, and so on."""
    return letter ^ 1


def following(letter: torch.Tensor) -> torch.Tensor:
    """Return the next letter of the circle: 0, 1, 2 and back to 0; 3, 4, 5 and back to 3."""
    return letter // 3 * 3 + (letter + 1) % 3


TASKS = {"own": own, "partner": partner, "next": following}
"""Name -> the relation of the letter that is asked for to the letter of the answer."""

GROUP = {"own": 2, "partner": 2, "next": 3}
"""Name -> the number of related letters; the records of all of them are always present."""


def sample(batch: int, task: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw sequences of the task: letters, numbers, the letter asked for, and the right answer.

    Returns letters and numbers of shape (batch, RECORDS), asked and answer of shape (batch,).
    Letters are distinct within a sequence, and so are numbers. The records of all letters that are
    related to the requested one are always present. "next" does not use the last letter of LETTERS,
    which belongs to no circle.
    """
    size = GROUP[task]
    n_letters = LETTERS // size * size
    asked = torch.randint(n_letters, (batch,), generator=generator)
    group = (asked // size * size)[:, None] + torch.arange(size)  # (batch, size)
    order = torch.rand(batch, n_letters, generator=generator)
    order.scatter_(1, group, -1.0)  # smallest first: the group is taken before the rest
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

    signs: torch.Tensor

    def __init__(
        self,
        layer: str,
        start: Start = SMALL,
        d: int = D_MODEL,
        power: float = 0.5,
        factor: float = 1.0,
    ) -> None:
        """Build the model with one of LAYERS; all else is the same in all models.

        The layers with one projection have as many parameters as "Q, K, V", because their
        projection is twice as wide. In the signed one, half of the query's entries change their
        sign. start: the initial standard deviations of the letters' and of the numbers' embeddings.
        The scores are divided by the keys' width to the power `power`; the initial W_q and W_k are
        multiplied by `factor`.
        """
        super().__init__()
        self.letter, self.number = nn.Embedding(LETTERS, d), nn.Embedding(NUMBERS, d)
        for embedding, deviation in zip((self.letter, self.number), start, strict=True):
            nn.init.normal_(embedding.weight, std=deviation)
        self.read_out = nn.Linear(d, NUMBERS)
        self.power = power
        projections: Sequence[nn.Module] = [nn.Identity()] * 3
        if layer.startswith("one projection"):
            projections = [nn.Linear(d, 2 * d, bias=False)] * 2 + [nn.Linear(d, d, bias=False)]
        elif layer == "Q, K, V":
            projections = [nn.Linear(d, d, bias=False) for _ in range(3)]
        self.W_q, self.W_k, self.W_v = projections
        signs = torch.ones(2 * d if layer.startswith("one projection") else d)
        if layer == "one projection, signed":
            signs[1::2] = -1.0
        self.register_buffer("signs", signs)
        with torch.no_grad():
            for parameter in {*self.W_q.parameters(), *self.W_k.parameters()}:
                parameter.mul_(factor)

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, NUMBERS) and the question's weights (batch, RECORDS)."""
        Q = (self.signs * self.W_q(self.letter(asked)))[:, None]  # (batch, 1, d_k), one question
        K = self.W_k(self.letter(letters))  # (batch, RECORDS, d_k)
        V = self.W_v(self.number(numbers))  # (batch, RECORDS, d)
        scores = Q @ K.transpose(-1, -2) / Q.shape[-1] ** self.power  # (batch, 1, RECORDS)
        weights = scores.softmax(dim=-1)
        return self.read_out((weights @ V)[:, 0]), weights[:, 0]

    @torch.no_grad()
    def letter_scores(self) -> torch.Tensor:
        """Return (LETTERS, LETTERS): the score of question i on a record of letter j."""
        Q, K = self.signs * self.W_q(self.letter.weight), self.W_k(self.letter.weight)
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
    """Return the mean weight on the records of the letter itself, its partner, and the next."""
    letters, numbers, asked, _ = sequences
    weights = model(letters, numbers, asked)[1]
    on = {name: letters == relation(asked)[:, None] for name, relation in TASKS.items()}
    return {name: (weights * there).sum(dim=1).mean().item() for name, there in on.items()}


SMALL_LETTERS, SMALL_NUMBERS = (SMALL[0], USUAL[1]), (USUAL[0], SMALL[1])
"""Starts in which only one of the two embeddings is small; tried without parameters alone."""

ARMS = (
    *((task, start, layer) for task in TASKS for start in (SMALL, USUAL) for layer in LAYERS),
    ("partner", SMALL_LETTERS, LAYERS[0]),
    ("partner", SMALL_NUMBERS, LAYERS[0]),
)
"""The arms of the experiment: a task, the start of the embeddings, and a layer."""


def compare_layers(seed: int) -> dict[tuple[str, Start, str], Run]:
    """Train every arm at every rate of RATES; keep the best rate of each."""
    return {
        (task, start, layer): best_of(
            train(partial(Recall, layer, start), task, rate, seed, STEPS) for rate in RATES
        )
        for task, start, layer in ARMS
    }


def train_longer(rates: dict[tuple[str, str], float], seed: int) -> dict[tuple[str, str], Run]:
    """Train LONG_STEPS from the small start, at the rate in `rates` for a task and a layer."""
    return {
        (task, layer): train(partial(Recall, layer), task, rate, seed, LONG_STEPS)
        for (task, layer), rate in rates.items()
    }
