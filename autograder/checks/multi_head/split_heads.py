"""The exercise `split_heads`: where the features of a token go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...judging.exercise import Case, Exercise, Misconception


def cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two tokens, four features, two heads", (np.arange(8.0).reshape(2, 4), 2))
    yield Case("three tokens, six features, two heads", (rng.normal(size=(3, 6)), 2))
    yield Case("three heads of two features", (rng.normal(size=(5, 6)), 3))
    yield Case("one head", (rng.normal(size=(3, 4)), 1))
    yield Case("a batch of two", (rng.normal(size=(2, 4, 6)), 2))
    X = rng.normal(size=(2, 3, 2, 8)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X, 4))
    yield Case("no token", (np.zeros((0, 4)), 2))


def hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n, n_heads * d_head)), n_heads))
    yield Case("a head for each feature", (rng.normal(size=(n, n_heads)), n_heads))
    yield Case("a batch", (rng.normal(size=(5, n, n_heads * d_head)), n_heads))
    X = rng.normal(size=(2, 3, n, n_heads * d_head)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X, n_heads))
    yield Case("no token", (np.zeros((0, n_heads * d_head)), n_heads))


def split_heads__reshaped_only(X, n_heads):
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_heads__interleaved(X, n_heads):
    heads = X.reshape(*X.shape[:-1], X.shape[-1] // n_heads, n_heads)
    return np.moveaxis(heads, -1, -3)


def split_heads__heads_after_tokens(X, n_heads):
    return X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads)


def split_heads__features_before_tokens(X, n_heads):
    columns = np.swapaxes(X, -1, -2)
    return columns.reshape(*X.shape[:-2], n_heads, X.shape[-1] // n_heads, X.shape[-2])


def split_heads__heads_before_batch(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1))


def split_heads__tokens_shared_out(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-2), axis=-3)


def split_heads__number_for_width(X, n_heads):
    heads = X.reshape(*X.shape[:-1], X.shape[-1] // n_heads, n_heads)
    return np.swapaxes(heads, -3, -2)


def split_heads__everything_to_all(X, n_heads):
    return np.stack([X] * n_heads, axis=-3)


def split_heads__slices(X, n_heads):
    d_head = X.shape[-1] // n_heads
    heads = np.empty((*X.shape[:-2], n_heads, X.shape[-2], d_head), dtype=X.dtype)
    for h in range(n_heads):
        heads[..., h, :, :] = X[..., h * d_head : (h + 1) * d_head]
    return heads


def split_heads__stack(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1), axis=-3)


def split_heads__columns_first(X, n_heads):
    features = np.moveaxis(X, -1, 0)
    heads = features.reshape(n_heads, X.shape[-1] // n_heads, *X.shape[:-1])
    return np.moveaxis(heads, (0, 1), (-3, -1))


SPLIT_HEADS = Exercise(
    name="split_heads",
    points=2,
    difficulty=2,
    minutes=12,
    reference=solutions.split_heads,
    cases=cases,
    hidden=hidden,
    misconceptions=(
        Misconception(
            "reshaped without moving the heads",
            split_heads__reshaped_only,
            "Take X = [[0, 1, 2, 3], [4, 5, 6, 7]] and two heads. The first head should see the "
            "features 0 and 1 of both tokens. Which four numbers does yours see?",
        ),
        Misconception(
            "features dealt out in turn",
            split_heads__interleaved,
            "Which features of a token does your first head get: consecutive ones, or every "
            "second one? Which columns of W_q would belong to it?",
        ),
        Misconception(
            "heads after the tokens",
            split_heads__heads_after_tokens,
            "The next step multiplies the last two axes of queries and keys. Which two axes "
            "should these be, for one head?",
        ),
        Misconception(
            "features before tokens",
            split_heads__features_before_tokens,
            "Within one head, is a token a row or a column of your result?",
        ),
        Misconception(
            "heads before the batch",
            split_heads__heads_before_batch,
            "The order of the axes is batch, head, token, feature. Where does your head axis "
            "stand when X has a batch axis?",
        ),
        Misconception(
            "tokens shared out instead of features",
            split_heads__tokens_shared_out,
            "Should a head see all tokens and some features, or some tokens and all features?",
        ),
        Misconception(
            "number of heads taken for their width",
            split_heads__number_for_width,
            "With six features and two heads, how many features has each head? And how many has "
            "yours?",
        ),
        Misconception(
            "every head gets everything",
            split_heads__everything_to_all,
            "How wide is one of your heads? Put all of them side by side: is that as wide as X?",
        ),
    ),
    alternatives=(split_heads__slices, split_heads__stack, split_heads__columns_first),
    help=(
        "Cut the feature axis into two axes, heads and features of a head, and then move the head "
        "axis to its place.",
        "A reshape never changes the order in which the numbers are stored; it only sets new "
        "borders. Which axis can you cut in two by setting borders alone? `np.swapaxes` does the "
        "rest. The last axes count from the end: -3, -2, -1.",
        "Section “Split, attend, merge, mix”.",
    ),
)
