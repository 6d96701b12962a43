"""The exercise `self_attention`: all tokens at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import self_attention as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise


def attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three tokens of two features", (np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]),))
    yield Case("four tokens of three features, some negative", (rng.normal(size=(4, 3)) * 0.6,))
    yield Case("float32", (rng.normal(size=(3, 5)).astype(np.float32) * 0.6,))
    yield Case("a batch of two sequences", (rng.normal(size=(2, 5, 3)) * 0.6,))
    yield Case("a batch of one sequence of one tiny token", (rng.normal(size=(1, 1, 3)) * 1e-9,))
    X = rng.normal(size=(2, 1, 3, 4, 2)) * 0.6
    yield Case("three leading batch axes, one of length 1", (X,))
    yield Case("large scores", (rng.normal(size=(4, 3)) * 40,))
    X = rng.normal(size=(4, 3)) * 40
    X[2] = X[0]
    yield Case("large scores, two tokens alike", (X,))


def attention_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one token", (rng.normal(size=(1, 3)) * 0.6,))
    yield Case("two tokens", (rng.normal(size=(2, 3)) * 0.6,))
    yield Case("more tokens than features", (rng.normal(size=(6, 2)) * 0.6,))
    yield Case("as many tokens as features", (rng.normal(size=(4, 4)) * 0.6,))
    yield Case("float32, a batch", (rng.normal(size=(3, 4, 2)).astype(np.float32) * 0.6,))
    X = rng.normal(size=(2, 3, 1, 4, 5)) * 0.5
    yield Case("three leading batch axes, one of length 1", (X,))
    X = rng.normal(size=(2, 5, 4)) * 40
    X[:, 3] = X[:, 1]
    yield Case("large scores, two tokens alike, a batch", (X,))


def attention__columns_normalised(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-2, keepdims=True)
    return weights @ X, weights


def attention__one_softmax_for_all(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=(-1, -2), keepdims=True))
    weights = exponentials / exponentials.sum(axis=(-1, -2), keepdims=True)
    return weights @ X, weights


def attention__blend_by_columns(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.swapaxes(weights, -1, -2) @ X, weights


def attention__no_softmax(X):
    scores = X @ np.swapaxes(X, -1, -2)
    return scores @ X, scores


def attention__no_exponential(X):
    scores = X @ np.swapaxes(X, -1, -2)
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return weights @ X, weights


def attention__overflows(X):
    exponentials = np.exp(X @ np.swapaxes(X, -1, -2))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


def attention__own_token_left_out(X):
    scores = X @ np.swapaxes(X, -1, -2)
    scores = np.where(np.eye(X.shape[-2], dtype=bool), -np.inf, scores)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


def attention__scaled(X):
    scores = X @ np.swapaxes(X, -1, -2) / np.sqrt(X.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


def attention__all_axes_reversed(X):
    scores = X @ X.T
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


def attention__weights_first(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights, weights @ X


def attention__residual_added(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return X + weights @ X, weights


def attention__by_einsum(X):
    scores = np.einsum("...id,...jd->...ij", X, X)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / np.einsum("...ij->...i", exponentials)[..., None]
    return np.einsum("...ij,...jd->...id", weights, X), weights


def attention__one_query_at_a_time(X):
    n = X.shape[-2]
    Y, weights = np.zeros_like(X), np.zeros((*X.shape[:-1], n), dtype=X.dtype)
    for i in range(n):
        scores = (X @ X[..., i, :, None])[..., 0]  # (..., n)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights[..., i, :] = exponentials / exponentials.sum(axis=-1, keepdims=True)
        Y[..., i, :] = (weights[..., i, :, None] * X).sum(axis=-2)
    return Y, weights


def attention__keys_down_the_side(X):
    by_key = X @ np.swapaxes(X, -1, -2)  # (..., key, query)
    shares = np.exp(by_key - np.logaddexp.reduce(by_key, axis=-2, keepdims=True))
    return np.swapaxes(np.swapaxes(X, -1, -2) @ shares, -1, -2), np.swapaxes(shares, -1, -2)


SELF_ATTENTION = Exercise(
    name="self_attention",
    points=4,
    difficulty=3,
    minutes=15,
    reference=solutions.self_attention,
    cases=attention_cases,
    hidden=attention_hidden,
    misconceptions=(
        Misconception(
            "columns normalised",
            attention__columns_normalised,
            "Sum row 0 of your weights. Row 0 tells how token 0 shares out its attention: what "
            "should the sum be?",
        ),
        Misconception(
            "one softmax for all queries",
            attention__one_softmax_for_all,
            "The sum of all your weights is 1. How many queries are there, and how much attention "
            "has each to share out?",
        ),
        Misconception(
            "blend by columns",
            attention__blend_by_columns,
            "Your weights are right. Is output i the blend with row i of the weights, or with "
            "column i?",
        ),
        Misconception(
            "scores used as weights",
            attention__no_softmax,
            "Can a weighted average lie outside the tokens that it averages? Yours does. What do "
            "the rows of your weights sum to?",
        ),
        Misconception(
            "divided by the sum without an exponential",
            attention__no_exponential,
            "Look for a negative weight in your answer. Which function makes every score positive?",
        ),
        Misconception(
            "exponential overflows",
            attention__overflows,
            "Right while scores are small. What is np.exp(1000.0), and what may you subtract "
            "from a row before it?",
        ),
        Misconception(
            "own token left out",
            attention__own_token_left_out,
            "What weight does a token give itself in your answer? Does the sum over j leave out "
            "j = i?",
        ),
        Misconception(
            "divided by sqrt(d) already",
            attention__scaled,
            "Compare your scores with dot products worked out by hand. Which chapter brings the "
            "scale?",
        ),
        Misconception(
            "all axes reversed on a batch",
            attention__all_axes_reversed,
            "Right for one sequence. What is `X.T.shape` when X has shape (2, 5, 3)?",
        ),
        Misconception(
            "weights returned first",
            attention__weights_first,
            "In which order does the docstring ask for the two results?",
        ),
        Misconception(
            "input added to the output",
            attention__residual_added,
            "If all tokens are the same x, what is their weighted average? What do you return? "
            "(The sum that you have in mind comes in chapter 8.)",
        ),
    ),
    alternatives=(
        attention__by_einsum,
        attention__one_query_at_a_time,
        attention__keys_down_the_side,
    ),
    help=(
        "Three steps: scores, softmax, blend.",
        "The softmax goes along the axis of the keys, the last one. Output i blends the tokens "
        "with row i of the weights, which is one matrix product.",
        "Sections “The spotlight on one word” and “All words at once”.",
    ),
    promises=(
        Promise(
            "(..., n, d)",
            ("a batch of two sequences", "three leading batch axes, one of length 1"),
        ),
        Promise("n at least 1", ("a batch of one sequence of one tiny token", "one token")),
        Promise(
            "(Y, weights): outputs Y of the shape of X, and weights of shape (..., n, n)",
            ("more tokens than features", "as many tokens as features"),
        ),
        Promise(
            "Row i of the weights tells how token i shares out its attention; it sums to 1",
            ("three tokens of two features", "large scores, two tokens alike"),
        ),
        Promise(
            "the dot products as they are, not scaled",
            ("four tokens of three features, some negative",),
        ),
        Promise(
            "they may be large",
            (
                "large scores",
                "large scores, two tokens alike",
                "large scores, two tokens alike, a batch",
            ),
        ),
    ),
    forbidden=forbidden.ATTENTION,
)
