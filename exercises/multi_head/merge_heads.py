"""The exercise `merge_heads`: the features of a token, side by side again."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import multi_head as solutions

merge_heads = Declaration(
    solutions.merge_heads,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Undo the two steps of splitting, in the opposite order.",
        "For each token, the numbers of all its heads must be neighbours before you may join the "
        "two axes by a reshape. Which two axes must change places first?",
        "Section “Split, attend, merge, mix”, and the picture of the merge in “Where people go "
        "wrong”.",
    ),
)


@merge_heads.right
def loop(X):
    merged = np.zeros((*X.shape[:-3], X.shape[-2], 0), dtype=X.dtype)
    for h in range(X.shape[-3]):
        merged = np.concatenate([merged, X[..., h, :, :]], axis=-1)
    return merged


@merge_heads.right
def concatenate(X):
    return np.concatenate(np.moveaxis(X, -3, 0), axis=-1)


@merge_heads.right
def one_hot(X):
    n_heads, d_head = X.shape[-3], X.shape[-1]
    places = np.eye(n_heads * d_head, dtype=X.dtype).reshape(n_heads, d_head, n_heads * d_head)
    return np.einsum("...hnd,hdm->...nm", X, places)


@merge_heads.right
def plain(X):
    tokens = np.swapaxes(X, -3, -2)
    return tokens.reshape(*tokens.shape[:-2], X.shape[-3] * X.shape[-1])


@merge_heads.wrong(
    "merged without the transpose",
    "Two heads, two tokens: [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]. Token 0 has 0, 1 in the first "
    "head. What does it have in the second? Does your first row hold these four numbers?",
)
def _(X):
    return X.reshape(*X.shape[:-3], X.shape[-2], X.shape[-3] * X.shape[-1])


merge_heads.wrong(
    "features dealt in turn",
    "Are the features of the first head neighbours in your result? Apply your function to the "
    "result of `split_heads`: do you get back what went in?",
    plain.edit("np.swapaxes(X, -3, -2)", "np.moveaxis(X, -3, -1)"),
)
merge_heads.wrong(
    "heads and features not joined",
    "How many axes does your result have, and how many does the docstring ask for?",
    plain.edit("tokens.reshape(*tokens.shape[:-2], X.shape[-3] * X.shape[-1])", "tokens"),
)


@merge_heads.wrong(
    "heads added up",
    "How wide is your result? Can the next layer still tell which head found what?",
)
def _(X):
    return X.sum(axis=-3)


@merge_heads.wrong(
    "heads averaged",
    "How wide is your result? What is lost when you average the outputs of two different heads?",
)
def _(X):
    return X.sum(axis=-3) / X.shape[-3]


@merge_heads.wrong(
    "heads stacked below each other",
    "How many rows does your result have, and how many tokens are there?",
)
def _(X):
    return X.reshape(*X.shape[:-3], X.shape[-3] * X.shape[-2], X.shape[-1])


merge_heads.wrong(
    "batch lost",
    "Two sentences go in. How many come out?",
    plain.edit("*tokens.shape[:-2]", "int(np.prod(tokens.shape[:-2]))"),
)
merge_heads.wrong(
    "batch taken for the heads",
    "Over which axis do you loop when X has a batch axis? Which axis is the head axis, counted "
    "from the end?",
    concatenate.edit("np.moveaxis(X, -3, 0)", "list(X)"),
)
merge_heads.wrong(
    "-1 in a reshape of nothing",
    "Without tokens there are 0 numbers. How should `reshape` work out how many features a token "
    "has? You know that number: write it down.",
    plain.edit("X.shape[-3] * X.shape[-1]", "-1"),
)


@merge_heads.public
def _(rng):
    yield Case("two heads, two tokens", (np.arange(8.0).reshape(2, 2, 2),)).holds(
        "for each token the features of the first head, then those of the second, and so on"
    )
    yield Case("two heads, three tokens", (rng.normal(size=(2, 3, 4)),)).holds(
        "an array of shape (..., n, n_heads * d_head)"
    )
    yield Case("three heads, two tokens", (rng.normal(size=(3, 2, 4)),)).holds("an array…")
    yield Case("a batch of two", (rng.normal(size=(2, 3, 4, 2)),)).holds(
        "(..., n_heads, n, d_head)"
    )
    X = rng.normal(size=(2, 1, 3, 2, 5, 4)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X,)).holds("(..., n_heads…")
    yield Case(
        "one head of one feature, one token, a batch of one", (rng.normal(size=(1,) * 4),)
    ).holds("n may be 0, and the other two are at least 1")
    yield Case("tiny numbers", (rng.normal(size=(2, 3, 4)) * 1e-9,)).holds("for each…")
    yield Case("no token", (np.zeros((2, 0, 3)),)).holds("n may be…")


@merge_heads.hidden
def _(rng):
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n_heads, n, d_head)),)).holds("(..., n_heads…")
    yield Case("as many heads as tokens", (rng.normal(size=(n, n, d_head)),)).holds("for each…")
    yield Case("a batch", (rng.normal(size=(5, n_heads, n, d_head)),)).holds("an array…")
    X = rng.normal(size=(2, 3, 1, n_heads, n, d_head)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X,))
    yield Case("one head, one token, a batch of one", (rng.normal(size=(1, 1, 1, d_head)),)).holds(
        "n may be…"
    )
    yield Case("no token", (np.zeros((n_heads, 0, d_head)),))
