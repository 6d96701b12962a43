"""The exercise `self_attention`: all tokens at once."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import self_attention as solutions

from .. import forbidden

self_attention = Declaration(
    solutions.self_attention,
    points=4,
    difficulty=3,
    minutes=15,
    forbidden=forbidden.ATTENTION,
    help=(
        "There are three steps: scores, softmax, blend.",
        "The softmax goes along the axis of the keys, the last one. Output i blends the tokens "
        "with row i of the weights; for all i together, that is one matrix product.",
        "Sections “The spotlight on one word” and “All words at once”.",
    ),
)


@self_attention.right
def by_einsum(X):
    scores = np.einsum("...id,...jd->...ij", X, X)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / np.einsum("...ij->...i", exponentials)[..., None]
    return np.einsum("...ij,...jd->...id", weights, X), weights


@self_attention.right
def one_query_at_a_time(X):
    n = X.shape[-2]
    Y, weights = np.zeros_like(X), np.zeros((*X.shape[:-1], n), dtype=X.dtype)
    for i in range(n):
        scores = (X @ X[..., i, :, None])[..., 0]  # (..., n)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights[..., i, :] = exponentials / exponentials.sum(axis=-1, keepdims=True)
        Y[..., i, :] = (weights[..., i, :, None] * X).sum(axis=-2)
    return Y, weights


@self_attention.right
def keys_down_the_side(X):
    by_key = X @ np.swapaxes(X, -1, -2)  # (..., key, query)
    shares = np.exp(by_key - np.logaddexp.reduce(by_key, axis=-2, keepdims=True))
    return np.swapaxes(np.swapaxes(X, -1, -2) @ shares, -1, -2), np.swapaxes(shares, -1, -2)


@self_attention.right
def plain(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


self_attention.wrong(
    "columns normalised",
    "Sum row 0 of your weights. Row 0 says how token 0 shares out its attention. What should the "
    "sum be?",
    plain.edit("axis=-1", "axis=-2", times=2),
)
self_attention.wrong(
    "one softmax for all queries",
    "The sum of all your weights is 1. How many queries are there, and how much attention does "
    "each of them share out?",
    plain.edit("axis=-1", "axis=(-1, -2)", times=2),
)
self_attention.wrong(
    "blend by columns",
    "Your weights are right. Is output i the blend with row i of the weights, or with column i?",
    plain.edit("weights @ X", "np.swapaxes(weights, -1, -2) @ X"),
)
self_attention.wrong(
    "scores used as weights",
    "Can a weighted average lie outside the range of the tokens that it averages? Yours does. "
    "What do the rows of your weights sum to?",
    plain.edit("exponentials / exponentials.sum(axis=-1, keepdims=True)", "scores"),
)
self_attention.wrong(
    "divided by the sum without an exponential",
    "Look for a negative weight in your answer. Which function makes every score positive?",
    plain.edit("np.exp(scores - scores.max(axis=-1, keepdims=True))", "scores"),
)
self_attention.wrong(
    "exponential overflows",
    "This is right while scores are small. What is np.exp(1000.0), and what may you subtract from "
    "a row before it?",
    plain.edit(" - scores.max(axis=-1, keepdims=True)", ""),
)
self_attention.wrong(
    "the token itself left out",
    "What weight does a token give itself in your answer? Should the sum over j leave out j = i?",
    plain.edit(
        "scores = X @ np.swapaxes(X, -1, -2)",
        "scores = X @ np.swapaxes(X, -1, -2)\n"
        "scores = np.where(np.eye(X.shape[-2], dtype=bool), -np.inf, scores)",
    ),
)
self_attention.wrong(
    "divided by sqrt(d) already",
    "Compare your scores with dot products worked out by hand. Which chapter introduces the scale?",
    plain.edit("np.swapaxes(X, -1, -2)", "np.swapaxes(X, -1, -2) / np.sqrt(X.shape[-1])"),
)
self_attention.wrong(
    "all axes reversed on a batch",
    "Your answer is right for one sequence. What is `X.T.shape` when X has shape (2, 5, 3)?",
    plain.edit("np.swapaxes(X, -1, -2)", "X.T"),
)
self_attention.wrong(
    "weights returned first",
    "In which order does the docstring ask for the two results?",
    plain.edit("weights @ X, weights", "weights, weights @ X"),
)
self_attention.wrong(
    "input added to the output",
    "If all tokens are the same x, what is their weighted average? What do you return? (The sum "
    "that you may have in mind comes in chapter 8.)",
    plain.edit("return weights @ X", "return X + weights @ X"),
)


@self_attention.public
def _(rng):
    yield Case(
        "three tokens of two features", (np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]),)
    ).holds("Row i of the weights tells how token i shares out its attention; it sums to 1")
    yield Case(
        "four tokens of three features, some negative", (rng.normal(size=(4, 3)) * 0.6,)
    ).holds("the dot products as they are, not scaled")
    yield Case("float32", (rng.normal(size=(3, 5)).astype(np.float32) * 0.6,))
    yield Case("a batch of two sequences", (rng.normal(size=(2, 5, 3)) * 0.6,)).holds("(..., n, d)")
    yield Case(
        "a batch of one sequence of one tiny token", (rng.normal(size=(1, 1, 3)) * 1e-9,)
    ).holds("n at least 1")
    X = rng.normal(size=(2, 1, 3, 4, 2)) * 0.6
    yield Case("three leading batch axes, one of length 1", (X,)).holds("(..., n…")
    yield Case("large scores", (rng.normal(size=(4, 3)) * 40,)).holds("they may be large")
    X = rng.normal(size=(4, 3)) * 40
    X[2] = X[0]
    yield Case("large scores, two equal tokens", (X,)).holds("Row i of…", "they may…")


@self_attention.hidden
def _(rng):
    yield Case("one token", (rng.normal(size=(1, 3)) * 0.6,)).holds("n at least…")
    yield Case("two tokens", (rng.normal(size=(2, 3)) * 0.6,))
    yield Case("more tokens than features", (rng.normal(size=(6, 2)) * 0.6,)).holds(
        "(Y, weights): outputs Y of the shape of X, and weights of shape (..., n, n)"
    )
    yield Case("as many tokens as features", (rng.normal(size=(4, 4)) * 0.6,)).holds(
        "(Y, weights)…"
    )
    yield Case("float32, a batch", (rng.normal(size=(3, 4, 2)).astype(np.float32) * 0.6,))
    X = rng.normal(size=(2, 3, 1, 4, 5)) * 0.5
    yield Case("three leading batch axes, one of length 1", (X,))
    X = rng.normal(size=(2, 5, 4)) * 40
    X[:, 3] = X[:, 1]
    yield Case("large scores, two equal tokens, a batch", (X,)).holds("they may…")


self_attention.lets_through(
    "a softmax shifted by no less than 0", "the score of a token with itself is never below 0"
)
