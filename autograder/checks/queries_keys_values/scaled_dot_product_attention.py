"""The exercise `scaled_dot_product_attention`: the layer itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...judging.exercise import Case, Exercise, Misconception


def attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two queries, three keys", _inputs(rng, (), 2, 3, 4, 2))
    mask = np.array([[True, False, True], [True, True, False]])
    yield Case("a mask", _inputs(rng, (), 2, 3, 4, 2), {"mask": mask})
    mask = np.array([[True, True, False], [False, False, False]])
    yield Case("a query that may attend to nothing", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask})
    yield Case("large scores", _inputs(rng, (), 3, 4, 5, 2, size=200.0))
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2,), 4, 4, 3, 3, np.float32)
    yield Case("float32, a batch, the padding hidden from every query", (*inputs, mask))


def attention_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_q, n_k, d_k, d_v = rng.permutation([2, 3, 5, 6])  # no root of one is another
    yield Case("no mask", _inputs(rng, (), n_q, n_k, d_k, d_v))
    yield Case("a mask", _inputs(rng, (), n_q, n_k, d_k, d_v), {"mask": _mask(rng, n_q, n_k)})
    mask = _mask(rng, n_q, n_k)
    mask[0] = False
    inputs = _inputs(rng, (), n_q, n_k, d_k, d_v)
    yield Case("a query that may attend to nothing", inputs, {"mask": mask})
    yield Case("large scores", _inputs(rng, (), n_q, n_k, d_k, d_v, size=200.0))
    inputs = _inputs(rng, (2, 3), n_k, n_k, d_k, d_k, np.float32)
    yield Case("float32, two leading batch axes, one mask for all", (*inputs, _mask(rng, n_k, n_k)))


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


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))


def attention__no_scale(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_d(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_value_width(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / V.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_length(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / K.shape[-2] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_after_softmax(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1) / Q.shape[-1] ** 0.5
    return weights @ V, weights


def attention__over_queries(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-2, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-2, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__plain_transpose(Q, K, V, mask=None):
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__keys_and_values_swapped(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(V, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ K, weights


def attention__overflow(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__mask_inverted(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else ~mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__mask_ignored(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__scores_times_mask(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores * mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__weights_times_mask(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights


def attention__mask_added(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_a_billion(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_a_billion_added(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_infinity_alone(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__weights_first(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights, weights @ V


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
    misconceptions=(
        Misconception(
            "no scale",
            attention__no_scale,
            "How large are the scores when d_k = 512? What does the softmax make of them?",
        ),
        Misconception(
            "scaled by d instead of its root",
            attention__scaled_by_d,
            "The variance of a score grows like d_k. How does its standard deviation grow?",
        ),
        Misconception(
            "scaled by the width of the values",
            attention__scaled_by_value_width,
            "Over which axis does the dot product of a query and a key sum? How long is that axis?",
        ),
        Misconception(
            "scaled by the number of keys",
            attention__scaled_by_length,
            "Over which axis does the dot product of a query and a key sum? Is it the number of "
            "keys?",
        ),
        Misconception(
            "scaled after the softmax",
            attention__scaled_after_softmax,
            "Sum a row of your weights. Does it still sum to 1?",
        ),
        Misconception(
            "softmax over the queries",
            attention__over_queries,
            "Sum your weights along each axis. Is it each query or each key that shares out a "
            "total of 1?",
        ),
        Misconception(
            "a plain transpose",
            attention__plain_transpose,
            "What does `.T` do to an array of shape (batch, n, d)? Which two axes did you mean "
            "to swap?",
        ),
        Misconception(
            "keys and values swapped",
            attention__keys_and_values_swapped,
            "Which of K and V is compared with the query, and which is handed over?",
        ),
        Misconception(
            "exponential overflows",
            attention__overflow,
            "What is np.exp(1000)? What may you subtract from a row of scores without changing "
            "its weights?",
        ),
        Misconception(
            "mask inverted",
            attention__mask_inverted,
            "In this course True means “may attend”. Where the mask is True, is your weight 0?",
        ),
        Misconception(
            "mask ignored",
            attention__mask_ignored,
            "Does your answer change when the mask does?",
        ),
        Misconception(
            "score 0 where masked",
            attention__scores_times_mask,
            "What is the exponential of a score of 0? What score would give a weight of exactly 0?",
        ),
        Misconception(
            "weights multiplied by the mask",
            attention__weights_times_mask,
            "Sum a masked row of your weights. Where did the share go that the hidden keys were "
            "given?",
        ),
        Misconception(
            "mask added to the scores",
            attention__mask_added,
            "What do True and False count for in a sum? By how much does that move a score?",
        ),
        Misconception(
            "minus a billion instead of minus infinity",
            attention__minus_a_billion,
            "Take a row in which nothing may be attended to. All its scores are equal then: "
            "what does the softmax make of equal scores?",
        ),
        Misconception(
            "minus a billion added to the score",
            attention__minus_a_billion_added,
            "Take a row in which nothing may be attended to. If every score falls by the same "
            "amount, do the weights change?",
        ),
        Misconception(
            "minus infinity and nothing else",
            attention__minus_infinity_alone,
            "Take a row in which nothing may be attended to. What is its largest score, and "
            "what is infinity minus infinity?",
        ),
        Misconception(
            "weights returned first",
            attention__weights_first,
            "In which order does the docstring return output and weights?",
        ),
    ),
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
)
