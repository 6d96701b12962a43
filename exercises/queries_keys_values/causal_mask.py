"""The exercise `causal_mask`: what a token may see of a sequence that is being written."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import queries_keys_values as solutions

causal_mask = Declaration(
    solutions.causal_mask,
    points=1,
    difficulty=1,
    minutes=5,
    help=(
        "Make a table with a row for each token that asks and a column for each token that it may "
        "see.",
        "Write down the four rows for n = 4 by hand. Token i may see token j when j is at most i. "
        "`np.tril` or a comparison of two `np.arange` does it.",
        "Section “Masks”.",
    ),
)


@causal_mask.right
def loop(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


@causal_mask.right
def compared(n):
    places = np.arange(n)
    return places[None, :] <= places[:, None]


@causal_mask.right
def future_removed(n):
    return ~np.triu(np.ones((n, n), dtype=bool), k=1)


causal_mask.wrong(
    "a token may not see itself",
    "What may the first token attend to in your mask?",
    compared.edit("<=", "<"),
)
causal_mask.wrong(
    "sees the future instead of the past",
    "Row i belongs to the token that asks. In row 0, which columns are in the future?",
    compared.edit("<=", ">="),
)
causal_mask.wrong(
    "mask inverted",
    "In this course True means “may attend”. What does True mean in your mask?",
    compared.edit("<=", ">"),
)
causal_mask.wrong(
    "one token of the future leaks",
    "Which is the last token that token 0 may see in your mask?",
    compared.edit("places[:, None]", "places[:, None] + 1"),
)
causal_mask.wrong(
    "integers instead of booleans",
    "What is `~1`, and what is `~True` in a NumPy array? Which dtype does the docstring ask for?",
    compared.edit(
        "places[None, :] <= places[:, None]", "(places[None, :] <= places[:, None]).astype(int)"
    ),
)
causal_mask.wrong(
    "floats instead of booleans",
    "Which dtype does the docstring ask for? A mask answers a question with yes or no.",
    compared.edit(
        "places[None, :] <= places[:, None]", "(places[None, :] <= places[:, None]).astype(float)"
    ),
)
causal_mask.wrong(
    "a mask to be added",
    "Some libraries add 0 and minus infinity to the scores. What do True and False say instead, "
    "and which dtype does the docstring ask for?",
    compared.edit(
        "places[None, :] <= places[:, None]",
        "np.where(places[None, :] <= places[:, None], 0.0, -np.inf)",
    ),
)
causal_mask.wrong(
    "sees only itself",
    "What may the third token attend to besides itself?",
    compared.edit("<=", "=="),
)


@causal_mask.public
def _(rng):
    yield Case("one token", (1,)).holds("the number of tokens, 0 or more")
    yield Case("three tokens", (3,)).holds(
        "a boolean array of shape (n, n): entry [i, j] is True where token i may attend to token j"
    )
    yield Case("six tokens", (6,)).holds("a boolean…")
    yield Case("no token", (0,)).holds("the number…")
    yield Case("130 tokens", (130,)).holds("the number…")


@causal_mask.hidden
def _(rng):
    yield Case("a few tokens", (int(rng.integers(2, 6)),))
    yield Case("more tokens", (int(rng.integers(7, 40)),))
    yield Case("many tokens", (int(rng.integers(257, 300)),)).holds("the number…")


causal_mask.lets_through("one buffer for all results", "results of one shape are all equal")
