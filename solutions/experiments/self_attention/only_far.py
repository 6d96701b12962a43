"""The first task when all training payloads are far: does a long path slow learning down?

A GRU is trained with payloads at distances 1-31, 16-31, or 31 only, and self-attention with
distances 1-31 or 31 only; nothing else changes. One more GRU sees payloads at 31 only, but starts
with a larger bias of the update gate, so that its state hardly shrinks from step to step: the path
is as long, and the gradient survives it. Each is trained at two rates: one at which small gradients
are slow, and the one that was chosen for both models when payloads stood anywhere. Starting with
gates that keep the state is an old advice (Gers et al. 2000, Jozefowicz et al. 2015, for LSTMs).
"""

from __future__ import annotations

from functools import partial
from itertools import product

import torch

from ...running.progress import say
from ...running.seeds import SEEDS
from .models import GatedBody, Reader
from .sequences import any_distance
from .training import accuracy, balanced_sequences, train

KEEPING = "GRU that keeps"
KEEPING_BIAS = 3.0
"""What is added to the bias of its update gate, which then starts near sigmoid(3) = 0.95."""
ARMS = (
    ("GRU", 1),
    ("GRU", 16),
    ("GRU", 31),
    (KEEPING, 31),
    ("self-attention", 1),
    ("self-attention", 31),
)
"""Each arm: a model, and the distance of the nearest payload in training and in the test."""
SLOW, CHOSEN = 1e-2, 1e-1
"""The two learning rates."""
RUNS = list(product(ARMS, (SLOW, CHOSEN), SEEDS))
"""Every arm with both rates and every seed; the argument of `run` is an index of this list."""


def start(body: str) -> Reader:
    """Return the untrained model of an arm."""
    if body != KEEPING:
        return Reader(body)
    model = Reader("GRU")
    assert isinstance(model.body, GatedBody)
    model.body.keep_at_first(KEEPING_BIAS)
    return model


def run(place: int) -> list[float]:
    """Train the arm of `RUNS[place]`; return its accuracy at the checkpoints."""
    (body, nearest), rate, seed = RUNS[place]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    test = balanced_sequences(generator, nearest)
    model = start(body)
    make = partial(any_distance, nearest=nearest)
    learning = [accuracy(model, *test) for _ in train(model, make, rate, generator)]
    say(f"only_far: {body} from distance {nearest}, rate {rate}, seed {seed} done")
    return learning
