"""A task that needs a far token, and three ways to carry it: recurrence, convolution, attention.

Every sequence ends with a probe token. Somewhere before it, among fillers, stands one of eight
payload tokens; the model must name it. The three models share an embedding and a linear read-out of
the last place, and differ in what stands between: an RNN (Elman 1990), a stack of convolutions, or
one self-attention without any parameter of its own, `softmax(X X^T) X`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ...running.progress import say

N_TOKENS = 32
"""Length of a sequence, the probe included: the payload is 1 to 31 places before the end."""
N_PAYLOADS, N_FILLERS = 8, 16
PROBE = N_PAYLOADS + N_FILLERS
D_MODEL = 32
KERNEL, N_LAYERS = 5, 4
REACH = N_LAYERS * (KERNEL // 2)
"""How far back the last place of the convolutions sees: 8 tokens."""
DISTANCES = tuple(range(1, N_TOKENS))
CHECKPOINTS = (75, 150, 300, 600, 1200)
"""Steps of training after which the first task's accuracy is measured; the last one ends it."""
ORDER_STEPS = 400
"""Steps of training on the second task."""
BATCH, LEARNING_RATE = 64, 3e-3
Batch = tuple[Tensor, Tensor]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def path_lengths(sees: np.ndarray) -> np.ndarray:
    """Count the layers (or steps) that it takes, at the least, to get from one token to another.

    sees: boolean (n, n), True where one layer lets output i read token j. Returns whole numbers of
    shape (n, n): entry (i, j) is the number of layers from token j to output i; -1 where no number
    of layers is enough.
    """
    reached = np.eye(len(sees), dtype=bool)
    lengths = np.where(reached, 0, -1)
    for layer in range(1, len(sees)):
        reached = reached | (sees @ reached)
        lengths[reached & (lengths < 0)] = layer
    return lengths


class RecurrentBody(nn.Module):
    """The last state of a tanh RNN; its recurrent matrix starts orthogonal."""

    def __init__(self) -> None:
        """Make the RNN."""
        super().__init__()
        self.rnn = nn.RNN(D_MODEL, D_MODEL, batch_first=True)
        nn.init.orthogonal_(self.rnn.get_parameter("weight_hh_l0"))

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        states, _ = self.rnn(X)
        return states[:, -1]


class ConvolutionalBody(nn.Module):
    """The last place of `N_LAYERS` convolutions of width `KERNEL`, each followed by a ReLU."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(N_LAYERS):
            layers += [nn.Conv1d(D_MODEL, D_MODEL, KERNEL, padding="same"), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        return self.layers(X.transpose(1, 2))[..., -1]


class AttentionBody(nn.Module):
    """The last output of self-attention; it has no parameter."""

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d). Returns (batch, d)."""
        weights = torch.softmax(X @ X.transpose(1, 2), dim=-1)  # (batch, n, n)
        return (weights @ X)[:, -1]


BODIES: dict[str, Callable[[], nn.Module]] = {
    "RNN": RecurrentBody,
    "convolution": ConvolutionalBody,
    "self-attention": AttentionBody,
}


class Reader(nn.Module):
    """Embedding, one of the bodies, and a linear read-out that names the payload."""

    def __init__(self, body: str) -> None:
        """body: a name in BODIES."""
        super().__init__()
        self.embedding = nn.Embedding(PROBE + 1, D_MODEL)
        nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)  # vectors of length about 1
        self.body = BODIES[body]()
        self.read_out = nn.Linear(D_MODEL, N_PAYLOADS)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (batch, n) whole numbers. Returns logits (batch, N_PAYLOADS)."""
        return self.read_out(self.body(self.embedding(tokens)))


def one_payload(distance: Tensor, generator: torch.Generator) -> Batch:
    """Make sequences with their payload `distance` (batch,) places before the probe.

    Returns tokens (batch, N_TOKENS) and the payloads to name (batch,).
    """
    batch = len(distance)
    tokens = torch.randint(N_PAYLOADS, PROBE, (batch, N_TOKENS), generator=generator)
    payload = torch.randint(0, N_PAYLOADS, (batch,), generator=generator)
    tokens[torch.arange(batch), N_TOKENS - 1 - distance] = payload
    tokens[:, -1] = PROBE
    return tokens, payload


def two_payloads(batch: int, generator: torch.Generator) -> Batch:
    """Make sequences with two different payloads in the reach of every model; name the later one.

    Returns tokens (batch, N_TOKENS) and the later payloads (batch,).
    """
    tokens = torch.randint(N_PAYLOADS, PROBE, (batch, N_TOKENS), generator=generator)
    places = torch.rand(batch, REACH, generator=generator).argsort(dim=1)[:, :2] + 1
    near, far = places.min(dim=1).values, places.max(dim=1).values  # distances to the probe
    pair = torch.rand(batch, N_PAYLOADS, generator=generator).argsort(dim=1)[:, :2]
    rows = torch.arange(batch)
    tokens[rows, N_TOKENS - 1 - near] = pair[:, 0]
    tokens[rows, N_TOKENS - 1 - far] = pair[:, 1]
    tokens[:, -1] = PROBE
    return tokens, pair[:, 0]


def with_twins(tokens: Tensor, later: Tensor) -> Batch:
    """Add to each sequence of `two_payloads` its twin, in which the two payloads are exchanged.

    Returns tokens (2 batch, N_TOKENS) and the later payloads (2 batch,).
    """
    places = tokens < N_PAYLOADS
    earlier_and_later = tokens[places].view(-1, 2)
    twins = tokens.clone()
    twins[places] = earlier_and_later.flip(1).flatten()
    return torch.cat([tokens, twins]), torch.cat([later, earlier_and_later[:, 0]])


def train(
    model: Reader,
    make: Callable[[torch.Generator], Batch],
    test: Batch,
    checkpoints: tuple[int, ...],
    generator: torch.Generator,
) -> list[float]:
    """Train `model` with Adam on batches that `make` draws, up to the last of `checkpoints`.

    Returns the accuracy on `test` after each number of steps in `checkpoints`.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    reached = []
    for step in range(1, checkpoints[-1] + 1):
        tokens, answer = make(generator)
        loss = nn.functional.cross_entropy(model(tokens.to(DEVICE)), answer.to(DEVICE))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step in checkpoints:
            reached.append(accuracy(model, *test))
    return reached


@torch.no_grad()
def accuracy(model: Reader, tokens: Tensor, answer: Tensor) -> float:
    """The share of sequences whose answer the model names."""
    return float((model(tokens.to(DEVICE)).argmax(dim=-1).cpu() == answer).float().mean())


def gradient_norm(model: Reader, distance: int, generator: torch.Generator) -> float:
    """Root mean square, over 256 sequences, of the norm of d(v . output) / d(payload's embedding).

    The output is the body's vector at the last place, v a random direction of length 1.
    """
    tokens, _ = one_payload(torch.full((256,), distance), generator)
    X = model.embedding(tokens.to(DEVICE)).detach().requires_grad_()
    output = model.body(X)
    v = nn.functional.normalize(torch.randn(output.shape, generator=generator), dim=-1)
    (gradient,) = torch.autograd.grad((output * v.to(DEVICE)).sum(), X)  # (batch, n, d)
    return float(gradient[:, N_TOKENS - 1 - distance].square().sum(dim=-1).mean().sqrt())


@dataclass(frozen=True)
class Measured:
    """What one seed showed of one model, as `run` measures it."""

    parameters: int
    gradients: list[float]
    """At the start of training, for each of DISTANCES."""
    learning: list[float]
    """Accuracy over all distances, after each number of steps in CHECKPOINTS."""
    by_distance: list[float]
    """Accuracy at the end of training, for each of DISTANCES."""
    later_of_two: float
    """Accuracy on the second task, sequences and their twins, at the end of its training."""


def run(seed: int) -> dict[str, Measured]:
    """Train every model on both tasks from `seed`; return what each one showed."""

    def far(generator: torch.Generator) -> Batch:
        return one_payload(torch.randint(1, N_TOKENS, (BATCH,), generator=generator), generator)

    def ordered(generator: torch.Generator) -> Batch:
        return two_payloads(BATCH, generator)

    measured = {}
    for body in BODIES:
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed)
        all_distances = one_payload(torch.tensor(DISTANCES * 32), generator)
        model = Reader(body).to(DEVICE)
        gradients = [gradient_norm(model, k, generator) for k in DISTANCES]
        learning = train(model, far, all_distances, CHECKPOINTS, generator)
        at = [accuracy(model, *one_payload(torch.full((500,), k), generator)) for k in DISTANCES]
        parameters = sum(p.numel() for p in model.parameters())
        second = Reader(body).to(DEVICE)
        twins = with_twins(*two_payloads(2000, generator))
        (later,) = train(second, ordered, twins, (ORDER_STEPS,), generator)
        measured[body] = Measured(parameters, gradients, learning, at, later)
        say(f"far_token: seed {seed}, {body} done")
    return measured
