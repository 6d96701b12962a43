"""The first task when all training payloads are far: does a long path slow learning down?

Nothing else changes. A GRU is trained with payloads at distances 1-31, 16-31, or 31 only, and
self-attention with distances 1-31 or 31 only. Each is trained at two rates: one at which small
gradients are slow, and the one that was chosen for both models when payloads stood anywhere.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import torch

from ...running.progress import say
from ...running.seeds import SEEDS
from .models import Reader
from .sequences import any_distance
from .training import accuracy, balanced_sequences, train

ARMS = (("GRU", 1), ("GRU", 16), ("GRU", 31), ("self-attention", 1), ("self-attention", 31))
"""Each arm: a model, and the distance of the nearest payload in training and in the test."""
SLOW, CHOSEN = 1e-2, 1e-1
"""The two learning rates."""
RUNS = list(product(ARMS, (SLOW, CHOSEN), SEEDS))
"""Every arm with both rates and every seed; the argument of `run` is an index of this list."""


def run(place: int) -> list[float]:
    """Train the arm of `RUNS[place]`; return its accuracy at the checkpoints."""
    (body, nearest), rate, seed = RUNS[place]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    test = balanced_sequences(generator, nearest)
    model = Reader(body)
    make = partial(any_distance, nearest=nearest)
    learning = [accuracy(model, *test) for _ in train(model, make, rate, generator)]
    say(f"only_far: {body} from distance {nearest}, rate {rate}, seed {seed} done")
    return learning
