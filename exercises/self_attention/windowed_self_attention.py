"""The exercise `windowed_self_attention`: neighbours only."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import self_attention as solutions

from .. import forbidden

windowed_self_attention = Declaration(
    solutions.windowed_self_attention,
    points=4,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.ATTENTION,
    help=(
        "It is self-attention with a mask between the scores and the softmax.",
        "Build a boolean table of which pairs (i, j) are near enough from `np.arange(n)`. For "
        "which score is the exponential exactly 0?",
        "Section “A window”.",
    ),
)


@windowed_self_attention.right
def cut_and_shared_out_again(X, radius):
    n = X.shape[-2]
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    scores = X @ np.swapaxes(X, -1, -2)
    largest = np.where(apart <= radius, scores, -np.inf).max(axis=-1, keepdims=True)
    exponentials = np.exp(np.minimum(scores - largest, 0)) * (apart <= radius).astype(X.dtype)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


@windowed_self_attention.right
def one_query_at_a_time(X, radius):
    n = X.shape[-2]
    Y, weights = np.zeros_like(X), np.zeros((*X.shape[:-1], n), dtype=X.dtype)
    for i in range(n):
        first, end = max(0, i - radius), min(n, i + radius + 1)
        near = X[..., first:end, :]
        scores = np.einsum("...jd,...d->...j", near, X[..., i, :])
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights[..., i, first:end] = exponentials / exponentials.sum(axis=-1, keepdims=True)
        Y[..., i, :] = np.einsum("...j,...jd->...d", weights[..., i, first:end], near)
    return Y, weights


@windowed_self_attention.right
def by_bands(X, radius):
    n = X.shape[-2]
    inside = np.tri(n, k=radius, dtype=bool) & np.tri(n, k=radius, dtype=bool).T
    scores = np.where(inside, np.einsum("...id,...jd->...ij", X, X), -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.einsum("...ij,...jd->...id", weights, X), weights


@windowed_self_attention.right
def plain(X, radius):
    n = X.shape[-2]
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    scores = np.where(apart <= radius, X @ np.swapaxes(X, -1, -2), -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ X, weights


uncut = plain.edit(
    "np.where(apart <= radius, X @ np.swapaxes(X, -1, -2), -np.inf)", "X @ np.swapaxes(X, -1, -2)"
)
windowed_self_attention.wrong(
    "window one too narrow",
    "With radius 0, which tokens satisfy your condition? May a token at distance exactly `radius` "
    "be seen?",
    plain.edit("apart <= radius", "apart < radius"),
)
windowed_self_attention.wrong(
    "looks back only",
    "Which tokens after token i are in your window? Does |i - j| tell before from after?",
    plain.edit("apart <= radius", "(apart <= radius) & np.tri(n, dtype=bool)"),
)
windowed_self_attention.wrong(
    "looks ahead only",
    "Which tokens before token i are in your window? Does |i - j| tell before from after?",
    plain.edit("apart <= radius", "(apart <= radius) & np.tri(n, dtype=bool).T"),
)
windowed_self_attention.wrong(
    "a token does not see itself",
    "How far is a token from itself? Is that at most the radius?",
    plain.edit("apart <= radius", "(apart <= radius) & ((apart > 0) | (radius == 0))"),
)
windowed_self_attention.wrong(
    "radius taken for the width",
    "With radius 2, how many tokens does a token in the middle see? Count the tokens on its left, "
    "the token itself, and the tokens on its right.",
    plain.edit("apart <= radius", "apart <= radius // 2"),
)
windowed_self_attention.wrong(
    "score 0 outside the window",
    "What is the exponential of the score that you put outside the window? What score would give "
    "a weight of exactly 0?",
    plain.edit("-np.inf", "0"),
)
windowed_self_attention.wrong(
    "cut after the softmax",
    "Sum the rows of your weights. What happened to the attention that the tokens outside the "
    "window were given?",
    uncut.edit(
        "exponentials.sum(axis=-1, keepdims=True)",
        "exponentials.sum(axis=-1, keepdims=True) * (apart <= radius)",
    ),
)
windowed_self_attention.wrong(
    "cut after the exponential",
    "This is right while scores are small. Suppose that a token outside the window has a score "
    "that is 1000 above all scores inside. What do you subtract before the exponential, and what "
    "is left inside?",
    uncut.edit(
        "np.exp(scores - scores.max(axis=-1, keepdims=True))",
        "np.exp(scores - scores.max(axis=-1, keepdims=True)) * (apart <= radius)",
    ),
)
windowed_self_attention.wrong(
    "window wraps around",
    "Does the first token of your sequence see the last one? Are they neighbours?",
    plain.edit("apart <= radius", "np.minimum(apart, n - apart) <= radius"),
)
windowed_self_attention.wrong(
    "mask inverted",
    "Does True in your mask mean “may attend” or “must not”? Look at the weight that a token "
    "gives itself.",
    plain.edit("apart <= radius", "apart > radius"),
)
windowed_self_attention.wrong(
    "slice starts below zero",
    "What is `np.arange(6)[-1:2]`? What does your slice give for the first token?",
    one_query_at_a_time.edit(
        "max(0, i - radius), min(n, i + radius + 1)", "i - radius, i + radius + 1"
    ),
)
windowed_self_attention.wrong(
    "window ignored",
    "Which weights in your answer are exactly 0? Does your result change with the radius?",
    uncut,
)


@windowed_self_attention.public
def _(rng):
    yield Case("three tokens, radius 1", (np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), 1)).holds(
        "a whole number, 0 or more",
        "(Y, weights): Y of the shape of X, and weights of shape (..., n, n)",
    )
    yield Case("radius 0: every token sees only itself", (rng.normal(size=(4, 3)), 0)).holds(
        "a whole number…"
    )
    yield Case("six tokens, radius 2", (rng.normal(size=(6, 3)) * 0.6, 2)).holds(
        "the window is cut off at the ends of the sequence",
        "Weights outside the window are exactly 0, and every row sums to 1",
    )
    yield Case("a window wider than the sequence", (rng.normal(size=(3, 4)) * 0.6, 5)).holds(
        "the window…"
    )
    yield Case("float32, a batch", (rng.normal(size=(2, 5, 3)).astype(np.float32) * 0.6, 1)).holds(
        "(..., n, d)"
    )
    X = rng.normal(size=(1, 1, 3)) * 1e-9
    yield Case("a batch of one sequence of one tiny token", (X, 1)).holds("n at least 1")
    X = rng.normal(size=(2, 1, 3, 4, 2)) * 0.6
    yield Case("three leading batch axes, one of length 1", (X, 1)).holds("(..., n…")
    yield Case("large scores", (rng.normal(size=(5, 3)) * 40, 1)).holds(
        "Scores may be large, and largest outside the window"
    )
    yield Case("large scores, the largest outside the window", (_growing(5) * 200, 1)).holds(
        "Scores may…"
    )


def _growing(n: int) -> np.ndarray:
    """n tokens in one direction, each longer than the one before: the last attracts all."""
    return np.arange(1.0, n + 1)[:, None] * np.array([0.6, -0.8])


@windowed_self_attention.hidden
def _(rng):
    yield Case("one token", (rng.normal(size=(1, 3)), 2)).holds("n at least…")
    yield Case("radius 0", (rng.normal(size=(3, 2)), 0))
    yield Case("radius 1", (rng.normal(size=(5, 3)) * 0.6, 1))
    yield Case("radius 3", (rng.normal(size=(9, 2)) * 0.6, 3)).holds(
        "a whole number…", "(Y, weights)…", "Weights outside…"
    )
    X = rng.normal(size=(2, 3, 1, 6, 3)) * 0.6
    yield Case("three leading batch axes, one of length 1, radius 2", (X, 2)).holds("(..., n…")
    yield Case("float32, window wider than the sequence", (rng.normal(size=(4, 3)).astype("f4"), 9))
    yield Case("large scores, a batch", (rng.normal(size=(3, 5, 4)) * 40, 1))
    X = _growing(7) * rng.uniform(150, 250)
    yield Case("large scores, the largest outside the window", (X, 2))


windowed_self_attention.lets_through(
    "a softmax shifted by no less than 0", "the score of a token with itself is never below 0"
)
windowed_self_attention.lets_through(
    "-100 for a hidden score", "a token sees itself, and that score is never below 0"
)
windowed_self_attention.lets_through(
    "-10000 for a hidden score", "a token sees itself, and that score is never below 0"
)
windowed_self_attention.lets_through(
    "-1e+09 for a hidden score", "a token sees itself, and that score is never below 0"
)
