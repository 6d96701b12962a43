"""The exercises `causal_mask` and `padding_mask`: what may be seen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...exercise import Case, Exercise, Misconception


def causal_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one token", (1,))
    yield Case("three tokens", (3,))
    yield Case("six tokens", (6,))
    yield Case("no token", (0,))


def causal_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("a few tokens", (int(rng.integers(2, 6)),))
    yield Case("more tokens", (int(rng.integers(7, 40)),))
    yield Case("many tokens", (int(rng.integers(41, 200)),))


def padding_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one sequence, two of three places real", (np.array([2]), 3))
    yield Case("three sequences", (np.array([3, 1, 4]), 5))
    yield Case("an empty sequence, and one without padding", (np.array([0, 4]), 4))
    yield Case("as many sequences as places", (np.array([2, 3, 1]), 3))


def padding_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n = int(rng.integers(4, 9))
    yield Case("a few sequences", (rng.integers(1, n, size=3), n))
    yield Case("an empty sequence, and one without padding", (np.array([n, 0, n - 2]), n))
    yield Case("as many sequences as places", (rng.integers(1, n, size=n), n))
    yield Case("many sequences", (rng.integers(0, 31, size=20), 30))


def causal_mask__strict(n):
    return np.tril(np.ones((n, n), dtype=bool), k=-1)


def causal_mask__upper(n):
    return np.triu(np.ones((n, n), dtype=bool))


def causal_mask__inverted(n):
    return np.triu(np.ones((n, n), dtype=bool), k=1)


def causal_mask__one_ahead(n):
    return np.tril(np.ones((n, n), dtype=bool), k=1)


def causal_mask__integers(n):
    return np.tril(np.ones((n, n), dtype=int))


def causal_mask__floats(n):
    return np.tril(np.ones((n, n)))


def causal_mask__additive(n):
    return np.where(np.tril(np.ones((n, n), dtype=bool)), 0.0, -np.inf)


def causal_mask__diagonal(n):
    return np.eye(n, dtype=bool)


def causal_mask__loop(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def causal_mask__compared(n):
    places = np.arange(n)
    return places[None, :] <= places[:, None]


def causal_mask__future_removed(n):
    return ~np.triu(np.ones((n, n), dtype=bool), k=1)


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


CAUSAL_MASK = Exercise(
    name="causal_mask",
    points=1,
    difficulty=1,
    minutes=5,
    reference=solutions.causal_mask,
    cases=causal_cases,
    hidden=causal_hidden,
    misconceptions=(
        Misconception(
            "a token may not see itself",
            causal_mask__strict,
            "What may the first token attend to in your mask?",
        ),
        Misconception(
            "sees the future instead of the past",
            causal_mask__upper,
            "Row i belongs to the token that asks. In row 0, which columns are in the future?",
        ),
        Misconception(
            "mask inverted",
            causal_mask__inverted,
            "In this course True means “may attend”. Is that what True means in your mask?",
        ),
        Misconception(
            "one token of the future leaks",
            causal_mask__one_ahead,
            "Which is the last token that token 0 may see in your mask?",
        ),
        Misconception(
            "integers instead of booleans",
            causal_mask__integers,
            "What is `~1`, and what is `~True` in a NumPy array? Which dtype does the docstring "
            "ask for?",
        ),
        Misconception(
            "floats instead of booleans",
            causal_mask__floats,
            "Which dtype does the docstring ask for? A mask answers a question by yes or no.",
        ),
        Misconception(
            "a mask to be added",
            causal_mask__additive,
            "Some libraries add 0 and minus infinity to the scores. What does True or False say "
            "instead, and which dtype does the docstring ask for?",
        ),
        Misconception(
            "sees itself alone",
            causal_mask__diagonal,
            "What may the third token attend to beside itself?",
        ),
    ),
    alternatives=(
        causal_mask__loop,
        causal_mask__compared,
        causal_mask__future_removed,
    ),
    help=(
        "A table with a row for each token that asks and a column for each token that may be seen.",
        "Write down the four rows for n = 4 by hand. Token i may see token j when j is at most i. "
        "`np.tril` or a comparison of two `np.arange` does it.",
        "Section “Masks”.",
    ),
)


PADDING_MASK = Exercise(
    name="padding_mask",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.padding_mask,
    cases=padding_cases,
    hidden=padding_hidden,
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
)
