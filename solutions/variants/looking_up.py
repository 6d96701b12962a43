"""Measurements of attention with queries and keys: a temperature, gradients, and an asymmetry.

They are the references of exercises of chapter 5.
"""

from collections.abc import Callable

import numpy as np

from ..alignment import softmax


def lookup_temperature(
    lookup: Callable[[np.ndarray], float], keys: np.ndarray, values: np.ndarray
) -> float:
    """Measure the temperature of a soft dictionary that can be queried and not read.

    lookup: takes a query (d,) and returns one number, the blend softmax(keys @ query / temperature)
    @ values, computed in float64. keys: (2, d), two different keys. values: (2,), two different
    numbers. Returns the temperature, a float from a thousandth to a thousand.
    """
    apart = keys[0] - keys[1]  # (d,)
    weak = 1e-4 * apart / (apart @ apart)  # scores the first key higher by 1e-4
    slope = (lookup(weak) - lookup(0 * apart)) / 1e-4
    return float((values[0] - values[1]) / (4 * slope))  # the share begins at 1/2, with slope 1/4


def gradient_of_the_top(queries: np.ndarray, keys: np.ndarray, divisor: float, count: int) -> float:
    """Measure the share of all gradient that goes to the few queries that receive the most.

    queries: (n, d). keys: (n, n_k, d), n_k at least 2: each query has keys of its own. Scores are
    dot products, divided by `divisor`, and may be large, above 0 or below; weights are their
    softmax over a query's keys. The gradient of a query is the derivative of its weights with
    respect to the query, of shape (n_k, d), and its size is the root of the sum of the squares of
    all its numbers. count: from 1 to n. Returns a float from 0 to 1: the sum of the `count` largest
    sizes, divided by the sum of all. At least one size is above 0.
    """
    weights = softmax((keys @ queries[..., None])[..., 0] / divisor)  # (n, n_k)
    mean = weights[:, None] @ keys  # (n, 1, d)
    gradient = weights[..., None] * (keys - mean) / divisor  # (n, n_k, d)
    sizes = np.sort(np.sqrt(np.square(gradient).sum(axis=(1, 2))))  # (n,)
    return float(sizes[len(sizes) - count :].sum() / sizes.sum())


def head_asymmetry(W_q: np.ndarray, W_k: np.ndarray) -> np.ndarray:
    """Measure how far a head's scores are from symmetric.

    W_q and W_k: (..., d, d_k), any leading axes. M = W_q W_k^T, of shape (..., d, d), gives the
    score of tokens x and y as x M y^T. Returns the share of the antisymmetric part (M - M^T) / 2 in
    the squared norm of M, the sum of the squares of its entries: shape (...), from 0 for a
    symmetric M to 1 for M = -M^T. M is not 0.
    """
    M = W_q @ np.swapaxes(W_k, -1, -2)  # (..., d, d)
    part = (M - np.swapaxes(M, -1, -2)) / 2
    share: np.ndarray = np.square(part).sum(axis=(-2, -1)) / np.square(M).sum(axis=(-2, -1))
    return share
