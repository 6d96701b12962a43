"""The exercise `sliding_window_mask`: oneself and a few tokens before."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import cost as solutions

sliding_window_mask = Declaration(
    solutions.sliding_window_mask,
    points=2,
    difficulty=1,
    minutes=10,
    help=(
        "How far is j before i? Two conditions on that number say whether i sees j.",
        "`np.arange(n)[:, None] - np.arange(n)` is a table of the distances.",
        "Section “Share the keys, or see fewer”.",
    ),
)


@sliding_window_mask.right
def triangles(n, radius):
    return np.triu(np.tril(np.ones((n, n), dtype=bool)), -radius)


@sliding_window_mask.right
def row_by_row(n, radius):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - radius) : i + 1] = True
    return mask


@sliding_window_mask.right
def sum_of_diagonals(n, radius):
    mask = np.eye(n, dtype=bool)
    for back in range(1, min(radius, n - 1) + 1):
        mask |= np.eye(n, k=-back, dtype=bool)
    return mask


@sliding_window_mask.right
def plain(n, radius):
    positions = np.arange(n)
    back = positions[:, None] - positions
    return (back >= 0) & (back <= radius)


sliding_window_mask.wrong(
    "a window to both sides",
    "May token 0 see token 1?",
    plain.edit("(back >= 0) & (back <= radius)", "np.abs(back) <= radius"),
)
sliding_window_mask.wrong(
    "the window ahead",
    "Row i belongs to the token that attends. On which side of the diagonal is its past?",
    plain.edit("positions[:, None] - positions", "positions - positions[:, None]"),
)
sliding_window_mask.wrong(
    "the token counted among those before it",
    "With a radius of 0, what does a token see?",
    plain.edit("back <= radius", "back < radius"),
)
sliding_window_mask.wrong(
    "the token itself hidden",
    "What can the first token attend to?",
    plain.edit("back >= 0", "back > 0"),
)
sliding_window_mask.wrong(
    "True means hidden",
    "In this course, what does True in a mask mean?",
    plain.edit("(back >= 0) & (back <= radius)", "(back < 0) | (back > radius)"),
)
sliding_window_mask.wrong(
    "all of the past",
    "May token 9 see token 0, with a radius of 2?",
    plain.edit("(back >= 0) & (back <= radius)", "back >= 0"),
)
sliding_window_mask.wrong(
    "far tokens in place of near ones",
    "With a radius of 2, may token 5 see token 4?",
    plain.edit("(back >= 0) & (back <= radius)", "back >= radius"),
)
sliding_window_mask.wrong(
    "one token too many",
    "With a radius of 1, how many True are in the last row?",
    plain.edit("back <= radius", "back <= radius + 1"),
)


@sliding_window_mask.public
def _(rng):
    yield Case("three tokens, a radius of 1", (3, 1)).holds(
        "No token sees one after it.",
        "Returns a boolean array of shape (n, n): entry [i, j] is True where token i may attend "
        "to token j.",
    )
    yield Case("six tokens, a radius of 2", (6, 2)).holds(
        "radius: how many tokens before itself a token sees, where there are as many, 0 or more; "
        "it may be larger than n."
    )
    yield Case("a radius of 0", (4, 0)).holds("radius: how…")
    yield Case("a radius of all tokens before the last", (4, 3))
    yield Case("a radius of more tokens than there are", (3, 9)).holds("radius: how…")
    yield Case("one token", (1, 2)).holds("n: the number of tokens, 0 or more.")
    yield Case("no token", (0, 2)).holds("n: the number…")
    yield Case("twenty tokens", (20, 5)).holds("n: the number…")
    yield Case("one token less than all", (5, 3))


@sliding_window_mask.hidden
def _(rng):
    n, radius = int(rng.integers(9, 16)), int(rng.integers(2, 6))
    yield Case("a window", (n, radius)).holds("Returns a…")
    yield Case("a narrow window", (n + 1, 1))
    yield Case("a radius of 0", (n, 0))
    yield Case("a wide window", (n, n - 2))
    yield Case("a radius larger than the sequence", (n, n + radius))
    yield Case("many tokens", (int(rng.integers(70, 90)), radius))
