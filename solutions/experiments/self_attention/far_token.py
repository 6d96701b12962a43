"""A task that needs a distant token, and four models that carry it.

The sequences are those of `sequences`, the models those of `models`. For every model, the best of
three learning rates is chosen on separate sequences. Then the model is trained with each of the
book's seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ...running.progress import say
from ...running.seeds import SEEDS
from .models import BODIES, Reader
from .sequences import (
    DISTANCES,
    N_TOKENS,
    Batch,
    any_distance,
    one_payload,
    two_payloads,
    with_twins,
)

CHECKPOINTS = (75, 150, 300, 600, 1200)
"""The training steps after which the first task is tested; the last one ends the training."""
TRIAL_CHECKPOINTS = CHECKPOINTS[:-2]
"""The checkpoints of the trials that choose a rate, which end after a quarter of the steps."""
ORDER_STEPS = 400
"""The training steps on the second task, at the rate chosen for the first."""
BATCH, LARGEST_GRADIENT = 64, 1.0
"""The sequences in a batch, and the norm to which longer gradients are clipped."""
RATES = (1e-3, 3e-3, 1e-2)
"""The learning rates that are tried for every model."""
VALIDATION_SEED = 3
"""The seed of the models and sequences that choose the rate; it is not one of `SEEDS`."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def path_lengths(sees: np.ndarray) -> np.ndarray:
    """Return the smallest number of layers (or steps) from each token to each output.

    sees: boolean (n, n), True where one layer lets output i read token j. Returns whole numbers of
    shape (n, n): entry (i, j) is the number of layers from token j to output i; -1 if no number of
    layers is sufficient.
    """
    reached = np.eye(len(sees), dtype=bool)
    lengths = np.where(reached, 0, -1)
    for layer in range(1, len(sees)):
        reached = reached | (sees @ reached)
        lengths[reached & (lengths < 0)] = layer
    return lengths


def train(
    model: Reader,
    make: Callable[[int, torch.Generator], Batch],
    rate: float,
    checkpoints: tuple[int, ...],
    test: Batch,
    generator: torch.Generator,
) -> list[float]:
    """Train `model` with Adam on batches from `make`, up to the last of `checkpoints`.

    Returns the accuracy on `test` after each number of steps in `checkpoints`.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    reached = []
    for step in range(1, checkpoints[-1] + 1):
        tokens, answer = make(BATCH, generator)
        loss = nn.functional.cross_entropy(model(tokens.to(DEVICE)), answer.to(DEVICE))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        if step in checkpoints:
            reached.append(accuracy(model, *test))
    return reached


@torch.no_grad()
def accuracy(model: Reader, tokens: Tensor, answer: Tensor) -> float:
    """Return the share of sequences that the model answers correctly."""
    return float((model(tokens.to(DEVICE)).argmax(dim=-1).cpu() == answer).float().mean())


def gradient_norm(model: Reader, distance: int, generator: torch.Generator) -> float:
    """Return the norm of d(v . output) / d(payload's embedding), the root mean square of 256.

    The output is the body's vector at the last position; v is a random direction of length 1. The
    mean is over 256 sequences.
    """
    tokens, _ = one_payload(torch.full((256,), distance), generator)
    X = model.embedding(tokens.to(DEVICE)).detach().requires_grad_()
    output = model.body(X)
    v = nn.functional.normalize(torch.randn(output.shape, generator=generator), dim=-1)
    (gradient,) = torch.autograd.grad((output * v.to(DEVICE)).sum(), X)  # (batch, n, d)
    return float(gradient[:, N_TOKENS - 1 - distance].square().sum(dim=-1).mean().sqrt())


def payload_weight(body: str, seed: int) -> float:
    """Return the median weight of the probe on the payload in an untrained model.

    body: one of the two with self-attention.
    """
    torch.manual_seed(seed)
    tokens, payload = one_payload(torch.tensor(DISTANCES * 32), torch.Generator().manual_seed(seed))
    X = Reader(body).embedding(tokens).detach()  # (batch, n, d)
    weights = torch.softmax(X[:, -1:] @ X.transpose(1, 2), dim=-1)[:, 0]  # (batch, n)
    return float(weights[tokens == payload[:, None]].median())


TRIALS = [(body, rate) for body in BODIES for rate in RATES]
"""Every model with every rate; the argument of `validate` is an index of this list."""


def validate(place: int) -> list[float]:
    """Train the model and rate of `TRIALS[place]`; return its accuracy at TRIAL_CHECKPOINTS."""
    body, rate = TRIALS[place]
    torch.manual_seed(VALIDATION_SEED)
    generator = torch.Generator().manual_seed(VALIDATION_SEED)
    held_out = one_payload(torch.tensor(DISTANCES * 32), generator)
    model = Reader(body).to(DEVICE)
    reached = train(model, any_distance, rate, TRIAL_CHECKPOINTS, held_out, generator)
    say(f"far_token: {body} at the rate {rate} done")
    return reached


def best_rates(validated: list[list[float]]) -> dict[str, float]:
    """Return each model's rate with the highest mean over the checkpoints of `validate`."""
    scores = {
        trial: float(np.mean(reached)) for trial, reached in zip(TRIALS, validated, strict=True)
    }
    return {body: max(RATES, key=lambda rate: scores[body, rate]) for body in BODIES}


@dataclass(frozen=True)
class Measured:
    """The results of one model with one seed, as measured by `run`."""

    parameters: int
    seconds: float
    """The processor seconds of the training on the first task."""
    gradients: list[float]
    """The gradient norm before training, for each of DISTANCES."""
    learning: list[float]
    """Accuracy over all distances, after each number of steps in CHECKPOINTS."""
    by_distance: list[float]
    """Accuracy at the end of training, for each of DISTANCES."""
    later_of_two: float
    """Accuracy on the second task, sequences and their twins, at the end of its training."""


RUNS = [(body, seed) for body in BODIES for seed in SEEDS]
"""Every model with every seed; the argument of `run` is an index of this list."""


def run(rates: dict[str, float], place: int) -> Measured:
    """Train the model of `RUNS[place]` on both tasks, at its rate in `rates`."""
    body, seed = RUNS[place]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    test = one_payload(torch.tensor(DISTANCES * 32), generator)
    model = Reader(body).to(DEVICE)
    gradients = [gradient_norm(model, k, generator) for k in DISTANCES]
    started = time.process_time()
    learning = train(model, any_distance, rates[body], CHECKPOINTS, test, generator)
    seconds = time.process_time() - started
    at = [accuracy(model, *one_payload(torch.full((500,), k), generator)) for k in DISTANCES]
    second = Reader(body).to(DEVICE)
    twins = with_twins(*two_payloads(2000, generator))
    (later,) = train(second, two_payloads, rates[body], (ORDER_STEPS,), twins, generator)
    parameters = sum(p.numel() for p in model.parameters())
    say(f"far_token: seed {seed}, {body} done")
    return Measured(parameters, seconds, gradients, learning, at, later)
