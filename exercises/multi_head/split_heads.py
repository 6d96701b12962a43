"""The exercise `split_heads`: where the features of a token go."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import multi_head as solutions

split_heads = Declaration(
    solutions.split_heads,
    points=2,
    difficulty=1,
    minutes=12,
    help=(
        "Cut the feature axis into two axes, heads and features of a head, and then move the head "
        "axis to its place.",
        "A reshape never changes the order in which the numbers are stored; it only sets new "
        "borders. Which axis can you cut in two by setting borders alone? `np.swapaxes` does the "
        "rest. Count the last axes from the end: -3, -2, -1.",
        "Section “Split, attend, merge, mix”.",
    ),
)


@split_heads.right
def slices(X, n_heads):
    d_head, left_over = divmod(X.shape[-1], n_heads)
    if left_over:
        raise ValueError(f"d_model={X.shape[-1]} is not a multiple of n_heads={n_heads}")
    heads = np.empty((*X.shape[:-2], n_heads, X.shape[-2], d_head), dtype=X.dtype)
    for h in range(n_heads):
        heads[..., h, :, :] = X[..., h * d_head : (h + 1) * d_head]
    return heads


@split_heads.right
def stack(X, n_heads):
    try:
        return np.stack(np.split(X, n_heads, axis=-1), axis=-3)
    except ValueError as error:
        raise ValueError(n_heads, X.shape[-1]) from error


@split_heads.right
def columns_first(X, n_heads):
    if X.shape[-1] / n_heads != X.shape[-1] // n_heads:
        raise ValueError("Cannot split %d features into %d heads." % (X.shape[-1], n_heads))  # noqa: UP031
    features = np.moveaxis(X, -1, 0)
    heads = features.reshape(n_heads, X.shape[-1] // n_heads, *X.shape[:-1])
    return np.moveaxis(heads, (0, 1), (-3, -1))


@split_heads.right
def plain(X, n_heads):
    if X.shape[-1] % n_heads:
        raise ValueError(f"{X.shape[-1]} features, {n_heads} heads")
    heads = X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads)
    return np.swapaxes(heads, -3, -2)


unchecked = plain.edit(
    'if X.shape[-1] % n_heads:\n    raise ValueError(f"{X.shape[-1]} features, {n_heads} heads")',
    "",
)


@split_heads.wrong(
    "reshaped without moving the heads",
    "Take X = [[0, 1, 2, 3], [4, 5, 6, 7]] and two heads. The first head should see the features "
    "0 and 1 of both tokens. Which four numbers does yours see?",
)
def _(X, n_heads):
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


interleaved = split_heads.wrong(
    "features dealt out in turn",
    "Which features of a token does your first head get: consecutive ones, or every second one? "
    "Which columns of W_q would belong to it?",
    unchecked.edit("n_heads, X.shape[-1] // n_heads", "X.shape[-1] // n_heads, n_heads").edit(
        "np.swapaxes(heads, -3, -2)", "np.moveaxis(heads, -1, -3)"
    ),
)
split_heads.wrong(
    "heads after the tokens",
    "The next step is a matrix product over the last two axes of queries and keys. For one head, "
    "which two axes should these be?",
    unchecked.edit("np.swapaxes(heads, -3, -2)", "heads"),
)


@split_heads.wrong(
    "features before tokens", "Within one head, is a token a row or a column of your result?"
)
def _(X, n_heads):
    columns = np.swapaxes(X, -1, -2)
    return columns.reshape(*X.shape[:-2], n_heads, X.shape[-1] // n_heads, X.shape[-2])


@split_heads.wrong(
    "heads before the batch",
    "The order of the axes is batch, head, token, feature. Where is your head axis when X has a "
    "batch axis?",
)
def _(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1))


@split_heads.wrong(
    "tokens shared out instead of features",
    "Should a head see all tokens and some features, or some tokens and all features?",
)
def tokens_shared_out(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-2), axis=-3)


split_heads.wrong(
    "number of heads taken for their width",
    "With six features and two heads, how many features should each head have? And how many does "
    "each of yours have?",
    interleaved.edit("np.moveaxis(heads, -1, -3)", "np.swapaxes(heads, -3, -2)"),
)
split_heads.wrong(
    "every head gets everything",
    "How wide is one of your heads? Put all of them side by side: is the result as wide as X?",
    tokens_shared_out.edit("np.split(X, n_heads, axis=-2)", "[X] * n_heads"),
)
split_heads.wrong(
    "the two numbers missing from the message",
    "Try ten features and four heads, and read your error message as somebody who has not seen "
    "your code would read it. Which two numbers tell that person what to change?",
    unchecked,
)


@split_heads.wrong(
    "an assertion instead of a ValueError",
    "Which exception does an `assert` raise, and which one does the docstring promise? What "
    "happens to an assertion under `python -O`?",
)
def _(X, n_heads):
    assert X.shape[-1] % n_heads == 0, f"{X.shape[-1]} features, {n_heads} heads"
    return np.swapaxes(X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads), -3, -2)


@split_heads.wrong(
    "features left over are dropped",
    "Try ten features and four heads. Which features does none of your heads get, and how does "
    "the caller learn of it?",
)
def _(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return np.stack([X[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)], axis=-3)


split_heads.wrong(
    "-1 in a reshape of nothing",
    "Without tokens there are 0 numbers. How should `reshape` work out how many features a head "
    "has? You know that number: write it down.",
    plain.edit("X.shape[-1] // n_heads", "-1"),
)


@split_heads.public
def _(rng):
    yield Case("two tokens, four features, two heads", (np.arange(8.0).reshape(2, 4), 2)).holds(
        "the first head gets the first d_head features of each token, the second the next "
        "d_head, and so on"
    )
    yield Case("three tokens, six features, two heads", (rng.normal(size=(3, 6)), 2)).holds(
        "an array of shape (..., n_heads, n, d_head) with d_head = d_model / n_heads"
    )
    yield Case("three heads of two features", (rng.normal(size=(5, 6)), 3)).holds("an array…")
    yield Case("one head", (rng.normal(size=(3, 4)), 1)).holds("n_heads: at least 1")
    yield Case("a batch of two", (rng.normal(size=(2, 4, 6)), 2)).holds("(..., n, d_model)")
    X = rng.normal(size=(2, 1, 3, 2, 8)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X, 4)).holds("(..., n…")
    yield Case("one token of one feature in a batch of one", (rng.normal(size=(1, 1, 1)), 1)).holds(
        "n may be 0, and d_model is at least 1"
    )
    yield Case("tiny numbers", (rng.normal(size=(3, 6)) * 1e-9, 2)).holds("the first…")
    yield Case("no token", (np.zeros((0, 4)), 2)).holds("n may be…")
    wide = rng.normal(size=(3, 10))
    yield Case(
        "ten features, four heads", (wide, 4), raises=Raises("ValueError", ("10", "4"))
    ).holds(
        "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
        "n_heads"
    )
    asked = Raises("ValueError", ("1", "2"))
    yield Case("one feature, two heads", (rng.normal(size=(3, 1)), 2), raises=asked)


@split_heads.hidden
def _(rng):
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n, n_heads * d_head)), n_heads)).holds("(..., n…")
    yield Case("a head for each feature", (rng.normal(size=(n, n_heads)), n_heads)).holds(
        "n_heads: at…"
    )
    yield Case("a batch", (rng.normal(size=(5, n, n_heads * d_head)), n_heads)).holds("an array…")
    X = rng.normal(size=(2, 3, 1, n, n_heads * d_head)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X, n_heads))
    yield Case("one token in a batch of one", (rng.normal(size=(1, 1, d_head)), 1))
    yield Case("no token", (np.zeros((0, n_heads * d_head)), n_heads))
    d_model = n_heads * d_head + 1
    asked = Raises("ValueError", (str(d_model), str(n_heads)))
    wide = rng.normal(size=(n, d_model))
    yield Case(
        "one feature too many to be shared out equally", (wide, n_heads), raises=asked
    ).holds("Raises ValueError…")
