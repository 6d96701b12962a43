"""The exercise `sliding_window_mask`: oneself and a few tokens before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import cost as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def window_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three tokens, a radius of 1", (3, 1))
    yield Case("six tokens, a radius of 2", (6, 2))
    yield Case("a radius of 0", (4, 0))
    yield Case("a radius as large as needed", (4, 3))
    yield Case("a radius larger than that", (3, 9))
    yield Case("one token", (1, 2))
    yield Case("no token", (0, 2))
    yield Case("twenty tokens", (20, 5))
    yield Case("one token less than all", (5, 3))


def window_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, radius = int(rng.integers(9, 16)), int(rng.integers(2, 6))
    yield Case("a window", (n, radius))
    yield Case("a narrow window", (n + 1, 1))
    yield Case("a radius of 0", (n, 0))
    yield Case("a wide window", (n, n - 2))
    yield Case("a radius larger than the sequence", (n, n + radius))
    yield Case("many tokens", (int(rng.integers(70, 90)), radius))


def window__both_sides(n, radius):
    positions = np.arange(n)
    return np.abs(positions[:, None] - positions) <= radius


def window__ahead(n, radius):
    positions = np.arange(n)
    ahead = positions - positions[:, None]
    return (ahead >= 0) & (ahead <= radius)


def window__itself_counted(n, radius):
    positions = np.arange(n)
    back = positions[:, None] - positions
    return (back >= 0) & (back < radius)


def window__itself_hidden(n, radius):
    positions = np.arange(n)
    back = positions[:, None] - positions
    return (back > 0) & (back <= radius)


def window__true_means_hidden(n, radius):
    positions = np.arange(n)
    back = positions[:, None] - positions
    return (back < 0) | (back > radius)


def window__causal_alone(n, radius):
    return np.tril(np.ones((n, n), dtype=bool))


def window__far_ones(n, radius):
    return np.tril(np.ones((n, n), dtype=bool), -radius)


def window__one_too_many(n, radius):
    positions = np.arange(n)
    back = positions[:, None] - positions
    return (back >= 0) & (back <= radius + 1)


def window__triangles(n, radius):
    return np.triu(np.tril(np.ones((n, n), dtype=bool)), -radius)


def window__row_by_row(n, radius):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - radius) : i + 1] = True
    return mask


def window__sum_of_diagonals(n, radius):
    mask = np.eye(n, dtype=bool)
    for back in range(1, min(radius, n - 1) + 1):
        mask |= np.eye(n, k=-back, dtype=bool)
    return mask


SLIDING_WINDOW_MASK = Exercise(
    name="sliding_window_mask",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.sliding_window_mask,
    cases=window_cases,
    hidden=window_hidden,
    misconceptions=(
        Misconception(
            "a window to both sides",
            window__both_sides,
            "May token 0 see token 1?",
        ),
        Misconception(
            "the window ahead",
            window__ahead,
            "Row i belongs to the token that asks. On which side of the diagonal is its past?",
        ),
        Misconception(
            "oneself counted among the tokens before",
            window__itself_counted,
            "With a radius of 0, what does a token see?",
        ),
        Misconception(
            "oneself hidden",
            window__itself_hidden,
            "What can the first token attend to?",
        ),
        Misconception(
            "True means hidden",
            window__true_means_hidden,
            "In this course, what does True in a mask mean?",
        ),
        Misconception(
            "all of the past",
            window__causal_alone,
            "May token 9 see token 0, with a radius of 2?",
        ),
        Misconception(
            "what is far in place of what is near",
            window__far_ones,
            "With a radius of 2, may token 5 see token 4?",
        ),
        Misconception(
            "one token too many",
            window__one_too_many,
            "With a radius of 1, how many True has the last row?",
        ),
    ),
    alternatives=(window__triangles, window__row_by_row, window__sum_of_diagonals),
    help=(
        "How far does j lie before i? Two conditions on that number say what is seen.",
        "`np.arange(n)[:, None] - np.arange(n)` is a table of the distances.",
        "Section “Share the keys, or see fewer”.",
    ),
    promises=(
        Promise("n: the number of tokens, 0 or more.", ("no token", "one token", "twenty tokens")),
        Promise(
            "radius: how many tokens before itself a token sees, where there are as many, 0 or "
            "more; it may be larger than n.",
            ("a radius of 0", "six tokens, a radius of 2", "a radius larger than that"),
        ),
        Promise("No token sees one after it.", ("three tokens, a radius of 1",)),
        Promise(
            "Returns a boolean array of shape (n, n): entry [i, j] is True where token i may "
            "attend to token j.",
            ("three tokens, a radius of 1", "a window"),
        ),
    ),
)
