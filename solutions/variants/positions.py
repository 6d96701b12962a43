"""Questions about rotary positions and linear biases, for exercises; their page answers none."""

import numpy as np

from ..positions import frequencies


def false_peaks(asked: int, n: int, d: int, base: float, share: float) -> np.ndarray:
    """Return the distances at which a rotary head looks although it asks for another.

    d: the number of features, even; pair i = 0 ... d/2 - 1 is rotated by base^(-2i/d) per position.
    The query asks for the distance `asked`, at least 1: all pairs agree there, so that the score of
    a key at distance m is the sum over the pairs of cos((m - asked) * base^(-2i/d)). Returns, in
    ascending order and as integers, the distances m from 1 to n, without `asked`, whose score is
    higher than that of m - 1 and of m + 1, and at least `share` times the score at `asked`.
    """
    m = np.arange(n + 2)
    scores = np.cos((m[:, None] - asked) * frequencies(d, base)).sum(axis=1)  # (n + 2,)
    inside = scores[1:-1]
    peak = (inside > scores[:-2]) & (inside > scores[2:]) & (inside >= share * d / 2)
    distances: np.ndarray = m[1:-1][peak]
    return distances[distances != asked]


def reach_of_bias(n_heads: int, share: float) -> np.ndarray:
    """Return how far each head of a linear bias sees (Press et al. 2022, section 3).

    n_heads: 1 or more. The slope of head h = 1 ... n_heads is 2^(-8h/n_heads), and the score of a
    key at distance m is lowered by m slopes. share: above 0 and at most 1. Returns, of shape
    (n_heads,), the distance at which a key gets `share` times the weight of the query's own key, if
    both have the same dot product with the query. It is not rounded.
    """
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)  # (n_heads,)
    distances: np.ndarray = -np.log(share) / slopes
    return distances
