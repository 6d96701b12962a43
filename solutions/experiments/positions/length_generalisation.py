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

from .doors import REACH, Added, Buckets, Doors, Drawn, LinearBias, RelativeTable, Rotary

TASKS = ("last", "before")
SCHEMES = ("none", "learned", "sinusoidal", "rotary", "linear bias", "relative")
DRAWN = ("learned, drawn", "sinusoidal, drawn")
"""Schemes whose positions are drawn at random from all that are ever tested."""
LETTERS, NUMBERS, DISTANCES = 8, 16, 4
D_MODEL, HEADS = 64, 4
START = 0.2  # the standard deviation of the embeddings before training
STEPS, BATCH, RATE = 800, 64, 0.01
SHORTEST, LONGEST = 8, 16  # lengths in training, both included
LONGER = 64  # the longest in training for models that need not extrapolate
SLOWLY = 4
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
    """Return the doors of one of SCHEMES or DRAWN, or of "buckets"."""
    longest, d_head = max(LENGTHS) + 1, D_MODEL // HEADS
    if scheme in ("learned", "sinusoidal", *DRAWN):
        added = Drawn if scheme in DRAWN else Added
        return added(longest, D_MODEL, learned=scheme.startswith("learned"))
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

        Embeddings are normal, with standard deviation START, and matrices are torch's. The
        parameters of the scheme are drawn last. "learned" has a row for every position that is ever
        tested. The rows beyond the longest training sequence never get a gradient and keep their
        small random initial values.
        """
        super().__init__()
        self.asked = nn.Embedding(LETTERS + DISTANCES, D_MODEL)  # letters in records, too
        self.number = nn.Embedding(NUMBERS + 1, D_MODEL)  # the last one: "which number?"
        for table in (self.asked, self.number):
            nn.init.normal_(table.weight, std=START)
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
def trained(scheme: str, task: str, seed: int, longest: int, steps: int = STEPS) -> Reader:
    """Train a model, once in a process; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    model = Reader(scheme)
    fit(model, task, steps, RATE, longest, torch.Generator().manual_seed(1000 + seed))
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


def compare_schemes(
    seed: int, schemes: tuple[str, ...], longest: int = LONGEST
) -> dict[tuple[str, str], Run]:
    """Train every scheme on every task with sequences of up to `longest` records, and test it."""
    return {
        (task, scheme): assess(trained(scheme, task, seed, longest), task, seed)
        for task in TASKS
        for scheme in schemes
    }


def learn_slowly(seed: int) -> dict[str, Run]:
    """Train what learns "before" slowly on up to LONGER records, for SLOWLY times the steps."""
    return {
        scheme: assess(trained(scheme, "before", seed, LONGER, SLOWLY * STEPS), "before", seed)
        for scheme in ("learned", "sinusoidal")
    }


def started_large(seed: int, scheme: str, factor: float = 1) -> Run:
    """Train on "before" with embeddings of standard deviation 1, torch's own.

    factor: of the sinusoids.
    """
    torch.manual_seed(seed)
    model = Reader(scheme)
    for table in (model.asked, model.number):
        table.weight.data /= START
    for rows in model.place.buffers():
        rows *= factor
    fit(model, "before", STEPS, RATE, LONGEST, torch.Generator().manual_seed(1000 + seed))
    return assess(model, "before", seed)


def clipped_oracle(n: int, seed: int) -> float:
    """Return the accuracy on "last" of the best answer that sees distances clipped at REACH.

    It knows which records have the letter. If one of them is nearer than REACH, it knows the
    latest. Otherwise it cannot tell them apart, and answers their most frequent number.
    """
    generator = torch.Generator().manual_seed(2000 + seed)  # the questions of `assess`
    letters, numbers, asked, answer = sample(TEST, n, "last", generator)
    found = letters == asked[:, None]  # (TEST, n)
    near = found[:, max(0, n + 1 - REACH) :].any(dim=1)
    votes = (F.one_hot(numbers, NUMBERS) * found[..., None]).sum(dim=1)  # (TEST, NUMBERS)
    return (near | (votes.argmax(dim=1) == answer)).float().mean().item()
