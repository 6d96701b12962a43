"""Compute the numbers of a report: the distribution of scores, and the analysis of answers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from .model import Discrimination, Distribution

BINS = 10

LEAST = 30
"""The number of students below which a correlation is not reported. With 30, the 95 % interval of
0.3 already goes from -0.07 to 0.60: with fewer, not even the sign would be known."""

NORMAL = 1.96
"""Half the width of the 95 % interval of a normal distribution, in standard deviations."""


def distribution(shares: Sequence[float]) -> Distribution:
    """Return how `shares` of the maximum are distributed; those outside of 0 to 1 are clipped."""
    shares = sorted(min(max(share, 0.0), 1.0) for share in shares)
    bins = [0] * BINS
    for share in shares:
        # the rounding keeps 0.3 out of the bin below, where binary fractions would put it
        bins[min(int(round(share * BINS, 9)), BINS - 1)] += 1
    if not shares:
        return Distribution(0, tuple(bins))
    lower, median, upper = _quartiles(shares)
    return Distribution(
        len(shares),
        tuple(bins),
        statistics.fmean(shares),
        shares[0],
        lower,
        median,
        upper,
        shares[-1],
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return values[0], values[0], values[0]
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return lower, median, upper


def discrimination(item: Sequence[float], rest: Sequence[float]) -> Discrimination | None:
    """Return the correlation of an answer's points with those of the `rest`, student by student.

    The answer is not part of the rest, which would make the correlation positive by itself. None
    for fewer than LEAST students, or if all have the same points in one of the two.
    """
    n = len(item)
    if n < LEAST or max(item) - min(item) < 1e-9 or max(rest) - min(rest) < 1e-9:
        return None
    value = min(max(statistics.correlation(item, rest), -1.0), 1.0)
    # Fisher's transformation makes the distribution of the correlation nearly normal.
    middle = math.atanh(min(max(value, -0.999999), 0.999999))
    half = NORMAL / math.sqrt(n - 3)
    return Discrimination(value, math.tanh(middle - half), math.tanh(middle + half), n)
