"""The speed of SmolLM2, and its bound if only reading the weights took time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ...published.smollm2 import SmolLM2

FLOAT = 4
"""The bytes of a number in single precision."""
READ = 512 * 2**20
"""The bytes of the matrix for measuring bandwidth: far more than the size of any cache."""
SIDE = 2048
"""The rows and columns of the matrices for measuring arithmetic."""
TURNS = 5


@dataclass(frozen=True)
class Speed:
    """bandwidth: bytes a second for a matrix times a vector. read: bytes of weights for a token.

    predicted: tokens a second, if only reading the weights took time. matrices: if only multiplying
    each of the model's own matrices by a vector took time. measured: tokens a second in writing.
    reading: tokens a second of a prompt, whose tokens are read at once. arithmetic: the operations
    a second of the matrices while a prompt is read, as a share of those of one large product.
    """

    bandwidth: float
    read: int
    predicted: float
    matrices: float
    measured: float
    reading: float
    arithmetic: float


@torch.no_grad()
def speed(published: SmolLM2, prompt: list[int], most: int) -> Speed:
    """Write `most` tokens after the prompt, and return the median times of `TURNS` turns."""
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
    matrices = 1 / _seconds(lambda: multiply_all(published))
    reading = len(prompt) / _seconds(lambda: published.model(ids))
    weights = sum(one.numel() for one in published.model.parameters() if one.ndim == 2)
    return Speed(
        bandwidth=bandwidth,
        read=read,
        predicted=bandwidth / read,
        matrices=matrices,
        measured=statistics.median(rates),
        reading=reading,
        arithmetic=2 * weights * reading / operations_a_second(),
    )


def multiply_all(published: SmolLM2) -> int:
    """Multiply every matrix of the model by a vector once. Returns how many there are."""
    matrices = [one for one in published.model.parameters() if one.ndim == 2]
    for matrix in matrices:
        matrix @ torch.ones(matrix.shape[1])
    return len(matrices)


def bytes_a_second() -> float:
    """Return the bytes a second of multiplying a matrix larger than any cache by a vector."""
    matrix, vector = torch.ones(READ // FLOAT // 1024, 1024), torch.ones(1024)
    return READ / _seconds(lambda: matrix @ vector)


def operations_a_second() -> float:
    """Return the operations a second of a product of two square matrices, two a multiplication."""
    square = torch.ones(SIDE, SIDE)
    return 2 * SIDE**3 / _seconds(lambda: square @ square)


def _seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)
