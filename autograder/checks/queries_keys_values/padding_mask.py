"""The exercise `padding_mask`: which places of a batch are real."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one sequence, two of three places real", (np.array([2]), 3))
    yield Case("three sequences", (np.array([3, 1, 4]), 5))
    yield Case("an empty sequence, and one without padding", (np.array([0, 4]), 4))
    yield Case("as many sequences as places", (np.array([2, 3, 1]), 3))
    yield Case("one place, real in the second sequence only", (np.array([0, 1]), 1))


def hidden(rng: np.random.Generator) -> Iterator[Case]:
    n = int(rng.integers(4, 9))
    yield Case("a few sequences", (rng.integers(1, n, size=3), n))
    yield Case("an empty sequence, and one without padding", (np.array([n, 0, n - 2]), n))
    yield Case("as many sequences as places", (rng.integers(1, n, size=n), n))
    yield Case("many sequences", (rng.integers(0, 31, size=20), 30))
    yield Case("one place", (rng.permutation([0, 1, 1]), 1))


def padding_mask__one_more(lengths, n):
    return np.arange(n) <= lengths[:, None, None]


def padding_mask__one_fewer(lengths, n):
    return np.arange(n) < lengths[:, None, None] - 1


def padding_mask__no_query_axis(lengths, n):
    return np.arange(n) < lengths[:, None]


def padding_mask__hides_queries(lengths, n):
    return (np.arange(n) < lengths[:, None])[:, :, None]


def padding_mask__queries_too(lengths, n):
    real = np.arange(n) < lengths[:, None]
    return real[:, :, None] & real[:, None, :]


def padding_mask__inverted(lengths, n):
    return np.arange(n) >= lengths[:, None, None]


def padding_mask__left(lengths, n):
    return np.arange(n) >= n - lengths[:, None, None]


def padding_mask__integers(lengths, n):
    return (np.arange(n) < lengths[:, None, None]).astype(int)


def padding_mask__loop(lengths, n):
    mask = np.zeros((len(lengths), 1, n), dtype=bool)
    for one, length in enumerate(lengths):
        mask[one, 0, :length] = True
    return mask


def padding_mask__list(lengths, n):
    rows = [[[place < length for place in range(n)]] for length in lengths]
    return np.array(rows, dtype=bool)


def padding_mask__padding_removed(lengths, n):
    padding = np.arange(n)[None, :] >= np.reshape(lengths, (-1, 1))
    return np.expand_dims(~padding, 1)


PADDING_MASK = Exercise(
    name="padding_mask",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.padding_mask,
    cases=cases,
    hidden=hidden,
    misconceptions=(
        Misconception(
            "one place too many",
            padding_mask__one_more,
            "With a length of 3, which places are real: 0, 1, 2, or 0, 1, 2, 3?",
        ),
        Misconception(
            "one place too few",
            padding_mask__one_fewer,
            "With a length of 1, how many True should the row hold?",
        ),
        Misconception(
            "no axis for the queries",
            padding_mask__no_query_axis,
            "Scores have shape (batch, n_q, n). With which of their axes does the first axis of "
            "your mask line up?",
        ),
        Misconception(
            "hides the queries instead of the keys",
            padding_mask__hides_queries,
            "Scores have one row a query, one column a key. Is it a row or a column that "
            "belongs to a padded key?",
        ),
        Misconception(
            "hides the queries as well",
            padding_mask__queries_too,
            "Which shape does the docstring ask for? Does a padded query do harm when nobody "
            "reads its answer?",
        ),
        Misconception(
            "mask inverted",
            padding_mask__inverted,
            "In this course True means “may attend”. Is padding True or False in your mask?",
        ),
        Misconception(
            "padding at the front",
            padding_mask__left,
            "Which places of a short sequence are real, the first or the last?",
        ),
        Misconception(
            "integers instead of booleans",
            padding_mask__integers,
            "Which dtype does the docstring ask for? What would `~mask` make of the integers 0 "
            "and 1?",
        ),
    ),
    alternatives=(
        padding_mask__loop,
        padding_mask__list,
        padding_mask__padding_removed,
    ),
    help=(
        "Compare the places 0 to n - 1 with each length, in a shape that broadcasts.",
        "`np.arange(n)` has shape (n,). Which shape must `lengths` have, so that the comparison "
        "gives (batch, 1, n)?",
        "Section “Masks”.",
    ),
    promises=(
        Promise(
            "(batch,), whole numbers from 0 to n",
            (
                "one sequence, two of three places real",
                "an empty sequence, and one without padding",
            ),
        ),
        Promise("how many tokens of each sequence are real", ("three sequences",)),
        Promise("the real ones come first", ("three sequences",)),
        Promise(
            "the padded length, at least 1",
            ("one place, real in the second sequence only", "many sequences"),
        ),
        Promise(
            "a boolean array of shape (batch, 1, n), True at real tokens",
            ("three sequences", "a few sequences"),
        ),
        Promise(
            "so that the mask broadcasts to scores of shape (batch, n_q, n)",
            ("as many sequences as places",),
        ),
    ),
)
