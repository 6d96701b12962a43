"""The exercise `dot_product_scores`: the table of dot products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import self_attention as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def scores_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three tokens of two features", (np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]),))
    yield Case("four tokens of three features, some negative", (rng.normal(size=(4, 3)),))
    yield Case("float32", (rng.normal(size=(3, 5)).astype(np.float32),))
    yield Case("a batch of two sequences", (rng.normal(size=(2, 4, 3)),))
    yield Case("one token of one feature", (rng.normal(size=(1, 1)),))
    X = rng.normal(size=(2, 1, 3, 4, 2))
    yield Case("three leading batch axes, one of length 1", (X,))
    yield Case("tiny numbers", (rng.normal(size=(3, 2)) * 1e-9,))


def scores_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("a batch of one sequence of one token", (rng.normal(size=(1, 1, 3)),))
    yield Case("more tokens than features", (rng.normal(size=(7, 2)),))
    yield Case("more features than tokens, float32", (rng.normal(size=(3, 8)).astype(np.float32),))
    yield Case("a batch of as many sequences as tokens", (rng.normal(size=(4, 4, 4)),))
    X = rng.normal(size=(2, 3, 1, 5, 4))
    yield Case("three leading batch axes, one of length 1", (X,))
    yield Case("tiny numbers", (rng.normal(size=(4, 3)) * 1e-9,))


def scores__features_with_features(X):
    return np.swapaxes(X, -1, -2) @ X


def scores__all_axes_reversed(X):
    return X @ X.T


def scores__np_dot_on_a_batch(X):
    return np.dot(X, np.swapaxes(X, -1, -2))


def scores__elementwise(X):
    return X * X


def scores__cosine(X):
    unit = X / np.linalg.norm(X, axis=-1, keepdims=True)
    return unit @ np.swapaxes(unit, -1, -2)


def scores__scaled(X):
    return X @ np.swapaxes(X, -1, -2) / np.sqrt(X.shape[-1])


def scores__own_token_left_out(X):
    return X @ np.swapaxes(X, -1, -2) * (1 - np.eye(X.shape[-2], dtype=X.dtype))


def scores__distance(X):
    return np.linalg.norm(X[..., :, None, :] - X[..., None, :, :], axis=-1)


def scores__by_einsum(X):
    return np.einsum("...id,...jd->...ij", X, X)


def scores__by_loops(X):
    n = X.shape[-2]
    scores = np.zeros((*X.shape[:-1], n), dtype=X.dtype)
    for i in range(n):
        for j in range(n):
            scores[..., i, j] = np.sum(X[..., i, :] * X[..., j, :], axis=-1)
    return scores


def scores__by_broadcasting(X):
    return (X[..., :, None, :] * X[..., None, :, :]).sum(axis=-1)


DOT_PRODUCT_SCORES = Exercise(
    name="dot_product_scores",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.dot_product_scores,
    cases=scores_cases,
    hidden=scores_hidden,
    misconceptions=(
        Misconception(
            "features compared with features",
            scores__features_with_features,
            "You have 3 tokens of 2 features. How many rows should the table of scores have: one "
            "for each token, or one for each feature?",
        ),
        Misconception(
            "all axes reversed on a batch",
            scores__all_axes_reversed,
            "Right for one sequence. What is `X.T.shape` when X has shape (2, 4, 3)? Which two "
            "axes did you mean to swap?",
        ),
        Misconception(
            "np.dot on a batch",
            scores__np_dot_on_a_batch,
            "Right for one sequence. Should the tokens of one sentence of the batch be compared "
            "with those of another? What does `np.dot` do with two stacks of matrices?",
        ),
        Misconception(
            "product without the sum",
            scores__elementwise,
            "A dot product multiplies feature by feature, and then? How many numbers should one "
            "pair of tokens give?",
        ),
        Misconception(
            "cosine instead of dot product",
            scores__cosine,
            "What score does a token give itself in your answer? Compare it with its squared "
            "length. Does the dot product know how long a vector is?",
        ),
        Misconception(
            "divided by sqrt(d) already",
            scores__scaled,
            "Take x = (2, 1). What is x . x by hand, and what do you get? Which chapter brings the "
            "scale?",
        ),
        Misconception(
            "own token left out",
            scores__own_token_left_out,
            "What stands on the diagonal of your scores? Is a token among those that it may look "
            "at?",
        ),
        Misconception(
            "distance instead of dot product",
            scores__distance,
            "Is your score larger or smaller when two tokens are more alike? Which should it be?",
        ),
    ),
    alternatives=(scores__by_einsum, scores__by_loops, scores__by_broadcasting),
    help=(
        "One matrix product gives all n times n dot products at once.",
        "Entry (i, j) of A @ B is row i of A times column j of B. Which matrix has the tokens as "
        "its columns? On a batch, swap the last two axes only.",
        "Section “All words at once”.",
    ),
    promises=(
        Promise(
            "tokens, one a row, (..., n, d)",
            (
                "a batch of two sequences",
                "three leading batch axes, one of length 1",
                "a batch of as many sequences as tokens",
            ),
        ),
        Promise(
            "n and d at least 1",
            ("one token of one feature", "a batch of one sequence of one token"),
        ),
        Promise("scores of shape (..., n, n)", ("more tokens than features",)),
        Promise(
            "the dot product of token i and token j of the same sequence",
            ("three tokens of two features", "a batch of two sequences", "tiny numbers"),
        ),
    ),
)
