"""How fast SmolLM2 writes, and how fast it could if nothing but reading its weights took time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ...published.smollm2 import SmolLM2

FLOAT = 4
"""Bytes of a number in single precision."""
READ = 512 * 2**20
"""Bytes of the matrix with which the bandwidth is measured: far more than any cache holds."""
TURNS = 5


@dataclass(frozen=True)
class Speed:
    """bandwidth: bytes a second of a matrix times a vector. read: bytes of weights for a token.

    predicted: tokens a second, if each waited for its weights alone. measured: one after another.
    reading: tokens a second of a prompt, all of which are read at once.
    """

    bandwidth: float
    read: int
    predicted: float
    measured: float
    reading: float


@torch.no_grad()
def speed(published: SmolLM2, prompt: list[int], most: int) -> Speed:
    """Write `most` tokens after the prompt, and time the parts, the median of `TURNS`."""
    bandwidth = bytes_a_second()
    read = sum(one.numel() * one.element_size() for one in published.model.parameters())
    ids = torch.tensor([prompt])
    rates = []
    for _ in range(TURNS):
        _, caches = published.model(ids)
        token = ids[:, -1:]
        begun = time.perf_counter()
        for _ in range(most):
            logits, caches = published.model(token, caches)
            token = logits[:, -1:].argmax(dim=-1)
        rates.append(most / (time.perf_counter() - begun))
    reading = len(prompt) / _seconds(lambda: published.model(ids))
    return Speed(bandwidth, read, bandwidth / read, statistics.median(rates), reading)


def bytes_a_second() -> float:
    """How fast a matrix that fits into no cache is read: it is multiplied by a vector."""
    matrix, vector = torch.ones(READ // FLOAT // 1024, 1024), torch.ones(1024)
    return READ / _seconds(lambda: matrix @ vector)


def _seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)
