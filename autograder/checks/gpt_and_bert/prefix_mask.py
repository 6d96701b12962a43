"""The exercise `prefix_mask`: read the beginning as BERT does, and the rest as GPT does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.variants import language_models as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def prefix_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one text of four tokens, two of them its beginning", (np.array([2]), 4))
    yield Case("three texts, in the middle", (np.array([1, 3, 2]), 5))
    yield Case("as many texts as tokens", (np.array([3, 1, 2, 2]), 4))
    yield Case("no beginning, and nothing but a beginning", (np.array([0, 4]), 4))
    yield Case("one token", (np.array([1, 0]), 1))
    yield Case("no token", (np.array([0, 0]), 0))
    yield Case("no text", (np.zeros(0, dtype=int), 3))
    yield Case("a long text", (np.array([5]), 9))


def prefix_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n = int(rng.integers(6, 9))
    yield Case("several texts", (rng.integers(1, n, size=n - 2), n))
    yield Case("as many texts as tokens", (rng.integers(1, n, size=n), n))
    yield Case("no beginning, and nothing but a beginning", (rng.permutation([0, n]), n))
    yield Case("one text", (rng.integers(2, n - 1, size=1), n))
    yield Case("a long text", (rng.integers(2, 10, size=1), n + 6))
    yield Case("two texts", (rng.choice(np.arange(2, n - 1), size=2, replace=False), n))


def prefix__causal(prefix, n):
    return np.repeat(np.tri(n, dtype=bool)[None], len(prefix), axis=0)


def prefix__the_beginning_alone(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return beginning[:, None, :] & beginning[:, :, None]


def prefix__beginning_for_all(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return np.repeat(beginning[:, None, :], n, axis=1)


def prefix__both(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return np.tri(n, dtype=bool) & beginning[:, None, :]


def prefix__rows(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return np.tri(n, dtype=bool) | beginning[:, :, None]


def prefix__one_more(prefix, n):
    beginning = np.arange(n) <= prefix[:, None]
    return np.tri(n, dtype=bool) | beginning[:, None, :]


def prefix__not_itself(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return np.tri(n, k=-1, dtype=bool) | beginning[:, None, :]


def prefix__hidden(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return ~(np.tri(n, dtype=bool) | beginning[:, None, :])


def prefix__two_parts(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    same = beginning[:, None, :] == beginning[:, :, None]
    return same & (np.tri(n, dtype=bool) | beginning[:, None, :])


def prefix__loop(prefix, n):
    masks = np.zeros((len(prefix), n, n), dtype=bool)
    for text, length in enumerate(prefix):
        for row in range(n):
            masks[text, row, : max(row + 1, int(length))] = True
    return masks


def prefix__reach(prefix, n):
    reach = np.maximum(np.arange(1, n + 1), np.reshape(prefix, (-1, 1)))  # (batch, n)
    return np.arange(n)[None, None] < reach[..., None]


def prefix__blocks(prefix, n):
    masks = np.repeat(np.tril(np.ones((n, n), dtype=bool))[None], len(prefix), axis=0)
    for mask, length in zip(masks, prefix, strict=True):
        mask[:length, :length] = True
    return masks


PREFIX_MASK = Exercise(
    name="prefix_mask",
    points=2,
    difficulty=2,
    minutes=15,
    reference=solutions.prefix_mask,
    cases=prefix_cases,
    hidden=prefix_hidden,
    misconceptions=(
        Misconception(
            "causal throughout",
            prefix__causal,
            "May the first token of the beginning attend to the last one of the beginning?",
        ),
        Misconception(
            "the beginning alone",
            prefix__the_beginning_alone,
            "What may the last token of the text attend to?",
        ),
        Misconception(
            "the beginning for all, and nothing else",
            prefix__beginning_for_all,
            "May a later token attend to the tokens just before it?",
        ),
        Misconception(
            "both conditions asked for",
            prefix__both,
            "In the beginning, or before me: need both hold?",
        ),
        Misconception(
            "rows for columns",
            prefix__rows,
            "Does a token of the beginning see what is still to be written?",
        ),
        Misconception(
            "one token more",
            prefix__one_more,
            "A beginning of two tokens: which places are they, counted from 0?",
        ),
        Misconception(
            "not itself",
            prefix__not_itself,
            "May a later token attend to itself?",
        ),
        Misconception(
            "True where hidden",
            prefix__hidden,
            "What does True mean in the masks of this course?",
        ),
        Misconception(
            "two parts that do not meet",
            prefix__two_parts,
            "The beginning is a question and the rest is its answer. Does the answer see the "
            "question?",
        ),
    ),
    alternatives=(prefix__loop, prefix__reach, prefix__blocks),
    help=(
        "Draw the mask of four tokens of which two are the beginning: two rows of BERT's, then two "
        "of GPT's.",
        "Row i may see column j if j is no later than i, or if j is in the beginning. Give "
        "`prefix` two more axes.",
        "Chapter 10, the drawing of the two masks; chapter 5, masks.",
    ),
    promises=(
        Promise(
            "prefix: (batch,), how many tokens of each text are its beginning, from 0 to n.",
            (
                "three texts, in the middle",
                "as many texts as tokens",
                "no beginning, and nothing but a beginning",
                "no text",
            ),
        ),
        Promise(
            "Every token of the beginning may attend to the whole beginning, and to nothing else.",
            ("one text of four tokens, two of them its beginning", "several texts"),
        ),
        Promise(
            "Every later token may attend to the beginning, to the tokens before it, and to "
            "itself.",
            ("one text of four tokens, two of them its beginning", "a long text"),
        ),
        Promise(
            "Returns booleans (batch, n, n), True where the token of the row may attend to that of "
            "the column; n may be 0.",
            ("three texts, in the middle", "one token", "no token"),
        ),
    ),
    kind=Kind.TRANSFER,
)
