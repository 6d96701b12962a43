"""The exercise `padding_mask`: which positions of a batch are real."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import queries_keys_values as solutions

padding_mask = Declaration(
    solutions.padding_mask,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Compare the positions 0 to n - 1 with each length, in shapes that broadcast.",
        "`np.arange(n)` has shape (n,). Which shape must `lengths` have, so that the comparison "
        "gives (batch, 1, n)?",
        "Section “Masks”.",
    ),
)


@padding_mask.right
def loop(lengths, n):
    mask = np.zeros((len(lengths), 1, n), dtype=bool)
    for one, length in enumerate(lengths):
        mask[one, 0, :length] = True
    return mask


@padding_mask.right
def by_list(lengths, n):
    rows = [[[place < length for place in range(n)]] for length in lengths]
    return np.array(rows, dtype=bool)


@padding_mask.right
def padding_removed(lengths, n):
    padding = np.arange(n)[None, :] >= np.reshape(lengths, (-1, 1))
    return np.expand_dims(~padding, 1)


@padding_mask.right
def plain(lengths, n):
    return np.arange(n) < lengths[:, None, None]


padding_mask.wrong(
    "one position too many",
    "With a length of 3, which positions are real: 0, 1, 2, or 0, 1, 2, 3?",
    plain.edit("<", "<="),
)
padding_mask.wrong(
    "one position too few",
    "With a length of 1, how many entries of the row should be True?",
    plain.edit("lengths[:, None, None]", "lengths[:, None, None] - 1"),
)
padding_mask.wrong(
    "no axis for the queries",
    "Scores have shape (batch, n_q, n). With which of their axes does the first axis of your mask "
    "line up?",
    plain.edit("lengths[:, None, None]", "lengths[:, None]"),
)
padding_mask.wrong(
    "hides the queries instead of the keys",
    "Scores have one row for each query and one column for each key. Does a padded key belong to "
    "a row or to a column?",
    plain.edit("np.arange(n)", "np.arange(n)[:, None]"),
)
padding_mask.wrong(
    "hides the queries as well",
    "Which shape does the docstring ask for? Does a padded query do any harm if nobody reads its "
    "answer?",
    plain.edit("np.arange(n)", "np.maximum(np.arange(n)[:, None], np.arange(n))"),
)
padding_mask.wrong(
    "mask inverted",
    "In this course True means “may attend”. Is padding True or False in your mask?",
    plain.edit("<", ">="),
)
padding_mask.wrong(
    "padding at the front",
    "Which positions of a short sequence are real, the first or the last?",
    plain.edit("np.arange(n) < lengths", "np.arange(n) >= n - lengths"),
)
padding_mask.wrong(
    "integers instead of booleans",
    "Which dtype does the docstring ask for? What would `~mask` do to the integers 0 and 1?",
    plain.edit(
        "np.arange(n) < lengths[:, None, None]",
        "(np.arange(n) < lengths[:, None, None]).astype(int)",
    ),
)


padding_mask.wrong(
    "as wide as the longest sequence",
    "Which argument says how many positions there are? Is the longest sequence always that long?",
    plain.edit("np.arange(n)", "np.arange(max(lengths))"),
)
padding_mask.wrong(
    "a row for each query",
    "Which shape does the docstring ask for? The middle axis broadcasts: how long does it have to "
    "be for that?",
    plain.edit(
        "np.arange(n) < lengths[:, None, None]",
        "np.repeat(np.arange(n) < lengths[:, None, None], n, axis=1)",
    ),
)


@padding_mask.public
def _(rng):
    yield Case("one sequence, two of three positions real", (np.array([2]), 3)).holds(
        "(batch,), whole numbers from 0 to n"
    )
    yield Case("three sequences", (np.array([3, 1, 4]), 5)).holds(
        "how many tokens of each sequence are real",
        "the real ones come first",
        "a boolean array of shape (batch, 1, n), True at real tokens",
    )
    yield Case("an empty sequence, and one without padding", (np.array([0, 4]), 4)).holds(
        "(batch,), whole…"
    )
    yield Case("as many sequences as positions", (np.array([2, 3, 1]), 3)).holds(
        "so that the mask broadcasts to scores of shape (batch, n_q, n)"
    )
    yield Case("one position, real in the second sequence only", (np.array([0, 1]), 1)).holds(
        "the padded length, at least 1"
    )


@padding_mask.hidden
def _(rng):
    n = int(rng.integers(4, 9))
    yield Case("a few sequences", (rng.integers(1, n, size=3), n)).holds("a boolean…")
    yield Case("an empty sequence, and one without padding", (np.array([n, 0, n - 2]), n))
    yield Case("as many sequences as positions", (rng.integers(1, n, size=n), n))
    yield Case("many sequences", (rng.integers(0, 31, size=20), 30)).holds("the padded…")
    yield Case("one place", (rng.permutation([0, 1, 1]), 1))
