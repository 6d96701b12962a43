"""Train each position scheme on short sequences, and test it on long ones.

A sequence holds records, each a letter with a number, and ends with a question. In the task "last"
the question is a letter, and the answer is the number of its latest record; letters recur, so the
order decides. In the task "before" the question is a distance, and the answer is the number at that
distance before the question. One attention layer reads the sequence at the question. The models
differ only in their position schemes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import nn

from .doors import Added, Buckets, Doors, LinearBias, RelativeTable, Rotary

TASKS = ("last", "before")
SCHEMES = ("none", "learned", "sinusoidal", "rotary", "linear bias", "relative")
LETTERS, NUMBERS, DISTANCES = 8, 16, 4
D_MODEL, HEADS = 64, 4
STEPS, BATCH, RATE = 800, 64, 0.01
LONGER = 3
SHORTEST, LONGEST = 8, 16  # lengths in training, both included
LENGTHS, TEST = (8, 12, 16, 24, 32, 64, 128), 1000
SHOWN, SHOWN_LENGTH = 3, 64  # the distance and the length whose weights are kept


def sample(batch: int, n: int, task: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw sequences of n records: letters, numbers, the question, and the right answer.

    Returns letters and numbers of shape (batch, n), asked and answer of shape (batch,). In "last",
    `asked` is a letter of the sequence; in "before", it is LETTERS - 1 plus a distance.
    """
    letters = torch.randint(LETTERS, (batch, n), generator=generator)
    numbers = torch.randint(NUMBERS, (batch, n), generator=generator)
    rows = torch.arange(batch)
    if task == "last":
        asked = letters[rows, torch.randint(n, (batch,), generator=generator)]
        back = (letters == asked[:, None]).flip(1).int().argmax(dim=1) + 1
    else:
        back = torch.randint(1, DISTANCES + 1, (batch,), generator=generator)
        asked = LETTERS - 1 + back
    return letters, numbers, asked, numbers[rows, n - back]


def doors(scheme: str) -> Doors:
    """Return the doors of one of SCHEMES, or of "buckets"."""
    longest, d_head = max(LENGTHS) + 1, D_MODEL // HEADS
    if scheme in ("learned", "sinusoidal"):
        return Added(longest, D_MODEL, learned=scheme == "learned")
    if scheme == "rotary":
        return Rotary(longest, d_head)
    if scheme == "linear bias":
        return LinearBias(longest, HEADS)
    if scheme == "relative":
        return RelativeTable(d_head)
    return Buckets(HEADS) if scheme == "buckets" else Doors()


class Reader(nn.Module):
    """Embeddings, an attention layer of HEADS heads, and a linear read-out at the question."""

    def __init__(self, scheme: str) -> None:
        """Build the model with a scheme; with the same seed, all models have equal initial weights.

        The initial weights are torch's: embeddings are normal, with standard deviation 1, and
        matrices uniform. The parameters of the scheme are drawn last. "learned" has a row for every
        position that is ever tested. The rows beyond the longest training sequence never get a
        gradient and keep their small random initial values.
        """
        super().__init__()
        self.asked = nn.Embedding(LETTERS + DISTANCES, D_MODEL)  # letters in records, too
        self.number = nn.Embedding(NUMBERS + 1, D_MODEL)  # the last one: "which number?"
        self.W_q, self.W_k, self.W_v = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(3))
        self.read_out = nn.Linear(D_MODEL, NUMBERS)
        self.place = doors(scheme)

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, NUMBERS) and the question's weights (batch, HEADS, n + 1)."""
        records = self.asked(letters) + self.number(numbers)  # (batch, n, d)
        question = self.asked(asked) + self.number.weight[NUMBERS]  # (batch, d)
        logits, weights = read(self, torch.cat([records, question[:, None]], dim=1))
        return logits, weights[:, :, 0]

    def heads(self, Z: torch.Tensor) -> torch.Tensor:
        """Split the features of tokens (batch, n, d) into heads, (batch, HEADS, n, d_head)."""
        return Z.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def read(model: Reader, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Read tokens (batch, n, d) at the last token; return its logits and its weights."""
    X = model.place.add(X)  # door 1: (batch, n, d), the question last
    Q, K, V = model.W_q(X[:, -1:]), model.W_k(X), model.W_v(X)
    Q, K = model.place.turn(model.heads(Q), model.heads(K))  # door 2
    scores = Q @ K.mT / Q.shape[-1] ** 0.5  # (batch, heads, 1, n)
    weights = (scores + model.place.bias(Q, X.shape[1])).softmax(-1)  # door 3
    merged = (weights @ model.heads(V)).transpose(1, 2).flatten(-2)
    return model.read_out(merged[:, 0]), weights


@dataclass(frozen=True)
class Run:
    """A training run: length -> accuracy on new sequences, and where the model looks.

    looks: for the task "before", the mean weight (over heads and sequences) from the question for
    distance SHOWN on distance 0, 1, ... SHOWN_LENGTH; empty for the task "last".
    """

    accuracy: dict[int, float]
    looks: list[float]


def fit(
    model: Reader, task: str, steps: int, rate: float, longest: int, data: torch.Generator
) -> None:
    """Train on sequences of SHORTEST to `longest` records; the rate falls linearly to 2 %."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.02, steps)
    for _ in range(steps):
        n = int(torch.randint(SHORTEST, longest + 1, (), generator=data))
        *inputs, answer = sample(BATCH, n, task, data)
        loss = F.cross_entropy(model(*inputs)[0], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()


@cache
def trained(scheme: str, task: str, seed: int, steps: int = STEPS) -> Reader:
    """Train a model, once in a process; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    model = Reader(scheme)
    fit(model, task, steps, RATE, LONGEST, torch.Generator().manual_seed(1000 + seed))
    return model


@torch.no_grad()
def assess(model: Reader, task: str, seed: int) -> Run:
    """Test a model at all LENGTHS; all models of a seed get the same questions."""
    accuracy, looks = {}, []
    for n in LENGTHS:
        *inputs, answer = sample(TEST, n, task, torch.Generator().manual_seed(2000 + seed))
        logits, weights = model(*inputs)
        accuracy[n] = (logits.argmax(dim=-1) == answer).float().mean().item()
        if task == "before" and n == SHOWN_LENGTH:
            chosen = weights[inputs[2] == LETTERS - 1 + SHOWN]  # (questions, HEADS, n + 1)
            looks = chosen.mean(dim=(0, 1)).flip(0).tolist()
    return Run(accuracy, looks)


def compare_schemes(seed: int, schemes: tuple[str, ...] = SCHEMES) -> dict[tuple[str, str], Run]:
    """Train every scheme on every task, and test it."""
    pairs = [(task, scheme) for task in TASKS for scheme in schemes]
    return {
        (task, scheme): assess(trained(scheme, task, seed), task, seed) for task, scheme in pairs
    }


def train_longer(seed: int) -> Run:
    """Train the sinusoids on "before", which they learn most slowly, for LONGER times the steps."""
    return assess(trained("sinusoidal", "before", seed, LONGER * STEPS), "before", seed)
