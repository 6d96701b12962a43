"""The effect of the scores' scale on a softmax, for random keys of growing width.

The argument is that of Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
"""

from collections.abc import Sequence

import numpy as np

from ...alignment import softmax

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
SCALES = {"no scale": 0.0, "1 / sqrt(d)": 0.5, "1 / d": 1.0}
"""Name -> the power of d by which the scores are divided."""

QUERIES, KEYS = 256, 32
FROZEN = 0.01


def softmax_jacobian(weights: np.ndarray) -> np.ndarray:
    """Return the derivative of softmax with respect to its scores, given its weights.

    weights: (..., n). Returns (..., n, n): entry [i, j] is d weights[i] / d scores[j], that is,
    weights[i] * (1 - weights[i]) on the diagonal and -weights[i] * weights[j] elsewhere.
    """
    diagonal = weights[..., None] * np.eye(weights.shape[-1])
    return diagonal - weights[..., :, None] * weights[..., None, :]


def entropy(weights: np.ndarray) -> np.ndarray:
    """Return the entropy of each row of weights in nats, (..., n) -> (...); 0 log 0 counts as 0."""
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return -np.sum(weights * logarithms, axis=-1)


def query_gradients(weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the Frobenius norm of d weights / d query for each query.

    weights: (queries, n). keys: (queries, n, d), divided by whatever divides the scores.
    """
    return np.linalg.norm(softmax_jacobian(weights) @ keys, axis=(-2, -1))


def measure(d: int, power: float, seed: int) -> dict[str, float]:
    """Score random queries against random keys of width d, divide by d**power, and measure.

    Queries and keys are normal with mean 0 and variance 1. Returns the standard deviation of the
    scores; the mean over the queries of the weights' entropy; of the gradient d weights / d query
    (its Frobenius norm) the mean, the median and the share of the largest tenth; and the share of
    queries whose gradient is below FROZEN.
    """
    rng = np.random.default_rng([seed, d])
    queries, keys = rng.normal(size=(QUERIES, d)), rng.normal(size=(QUERIES, KEYS, d))
    scores = np.einsum("qd,qkd->qk", queries, keys) / d**power  # each query has separate keys
    weights = softmax(scores)
    gradient = np.sort(query_gradients(weights, keys / d**power))  # (QUERIES,)
    return {
        "score std": float(scores.std()),
        "entropy": float(entropy(weights).mean()),
        "mean gradient": float(gradient.mean()),
        "median gradient": float(np.median(gradient)),
        "top tenth": float(gradient[-QUERIES // 10 :].sum() / gradient.sum()),
        "frozen": float((gradient < FROZEN).mean()),
    }


def measure_all(seeds: Sequence[int]) -> dict[tuple[str, str], np.ndarray]:
    """Measure every scale at every width: (scale, quantity) -> array of shape (seeds, WIDTHS)."""
    found = {
        scale: [[measure(d, power, seed) for d in WIDTHS] for seed in seeds]
        for scale, power in SCALES.items()
    }
    return {
        (scale, quantity): np.array([[cell[quantity] for cell in row] for row in rows])
        for scale, rows in found.items()
        for quantity in rows[0][0]
    }
