"""The right answers, whose docstrings the students read."""

import numpy as np


def tomorrow(today, chances):
    """Return the chances of each weather tomorrow: (n,), which sum to 1.

    today: (n,), the chances of each weather today. chances: (n, n); row i
    has the chances of each weather on the day after weather i.
    """
    return today @ chances


def in_the_long_run(chances):
    """Return how often each weather comes in the long run: (n,).

    They sum to 1. chances: (n, n), as in `tomorrow`, all above 0. Raises
    ValueError for a row that does not sum to 1.
    """
    if not np.allclose(chances.sum(axis=1), 1):
        raise ValueError("each row of chances sums to 1")
    days = np.full(len(chances), 1 / len(chances))
    for _ in range(1000):
        days = days @ chances
    return days
