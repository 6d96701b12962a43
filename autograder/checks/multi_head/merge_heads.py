"""The exercise `merge_heads`: the features of a token, side by side again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two heads, two tokens", (np.arange(8.0).reshape(2, 2, 2),))
    yield Case("two heads, three tokens", (rng.normal(size=(2, 3, 4)),))
    yield Case("three heads, two tokens", (rng.normal(size=(3, 2, 4)),))
    yield Case("a batch of two", (rng.normal(size=(2, 3, 4, 2)),))
    X = rng.normal(size=(2, 1, 3, 2, 5, 4)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X,))
    yield Case("one head of one feature, one token, a batch of one", (rng.normal(size=(1,) * 4),))
    yield Case("tiny numbers", (rng.normal(size=(2, 3, 4)) * 1e-9,))
    yield Case("no token", (np.zeros((2, 0, 3)),))


def hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one sequence", (rng.normal(size=(n_heads, n, d_head)),))
    yield Case("as many heads as tokens", (rng.normal(size=(n, n, d_head)),))
    yield Case("a batch", (rng.normal(size=(5, n_heads, n, d_head)),))
    X = rng.normal(size=(2, 3, 1, n_heads, n, d_head)).astype(np.float32)
    yield Case("float32, three leading batch axes, one of length 1", (X,))
    yield Case("one head, one token, a batch of one", (rng.normal(size=(1, 1, 1, d_head)),))
    yield Case("no token", (np.zeros((n_heads, 0, d_head)),))


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


def merge_heads__minus_one(X):
    tokens = np.swapaxes(X, -3, -2)
    return tokens.reshape(*tokens.shape[:-2], -1)


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


MERGE_HEADS = Exercise(
    name="merge_heads",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.merge_heads,
    cases=cases,
    hidden=hidden,
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
        Misconception(
            "-1 in a reshape of nothing",
            merge_heads__minus_one,
            "With no token there are 0 numbers. From what should `reshape` work out how many "
            "features a token has? You know that number: write it down.",
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
    promises=(
        Promise(
            "(..., n_heads, n, d_head)",
            (
                "one sequence",
                "a batch of two",
                "float32, three leading batch axes, one of length 1",
            ),
        ),
        Promise(
            "n may be 0, and the other two are at least 1",
            (
                "no token",
                "one head of one feature, one token, a batch of one",
                "one head, one token, a batch of one",
            ),
        ),
        Promise(
            "an array of shape (..., n, n_heads * d_head)",
            ("two heads, three tokens", "three heads, two tokens", "a batch"),
        ),
        Promise(
            "for each token the features of the first head, then those of the second, and so on",
            ("two heads, two tokens", "as many heads as tokens", "tiny numbers"),
        ),
    ),
)
