"""The exercise `prefix_mask`: read the beginning as BERT does, and the rest as GPT does."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import language_models as solutions

prefix_mask = Declaration(
    solutions.prefix_mask,
    points=2,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "Draw the mask of four tokens of which two are the beginning: two rows as in BERT, then "
        "two as in GPT.",
        "Row i may see column j if j is not later than i, or if j is in the beginning. Give "
        "`prefix` two more axes.",
        "Section “Keep the decoder”, the drawing of the two masks; chapter 5, “Masks”.",
    ),
)


@prefix_mask.right
def loop(prefix, n):
    masks = np.zeros((len(prefix), n, n), dtype=bool)
    for text, length in enumerate(prefix):
        for row in range(n):
            masks[text, row, : max(row + 1, int(length))] = True
    return masks


@prefix_mask.right
def reach(prefix, n):
    reach = np.maximum(np.arange(1, n + 1), np.reshape(prefix, (-1, 1)))  # (batch, n)
    return np.arange(n)[None, None] < reach[..., None]


@prefix_mask.right
def blocks(prefix, n):
    masks = np.repeat(np.tril(np.ones((n, n), dtype=bool))[None], len(prefix), axis=0)
    for mask, length in zip(masks, prefix, strict=True):
        mask[:length, :length] = True
    return masks


@prefix_mask.right
def plain(prefix, n):
    beginning = np.arange(n) < prefix[:, None]
    return np.tri(n, dtype=bool) | beginning[:, None, :]


@prefix_mask.wrong(
    "causal throughout",
    "May the first token of the beginning attend to the last one of the beginning?",
)
def _(prefix, n):
    return np.repeat(np.tri(n, dtype=bool)[None], len(prefix), axis=0)


prefix_mask.wrong(
    "the beginning alone",
    "What may the last token of the text attend to?",
    plain.edit(
        "np.tri(n, dtype=bool) | beginning[:, None, :]",
        "beginning[:, None, :] & beginning[:, :, None]",
    ),
)
prefix_mask.wrong(
    "the beginning for all, and nothing else",
    "May a later token attend to the tokens just before it?",
    plain.edit(
        "np.tri(n, dtype=bool) | beginning[:, None, :]",
        "np.repeat(beginning[:, None, :], n, axis=1)",
    ),
)
prefix_mask.wrong(
    "both conditions required",
    "A token is in the beginning, or it comes before: must both be true?",
    plain.edit(" | ", " & "),
)
prefix_mask.wrong(
    "rows for columns",
    "Does a token of the beginning see tokens that are still to be written?",
    plain.edit("[:, None, :]", "[:, :, None]"),
)
prefix_mask.wrong(
    "the beginning one token too long",
    "A beginning has two tokens. Which places do they have, counted from 0?",
    plain.edit("< prefix", "<= prefix"),
)
prefix_mask.wrong(
    "a token does not see itself",
    "May a later token attend to itself?",
    plain.edit("np.tri(n, dtype=bool)", "np.tri(n, k=-1, dtype=bool)"),
)
prefix_mask.wrong(
    "True where hidden",
    "What does True mean in the masks of this course?",
    plain.edit(
        "np.tri(n, dtype=bool) | beginning[:, None, :]",
        "~(np.tri(n, dtype=bool) | beginning[:, None, :])",
    ),
)
prefix_mask.wrong(
    "two parts that do not see each other",
    "The beginning is a question and the rest is its answer. Does the answer see the question?",
    plain.edit(
        "return np.tri(n, dtype=bool) | beginning[:, None, :]",
        "same = beginning[:, None, :] == beginning[:, :, None]\n"
        "return same & (np.tri(n, dtype=bool) | beginning[:, None, :])",
    ),
)


@prefix_mask.public
def _(rng):
    yield Case("one text of four tokens, two of them its beginning", (np.array([2]), 4)).holds(
        "Every token of the beginning may attend to the whole beginning, and to nothing else.",
        "Every later token may attend to the beginning, to the tokens before it, and to itself.",
    )
    yield Case("three texts, in the middle", (np.array([1, 3, 2]), 5)).holds(
        "prefix: (batch,), how many tokens of each text are its beginning, from 0 to n.",
        "Returns booleans (batch, n, n), True where the token of the row may attend to that of "
        "the column; n may be 0.",
    )
    yield Case("as many texts as tokens", (np.array([3, 1, 2, 2]), 4)).holds("prefix: (batch,)…")
    yield Case("no beginning, and a text that is all beginning", (np.array([0, 4]), 4)).holds(
        "prefix: (batch,)…"
    )
    yield Case("one token", (np.array([1, 0]), 1)).holds("Returns booleans…")
    yield Case("no token", (np.array([0, 0]), 0)).holds("Returns booleans…")
    yield Case("no text", (np.zeros(0, dtype=int), 3)).holds("prefix: (batch,)…")
    yield Case("a long text", (np.array([5]), 9)).holds("Every later…")


@prefix_mask.hidden
def _(rng):
    n = int(rng.integers(6, 9))
    yield Case("several texts", (rng.integers(1, n, size=n - 2), n)).holds("Every token…")
    yield Case("as many texts as tokens", (rng.integers(1, n, size=n), n))
    yield Case("no beginning, and a text that is all beginning", (rng.permutation([0, n]), n))
    yield Case("one text", (rng.integers(2, n - 1, size=1), n))
    yield Case("a long text", (rng.integers(2, 10, size=1), n + 6))
    yield Case("two texts", (rng.choice(np.arange(2, n - 1), size=2, replace=False), n))
