"""The exercise `scaled_dot_product_attention`: the layer itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Promise
from .scaled_dot_product_attention_wrong import MISCONCEPTIONS


def attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two queries, three keys", _inputs(rng, (), 2, 3, 4, 2))
    mask = np.array([[True, False, True], [True, True, False]])
    yield Case("a mask", _inputs(rng, (), 2, 3, 4, 2), {"mask": mask})
    mask = np.array([[True, True, False], [False, False, False]])
    yield Case("a query that may attend to nothing", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask})
    Q, K, V = _inputs(rng, (1,), 1, 1, 1, 1)
    yield Case("one query and one key in a batch of one, a tiny value", (Q, K, V * 1e-9))
    Q, K, V = _inputs(rng, (), 2, 3, 4, 5)
    V[1] = 1e30
    mask = np.array([True, False, True])
    yield Case("a mask of one axis, which hides huge values", (Q, K, V), {"mask": mask})
    mask = np.array([[True], [False]])
    yield Case("a mask with one column", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask})
    mask = np.array([[True, True, False], [False, True, True]])
    inputs = _inputs(rng, (2, 1, 3), 2, 3, 4, 5)
    yield Case("three leading batch axes, one of length 1, one mask for all", (*inputs, mask))
    yield Case("large scores", _inputs(rng, (), 3, 4, 5, 2, size=200.0))
    Q, K, V, mask = _far_apart(rng)
    yield Case(
        "large scores, some equal, some below 0, the largest hidden", (Q, K, V), {"mask": mask}
    )
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2,), 4, 4, 3, 3, np.float32)
    yield Case("float32, a batch, the padding hidden from every query", (*inputs, mask))
    Q, K, V = _inputs(rng, (), 3, 3, 4, 2)
    K[0] = 0
    mask = np.array([True, True, False])
    yield Case("a key of zeros, as many queries as keys, a mask of one axis", (Q, K, V, mask))
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V, mask)
    yield Case("scores below any stand-in for infinity", low)


def attention_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_q, n_k, d_k, d_v = rng.permutation([2, 3, 5, 6])  # no root of one is another
    yield Case("no mask", _inputs(rng, (), n_q, n_k, d_k, d_v))
    yield Case("a mask", _inputs(rng, (), n_q, n_k, d_k, d_v), {"mask": _mask(rng, n_q, n_k)})
    mask = _mask(rng, n_q, n_k)
    mask[0] = False
    inputs = _inputs(rng, (), n_q, n_k, d_k, d_v)
    yield Case("a query that may attend to nothing", inputs, {"mask": mask})
    yield Case("large scores", _inputs(rng, (), n_q, n_k, d_k, d_v, size=200.0))
    inputs = _inputs(rng, (2, 3, 1), n_k, n_k, d_k, d_k, np.float32)
    yield Case(
        "float32, three leading batch axes, one of length 1, one mask for all",
        (*inputs, _mask(rng, n_k, n_k)),
    )
    yield Case("one query and one key in a batch of one", _inputs(rng, (1,), 1, 1, d_k, 1))
    Q, K, V = _inputs(rng, (2,), n_q, n_k, d_k, d_v)
    mask = _mask(rng, 1, n_k)[0]
    V[:, ~mask] = 1e30
    yield Case("a mask of one axis, which hides huge values", (Q, K, V), {"mask": mask})
    mask = np.arange(n_q)[:, None] % 2 == 0
    inputs = _inputs(rng, (2,), n_q, n_k, d_k, d_v)
    yield Case("a mask with one column", inputs, {"mask": mask})
    Q, K, V, mask = _far_apart(rng)
    yield Case(
        "large scores, some equal, some below 0, the largest hidden", (Q, K, V), {"mask": mask}
    )


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, ...]:
    """Random Q, K and V; `size` multiplies Q and K."""
    Q, K = rng.normal(size=(*batch, n_q, d_k)) * size, rng.normal(size=(*batch, n_k, d_k)) * size
    return Q.astype(dtype), K.astype(dtype), rng.normal(size=(*batch, n_k, d_v)).astype(dtype)


def _far_apart(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Q, K, V and a mask, keys in random order: scores from -50 000 to 50 000, the best hidden."""
    Q = np.array([[2000.0, 0, 0, 0], [0, 2000, 0, 0]])
    order = rng.permutation(4)
    K = np.array([[30.0, -20, 0, 0], [30, -50, 0, 0], [50, 10, 0, 0], [10, -20, 0, 0]])[order]
    mask = np.array([[True, True, False, True], [True, True, False, True]])[:, order]
    return Q, K, rng.normal(size=(4, 3)), mask


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))


def attention__loop(Q, K, V, mask=None):
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    mask = np.ones(weights.shape, dtype=bool) if mask is None else mask
    mask = np.broadcast_to(mask, weights.shape)
    for place in np.ndindex(*Q.shape[:-1]):
        seen = np.flatnonzero(mask[place])
        if len(seen) == 0:
            continue
        scores = K[place[:-1]][seen] @ Q[place] / np.sqrt(Q.shape[-1])
        shares = np.exp(scores - scores.max())
        weights[place][seen] = shares / shares.sum()
    return weights @ V, weights


def attention__einsum(Q, K, V, mask=None):
    scores = np.einsum("...id,...jd->...ij", Q / Q.shape[-1] ** 0.5, K)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    return np.einsum("...ij,...jv->...iv", weights, V), weights


def attention__keys_down_the_side(Q, K, V, mask=None):
    scores = K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1])
    allowed = np.ones(1, dtype=bool) if mask is None else mask
    shape = (*scores.shape[:-2], scores.shape[-1], scores.shape[-2])
    allowed = np.swapaxes(np.broadcast_to(allowed, shape), -1, -2)
    largest = np.where(allowed, scores, -1e300).max(axis=-2, keepdims=True)
    shares = np.exp(np.where(allowed, scores - largest, -1e300))
    shares = np.where(allowed, shares, 0)
    weights = np.swapaxes(shares / np.maximum(shares.sum(axis=-2, keepdims=True), 1e-300), -1, -2)
    return weights @ V, weights


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    name="scaled_dot_product_attention",
    points=4,
    difficulty=3,
    minutes=25,
    reference=solutions.scaled_dot_product_attention,
    cases=attention_cases,
    hidden=attention_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        attention__loop,
        attention__einsum,
        attention__keys_down_the_side,
    ),
    help=(
        "Scores, scale, mask, softmax along the keys, and the weighted sum of the values. Return "
        "both results.",
        "`np.swapaxes(K, -1, -2)` turns the last two axes and leaves the batch alone. Give hidden "
        "keys a score whose exponential is exactly 0, and ask what then becomes of a row that has "
        "nothing but hidden keys: what is its largest score, and what does it sum to?",
        "Sections “From one query to many: the attention layer” and “Masks”.",
    ),
    promises=(
        Promise(
            "Q: (..., n_q, d_k), n_q at least 1. K: (..., n_k, d_k). V: (..., n_k, d_v), n_k at "
            "least 1",
            (
                "two queries, three keys",
                "no mask",
                "one query and one key in a batch of one, a tiny value",
                "one query and one key in a batch of one",
            ),
        ),
        Promise(
            "All three have the same leading axes",
            (
                "three leading batch axes, one of length 1, one mask for all",
                "float32, a batch, the padding hidden from every query",
            ),
        ),
        Promise(
            "Scores may be large, above 0 or below",
            ("large scores", "large scores, some equal, some below 0, the largest hidden"),
        ),
        Promise(
            "boolean, broadcastable to the scores (..., n_q, n_k), and perhaps with fewer axes",
            (
                "a mask of one axis, which hides huge values",
                "a mask with one column",
                "three leading batch axes, one of length 1, one mask for all",
                "float32, a batch, the padding hidden from every query",
            ),
        ),
        Promise("None lets every query attend to every key", ("no mask",)),
        Promise(
            "Returns (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)",
            ("no mask", "two queries, three keys"),
        ),
        Promise(
            "Each row of the weights sums to 1, and is exactly 0 where the mask is False",
            (
                "a mask",
                "a mask of one axis, which hides huge values",
                "large scores, some equal, some below 0, the largest hidden",
            ),
        ),
        Promise(
            "A query that may attend to nothing gets weights 0 and output 0",
            ("a query that may attend to nothing", "a mask with one column"),
        ),
    ),
    forbidden=forbidden.ATTENTION,
)
