"""Sequences for a task that needs a distant token: name the payload among fillers.

Every sequence ends with a probe token. In the first task, one of eight payload tokens occurs
somewhere before it. In the second task, two different payloads occur, and the answer is the later
one.
"""

from __future__ import annotations

import torch
from torch import Tensor

N_TOKENS = 32
"""The length of a sequence with its probe; the payload is 1 to 31 positions before the end."""
N_PAYLOADS, N_FILLERS = 8, 16
PROBE = N_PAYLOADS + N_FILLERS
DISTANCES = tuple(range(1, N_TOKENS))
NEAR = 8
"""The largest distance of both payloads of the second task from the end."""
Batch = tuple[Tensor, Tensor]


def any_distance(batch: int, generator: torch.Generator, nearest: int = 1) -> Batch:
    """Make sequences with payloads at random distances from `nearest` to 31; see `one_payload`."""
    return one_payload(torch.randint(nearest, N_TOKENS, (batch,), generator=generator), generator)


def one_payload(distance: Tensor, generator: torch.Generator) -> Batch:
    """Make sequences with their payload `distance` (batch,) positions before the probe.

    Returns tokens (batch, N_TOKENS) and the payloads to name (batch,).
    """
    batch = len(distance)
    tokens = torch.randint(N_PAYLOADS, PROBE, (batch, N_TOKENS), generator=generator)
    payload = torch.randint(0, N_PAYLOADS, (batch,), generator=generator)
    tokens[torch.arange(batch), N_TOKENS - 1 - distance] = payload
    tokens[:, -1] = PROBE
    return tokens, payload


def payload_after(before: int, distance: int, batch: int, generator: torch.Generator) -> Batch:
    """Make sequences of `before` fillers, a payload, and `distance` tokens up to the probe.

    Returns tokens (batch, before + 1 + distance) and the payloads to name (batch,).
    """
    n = before + 1 + distance
    tokens = torch.randint(N_PAYLOADS, PROBE, (batch, n), generator=generator)
    tokens[:, before] = torch.randint(0, N_PAYLOADS, (batch,), generator=generator)
    tokens[:, -1] = PROBE
    return tokens, tokens[:, before]


def two_payloads(batch: int, generator: torch.Generator) -> Batch:
    """Make sequences with two different payloads among the last `NEAR` tokens.

    Returns tokens (batch, N_TOKENS) and the later payloads (batch,).
    """
    tokens = torch.randint(N_PAYLOADS, PROBE, (batch, N_TOKENS), generator=generator)
    places = torch.rand(batch, NEAR, generator=generator).argsort(dim=1)[:, :2] + 1
    near, far = places.min(dim=1).values, places.max(dim=1).values  # distances to the probe
    pair = torch.rand(batch, N_PAYLOADS, generator=generator).argsort(dim=1)[:, :2]
    rows = torch.arange(batch)
    tokens[rows, N_TOKENS - 1 - near] = pair[:, 0]
    tokens[rows, N_TOKENS - 1 - far] = pair[:, 1]
    tokens[:, -1] = PROBE
    return tokens, pair[:, 0]


def with_twins(tokens: Tensor, later: Tensor) -> Batch:
    """Add to each sequence of `two_payloads` its twin, in which the payloads are swapped.

    Returns tokens (2 batch, N_TOKENS) and the later payloads (2 batch,).
    """
    places = tokens < N_PAYLOADS
    earlier_and_later = tokens[places].view(-1, 2)
    twins = tokens.clone()
    twins[places] = earlier_and_later.flip(1).flatten()
    return torch.cat([tokens, twins]), torch.cat([later, earlier_and_later[:, 0]])
