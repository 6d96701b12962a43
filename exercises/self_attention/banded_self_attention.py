"""The exercise `banded_self_attention`: a window that saves memory. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import self_attention as solutions

banded_self_attention = Declaration(
    solutions.banded_self_attention,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.DEBUG,
    help=(
        "Only the tokens near the ends go wrong. Find out what they see that is not there.",
        "Give the function tokens that are all equal: the outputs should be the same tokens "
        "again. Where are they not? What must a score be, so that its weight is exactly 0?",
        "Section “A window”.",
    ),
)


@banded_self_attention.right
def margin_shared_out_again(X, radius):
    n = X.shape[-2]
    width = [(0, 0)] * (X.ndim - 2) + [(radius, radius), (0, 0)]
    padded, real = np.pad(X, width), np.pad(np.ones(n), radius)
    neighbours = np.stack([padded[..., k : k + n, :] for k in range(2 * radius + 1)], axis=-2)
    there = np.stack([real[k : k + n] for k in range(2 * radius + 1)], axis=-1)
    scores = np.einsum("...ikd,...id->...ik", neighbours, X)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True)) * there.astype(X.dtype)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("...ik,...ikd->...id", weights, neighbours), weights


@banded_self_attention.right
def token_by_token(X, radius):
    n = X.shape[-2]
    Y = np.zeros_like(X)
    weights = np.zeros((*X.shape[:-1], 2 * radius + 1), dtype=X.dtype)
    for i in range(n):
        first, end = max(0, i - radius), min(n, i + radius + 1)
        near = X[..., first:end, :]
        scores = (near @ X[..., i, :, None])[..., 0]
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        start = first - (i - radius)
        weights[..., i, start : start + end - first] = shares
        Y[..., i, :] = (shares[..., None] * near).sum(axis=-2)
    return Y, weights


@banded_self_attention.right
def from_the_table(X, radius):
    n = X.shape[-2]
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    table = np.where(apart <= radius, X @ np.swapaxes(X, -1, -2), -np.inf)
    table = np.exp(table - np.logaddexp.reduce(table, axis=-1, keepdims=True))
    band = np.zeros((*X.shape[:-1], 2 * radius + 1), dtype=X.dtype)
    for i in range(n):
        for j in range(max(0, i - radius), min(n, i + radius + 1)):
            band[..., i, j - i + radius] = table[..., i, j]
    return table @ X, band


@banded_self_attention.right
def plain(X, radius):
    n = X.shape[-2]
    places = np.arange(n)[:, None] + np.arange(-radius, radius + 1)
    inside = (places >= 0) & (places < n)
    neighbours = X[..., np.where(inside, places, 0), :] * inside[..., None]
    scores = np.sum(neighbours * X[..., None, :], axis=-1)
    scores = np.where(inside, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.sum(weights[..., None] * neighbours, axis=-2), weights


@banded_self_attention.wrong(
    "the margin taken for tokens",
    "Take two tokens and radius 1, and print the weights. How many tokens does the first token "
    "see, and how many weights in its row are above 0? What is its score with a row of zeros?",
    released=True,
)
def _(X, radius):
    n = X.shape[-2]
    margin = np.repeat(np.zeros_like(X[..., :1, :]), radius, axis=-2)
    padded = np.concatenate([margin, X, margin], axis=-2)  # (..., n + 2 radius, d)

    # (..., n, 2 radius + 1, d): token i finds its neighbours in padded[i : i + 2 radius + 1]
    neighbours = np.stack([padded[..., k : k + n, :] for k in range(2 * radius + 1)], axis=-2)
    scores = np.sum(neighbours * X[..., None, :], axis=-1)  # (..., n, 2 radius + 1)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.sum(weights[..., None] * neighbours, axis=-2), weights


banded_self_attention.wrong(
    "the ends repeated",
    "Which tokens are in the window of token 0? Is any of them there more than once?",
    plain.edit(
        "np.arange(n)[:, None] + np.arange(-radius, radius + 1)",
        "np.clip(np.arange(n)[:, None] + np.arange(-radius, radius + 1), 0, n - 1)",
    ),
)
banded_self_attention.wrong(
    "the window wraps around",
    "Does the first token of your sequence see the last one? Are they neighbours?",
    plain.edit(
        "np.arange(n)[:, None] + np.arange(-radius, radius + 1)",
        "(np.arange(n)[:, None] + np.arange(-radius, radius + 1)) % n",
    ),
)
banded_self_attention.wrong(
    "the margin removed after the softmax",
    "Sum the rows of your weights. What happened to the attention that the margin was given?",
    plain.edit("scores = np.where(inside, scores, -np.inf)", "").edit(
        "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=-1, keepdims=True) * inside"
    ),
)
banded_self_attention.wrong(
    "a score of 0 taken for the margin",
    "Can a real neighbour have a score of exactly 0? Try two tokens at right angles.",
    plain.edit("np.where(inside, scores, -np.inf)", "np.where(scores == 0, -np.inf, scores)")
    .edit("scores.max(axis=-1, keepdims=True)", "scores.max(axis=-1, keepdims=True, initial=-1e30)")
    .edit(
        "weights.sum(axis=-1, keepdims=True)",
        "np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)",
    ),
)
banded_self_attention.wrong(
    "one end forgotten",
    "The first token's row is right. Is the last token's row right, too?",
    plain.edit("np.where(inside, scores, -np.inf)", "np.where(places >= 0, scores, -np.inf)"),
)
banded_self_attention.wrong(
    "token 0 taken for the margin",
    "May token 1 see token 0? At which position does the sequence begin?",
    plain.edit(
        "(places >= 0) & (places < n)",
        "(places > 0) & (places < n) | (places == np.arange(n)[:, None])",
    ),
)
banded_self_attention.wrong(
    "the window reversed",
    "Your outputs are right. Does column 0 of your weights belong to the neighbour that is "
    "furthest to the left, or to the right?",
    plain.edit("+ np.arange(-radius, radius + 1)", "- np.arange(-radius, radius + 1)"),
)


@banded_self_attention.public
def _(rng):
    yield Case("two tokens, radius 1", (np.array([[1.0, 0.0], [1.0, 1.0]]), 1)).holds(
        "weights[..., i, k] is what token i gives to token i - radius + k, and exactly 0 where "
        "the sequence has no such token",
        "Every row sums to 1",
    )
    yield Case("five tokens, radius 1", (rng.normal(size=(5, 3)) * 0.6, 1)).holds(
        "Returns (Y, weights). Y, of the shape of X, is what self-attention gives in which token "
        "i attends only to the tokens j with |i - j| <= radius"
    )
    yield Case("six tokens, radius 2", (rng.normal(size=(6, 2)) * 0.6, 2)).holds(
        "a whole number, 0 or more", "The weights have shape (..., n, 2 radius + 1)"
    )
    yield Case("radius 0: every token sees only itself", (rng.normal(size=(4, 3)), 0)).holds(
        "a whole number…"
    )
    yield Case("a window wider than the sequence", (rng.normal(size=(3, 4)) * 0.6, 5)).holds(
        "Returns (Y…", "The weights…"
    )
    yield Case("float32, a batch", (rng.normal(size=(2, 5, 3)).astype(np.float32) * 0.6, 2)).holds(
        "X: (..., n, d), n at least 1"
    )
    yield Case(
        "a batch of one sequence of one tiny token", (rng.normal(size=(1, 1, 3)) * 1e-9, 1)
    ).holds("X: (...…")
    X = rng.normal(size=(2, 1, 3, 4, 2)) * 0.6
    yield Case("three leading axes, one of length 1", (X, 1)).holds("X: (...…")
    yield Case("large scores", (rng.normal(size=(5, 3)) * 40, 1)).holds("Scores may be large")
    yield Case("every feature 0", (np.zeros((4, 3)), 1)).holds("Every row…")
    yield Case("neighbours at right angles", (np.eye(5)[[0, 3, 1, 1, 4]], 1))


@banded_self_attention.hidden
def _(rng):
    n, d = (int(one) for one in rng.permutation([6, 7, 8])[:2])
    radius = int(rng.integers(2, 4))
    yield Case("one token", (rng.normal(size=(1, 3)), 2)).holds("X: (...…")
    yield Case("radius 0", (rng.normal(size=(3, 2)), 0))
    yield Case("radius 1", (rng.normal(size=(n, d)) * 0.5, 1)).holds("weights[..., i…")
    yield Case("radius 2 or 3", (rng.normal(size=(n, d)) * 0.5, radius)).holds("a whole number…")
    yield Case("float32, a window wider than the sequence", (_batch(rng, 4, 3).astype("f4"), 6))
    yield Case("a batch of as many sequences as tokens", (_batch(rng, 3, d), radius))
    yield Case("neighbours at right angles", (rng.permutation(np.eye(n)) * 0.9, radius))
    yield Case("right angles, a batch", (rng.permuted(np.eye(4)[None].repeat(2, 0), axis=1), 1))
    X = rng.normal(size=(2, 3, 1, n, 3)) * 0.5
    yield Case("three leading axes, one of length 1", (X, radius))
    yield Case("large scores, a batch", (_batch(rng, n, 4) * 60, radius)).holds("Scores may…")


def _batch(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Three sequences."""
    X: np.ndarray = rng.normal(size=(3, n, d)) * 0.5
    return X


banded_self_attention.lets_through(
    "a softmax shifted by no less than 0", "the score of a token with itself is never below 0"
)
banded_self_attention.lets_through(
    "-100 for a hidden score", "a token sees itself, and that score is never below 0"
)
banded_self_attention.lets_through(
    "-10000 for a hidden score", "a token sees itself, and that score is never below 0"
)
banded_self_attention.lets_through(
    "-1e+09 for a hidden score", "a token sees itself, and that score is never below 0"
)
