"""The exercise `causal_mask`: what a token may see of a sequence that is being written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one token", (1,))
    yield Case("three tokens", (3,))
    yield Case("six tokens", (6,))
    yield Case("no token", (0,))
    yield Case("130 tokens", (130,))


def hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("a few tokens", (int(rng.integers(2, 6)),))
    yield Case("more tokens", (int(rng.integers(7, 40)),))
    yield Case("many tokens", (int(rng.integers(257, 300)),))


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


CAUSAL_MASK = Exercise(
    name="causal_mask",
    points=1,
    difficulty=1,
    minutes=5,
    reference=solutions.causal_mask,
    cases=cases,
    hidden=hidden,
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
    promises=(
        Promise(
            "the number of tokens, 0 or more",
            ("no token", "one token", "130 tokens", "many tokens"),
        ),
        Promise(
            "a boolean array of shape (n, n): entry [i, j] is True where token i may attend to "
            "token j",
            ("three tokens", "six tokens"),
        ),
    ),
)
