"""The roofline of this machine: operations a second of a matrix that meets one or many vectors.

Source: Williams, Waterman and Patterson (2009), "Roofline: an insightful visual performance model
for multicore architectures".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch

from .measuring import seconds

ROWS, COLUMNS, NUMBER = 32_768, 2048, 4
"""The sizes of the matrix, far more than any cache holds, and the bytes of a number."""

CACHED = 512
"""The rows of a matrix that stays in the processor's cache: 4 megabytes."""

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
"""The numbers of vectors that the matrix meets at once."""


@dataclass(frozen=True)
class Roofline:
    """bandwidth: bytes a second of the matrix with one vector. peak: most operations a second.

    speeds: number of vectors -> operations a second. cached: operations a second of a matrix that
    stays in the processor's cache, with one vector.
    """

    bandwidth: float
    peak: float
    speeds: dict[int, float]
    cached: float

    @property
    def ridge(self) -> float:
        """Return the operations per byte at which the two bounds meet."""
        return self.peak / self.bandwidth

    def bound(self, intensity: float) -> float:
        """Return the most operations a second at a number of operations per byte."""
        return min(self.peak, self.bandwidth * intensity)


def intensity(batch: int) -> float:
    """Return the operations per byte of the matrix with `batch` vectors, read and written once."""
    numbers = ROWS * COLUMNS + batch * (ROWS + COLUMNS)
    return 2 * batch * ROWS * COLUMNS / (NUMBER * numbers)


@torch.no_grad()
def measure() -> Roofline:
    """Measure the matrix with each of BATCHES, and two square matrices for the peak."""
    draws = torch.Generator().manual_seed(0)
    matrix = torch.randn(ROWS, COLUMNS, generator=draws)
    square = torch.randn(1024, 1024, generator=draws)
    calls = {
        batch: partial(torch.matmul, matrix, torch.randn(COLUMNS, batch, generator=draws))
        for batch in BATCHES
    }
    part, one = matrix[:CACHED].clone(), torch.randn(COLUMNS, 1, generator=draws)
    cached = seconds({"cached": partial(torch.matmul, part, one)})["cached"]
    taken = seconds({str(batch): call for batch, call in calls.items()}, times=3)
    peak = 2 * 1024**3 / seconds({"square": lambda: square @ square})["square"]
    speeds = {batch: 2 * batch * ROWS * COLUMNS / taken[str(batch)] for batch in BATCHES}
    bandwidth = speeds[1] / intensity(1)
    return Roofline(bandwidth, max(peak, *speeds.values()), speeds, 2 * CACHED * COLUMNS / cached)
