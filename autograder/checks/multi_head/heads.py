"""The exercises `split_heads` and `merge_heads`: where the features of a token go, and back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...exercise import Case, Exercise, Misconception


def split_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two tokens, four features, two heads", (np.arange(8.0).reshape(2, 4), 2))
    yield Case("three tokens, six features, two heads", (rng.normal(size=(3, 6)), 2))
    yield Case("three heads of two features", (rng.normal(size=(5, 6)), 3))
    yield Case("one head", (rng.normal(size=(3, 4)), 1))
    yield Case("a batch of two", (rng.normal(size=(2, 4, 6)), 2))
    X = rng.normal(size=(2, 3, 2, 8)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X, 4))
    yield Case("no token", (np.zeros((0, 4)), 2))


def split_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n, n_heads * d_head)), n_heads))
    yield Case("a head for each feature", (rng.normal(size=(n, n_heads)), n_heads))
    yield Case("a batch", (rng.normal(size=(5, n, n_heads * d_head)), n_heads))
    X = rng.normal(size=(2, 3, n, n_heads * d_head)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X, n_heads))
    yield Case("no token", (np.zeros((0, n_heads * d_head)), n_heads))


def merge_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two heads, two tokens", (np.arange(8.0).reshape(2, 2, 2),))
    yield Case("two heads, three tokens", (rng.normal(size=(2, 3, 4)),))
    yield Case("three heads, two tokens", (rng.normal(size=(3, 2, 4)),))
    yield Case("a batch of two", (rng.normal(size=(2, 3, 4, 2)),))
    X = rng.normal(size=(2, 3, 2, 5, 4)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X,))
    yield Case("no token", (np.zeros((2, 0, 3)),))


def merge_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n_heads, n, d_head)),))
    yield Case("as many heads as tokens", (rng.normal(size=(n, n, d_head)),))
    yield Case("a batch", (rng.normal(size=(5, n_heads, n, d_head)),))
    X = rng.normal(size=(2, 3, n_heads, n, d_head)).astype(np.float32)
    yield Case("float32, two leading batch axes", (X,))
    yield Case("no token", (np.zeros((n_heads, 0, d_head)),))


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


def merge_heads__reshaped_only(X):
    return X.reshape(*X.shape[:-3], X.shape[-2], X.shape[-3] * X.shape[-1])


def merge_heads__interleaved(X):
    tokens = np.moveaxis(X, -3, -1)
    return tokens.reshape(*tokens.shape[:-2], X.shape[-3] * X.shape[-1])


def merge_heads__not_joined(X):
    return np.swapaxes(X, -3, -2)


def merge_heads__added(X):
    return X.sum(axis=-3)


def merge_heads__averaged(X):
    return X.sum(axis=-3) / X.shape[-3]


def merge_heads__below_each_other(X):
    return X.reshape(*X.shape[:-3], X.shape[-3] * X.shape[-2], X.shape[-1])


def merge_heads__batch_lost(X):
    tokens = np.swapaxes(X, -3, -2)
    n = int(np.prod(tokens.shape[:-2]))
    return tokens.reshape(n, X.shape[-3] * X.shape[-1])


def merge_heads__first_axis(X):
    return np.concatenate(list(X), axis=-1)


def merge_heads__loop(X):
    merged = np.zeros((*X.shape[:-3], X.shape[-2], 0), dtype=X.dtype)
    for h in range(X.shape[-3]):
        merged = np.concatenate([merged, X[..., h, :, :]], axis=-1)
    return merged


def merge_heads__concatenate(X):
    return np.concatenate(np.moveaxis(X, -3, 0), axis=-1)


def merge_heads__one_hot(X):
    n_heads, d_head = X.shape[-3], X.shape[-1]
    places = np.eye(n_heads * d_head, dtype=X.dtype).reshape(n_heads, d_head, n_heads * d_head)
    return np.einsum("...hnd,hdm->...nm", X, places)


SPLIT_HEADS = Exercise(
    name="split_heads",
    points=2,
    difficulty=2,
    minutes=12,
    reference=solutions.split_heads,
    cases=split_cases,
    hidden=split_hidden,
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

MERGE_HEADS = Exercise(
    name="merge_heads",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.merge_heads,
    cases=merge_cases,
    hidden=merge_hidden,
    misconceptions=(
        Misconception(
            "merged without the transpose",
            merge_heads__reshaped_only,
            "Two heads, two tokens: [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]. Token 0 is 0, 1 in the "
            "first head. What is it in the second? Does your first row hold these four numbers?",
        ),
        Misconception(
            "features dealt in turn",
            merge_heads__interleaved,
            "Are the features of the first head neighbours in your result? Apply your function to "
            "the result of `split_heads`: do you get back what went in?",
        ),
        Misconception(
            "heads and features not joined",
            merge_heads__not_joined,
            "How many axes has your result, and how many has the one that the docstring asks for?",
        ),
        Misconception(
            "heads added up",
            merge_heads__added,
            "How wide is your result? Can the next layer still tell what came from which head?",
        ),
        Misconception(
            "heads averaged",
            merge_heads__averaged,
            "How wide is your result? What is lost in an average of two different answers?",
        ),
        Misconception(
            "heads below each other",
            merge_heads__below_each_other,
            "How many rows has your result, and how many tokens are there?",
        ),
        Misconception(
            "batch lost",
            merge_heads__batch_lost,
            "Two sentences go in. How many come out?",
        ),
        Misconception(
            "batch taken for the heads",
            merge_heads__first_axis,
            "Over which axis do you walk when X has a batch axis? Where does the head axis stand, "
            "counted from the end?",
        ),
    ),
    alternatives=(merge_heads__loop, merge_heads__concatenate, merge_heads__one_hot),
    help=(
        "Undo the two steps of splitting, in the opposite order.",
        "For each token, the numbers of all its heads must be neighbours before you may join the "
        "two axes by a reshape. Which two axes must change places first?",
        "Section “Split, attend, merge, mix”, and the picture of the merge in “Where people go "
        "wrong”.",
    ),
)
