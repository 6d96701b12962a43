"""The exercise `dot_product_scores`: the table of dot products. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import self_attention as solutions

dot_product_scores = Declaration(
    solutions.dot_product_scores,
    points=2,
    difficulty=1,
    minutes=10,
    kind=Kind.DEBUG,
    help=(
        "Try the function on a batch of two sequences: what shape should come back, and what "
        "happens? And on a batch in which all axes have the same length?",
        "`X.T` reverses all axes. Which two of them should change places?",
        "Section “All words at once”.",
    ),
)


@dot_product_scores.right
def by_einsum(X):
    return np.einsum("...id,...jd->...ij", X, X)


@dot_product_scores.right
def by_loops(X):
    n = X.shape[-2]
    scores = np.zeros((*X.shape[:-1], n), dtype=X.dtype)
    for i in range(n):
        for j in range(n):
            scores[..., i, j] = np.sum(X[..., i, :] * X[..., j, :], axis=-1)
    return scores


@dot_product_scores.right
def by_broadcasting(X):
    return (X[..., :, None, :] * X[..., None, :, :]).sum(axis=-1)


@dot_product_scores.right
def plain(X):
    return X @ np.swapaxes(X, -1, -2)


dot_product_scores.wrong(
    "features compared with features",
    "You have 3 tokens of 2 features. How many rows should the table of scores have: one for each "
    "token, or one for each feature?",
    plain.edit("X @ np.swapaxes(X, -1, -2)", "np.swapaxes(X, -1, -2) @ X"),
)


@dot_product_scores.wrong(
    "all axes reversed on a batch",
    "Your answer is right for one sequence. What is `X.T.shape` when X has shape (2, 4, 3)? Which "
    "two axes did you mean to swap?",
    released=True,
)
def _(X):
    return X @ X.T


dot_product_scores.wrong(
    "np.dot on a batch",
    "Your answer is right for one sequence. Should the tokens of one sentence of the batch be "
    "compared with those of another? What does `np.dot` do with two stacks of matrices?",
    plain.edit("X @ np.swapaxes(X, -1, -2)", "np.dot(X, np.swapaxes(X, -1, -2))"),
)
dot_product_scores.wrong(
    "product without the sum",
    "A dot product multiplies feature by feature. What does it do next? How many numbers should "
    "one pair of tokens give?",
    plain.edit("X @ np.swapaxes(X, -1, -2)", "X * X"),
)
dot_product_scores.wrong(
    "cosine instead of dot product",
    "What score does a token give itself in your answer? Compare it with its squared length. Does "
    "the dot product know how long a vector is?",
    plain.edit("return X", "X = X / np.linalg.norm(X, axis=-1, keepdims=True)\nreturn X"),
)
dot_product_scores.wrong(
    "divided by sqrt(d) already",
    "Take x = (2, 1). What is x . x by hand, and what do you get? Which chapter introduces the "
    "scale?",
    plain.edit("np.swapaxes(X, -1, -2)", "np.swapaxes(X, -1, -2) / np.sqrt(X.shape[-1])"),
)
dot_product_scores.wrong(
    "the token itself left out",
    "What is on the diagonal of your scores? Is a token one of those that it may look at?",
    plain.edit(
        "np.swapaxes(X, -1, -2)",
        "np.swapaxes(X, -1, -2) * (1 - np.eye(X.shape[-2], dtype=X.dtype))",
    ),
)
dot_product_scores.wrong(
    "distance instead of dot product",
    "Is your score larger or smaller when two tokens are more alike? Which of the two should it "
    "be?",
    by_broadcasting.edit(
        "(X[..., :, None, :] * X[..., None, :, :]).sum(axis=-1)",
        "np.linalg.norm(X[..., :, None, :] - X[..., None, :, :], axis=-1)",
    ),
)


@dot_product_scores.public
def _(rng):
    yield Case(
        "three tokens of two features", (np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]),)
    ).holds("the dot product of token i and token j of the same sequence")
    yield Case("four tokens of three features, some negative", (rng.normal(size=(4, 3)),))
    yield Case("float32", (rng.normal(size=(3, 5)).astype(np.float32),))
    yield Case("a batch of two sequences", (rng.normal(size=(2, 4, 3)),)).holds(
        "tokens, one a row, (..., n, d)", "the dot product…"
    )
    yield Case("one token of one feature", (rng.normal(size=(1, 1)),)).holds("n and d at least 1")
    X = rng.normal(size=(2, 1, 3, 4, 2))
    yield Case("three leading batch axes, one of length 1", (X,)).holds("tokens, one…")
    yield Case("tiny numbers", (rng.normal(size=(3, 2)) * 1e-9,)).holds("the dot product…")


@dot_product_scores.hidden
def _(rng):
    yield Case("a batch of one sequence of one token", (rng.normal(size=(1, 1, 3)),)).holds(
        "n and d at…"
    )
    yield Case("more tokens than features", (rng.normal(size=(7, 2)),)).holds(
        "scores of shape (..., n, n)"
    )
    yield Case("more features than tokens, float32", (rng.normal(size=(3, 8)).astype(np.float32),))
    yield Case("a batch of as many sequences as tokens", (rng.normal(size=(4, 4, 4)),)).holds(
        "tokens, one…"
    )
    X = rng.normal(size=(2, 3, 1, 5, 4))
    yield Case("three leading batch axes, one of length 1", (X,))
    yield Case("tiny numbers", (rng.normal(size=(4, 3)) * 1e-9,))
