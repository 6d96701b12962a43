"""The exercise `sinusoidal_positions`: a position written in waves."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import positions as solutions

sinusoidal_positions = Declaration(
    solutions.sinusoidal_positions,
    points=2,
    difficulty=2,
    minutes=15,
    help=(
        "Make a table of angles, with one row for each position and one column for each pair. "
        "Then put its sines and its cosines into alternate columns.",
        "`np.arange(n)[:, None]` against a row of d/2 divisors gives (n, d/2) by broadcasting. "
        "`encoding[:, 0::2]` and `encoding[:, 1::2]` are the even and the odd columns.",
        "Section “Waves”.",
    ),
)


@sinusoidal_positions.right
def loop(n, d):
    if d % 2:
        raise ValueError(f"d must be even, but got {d}")
    encoding = np.zeros((n, d))
    for p in range(n):
        for column in range(d):
            angle = p / 10000 ** ((column - column % 2) / d)
            encoding[p, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return encoding


@sinusoidal_positions.right
def by_complex(n, d):
    if d % 2 == 1:
        raise ValueError("the width should be even: " + str(d))
    speed = np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    points = np.exp(1j * np.outer(np.arange(n), speed))
    return np.stack([points.imag, points.real], axis=2).reshape(n, d)


@sinusoidal_positions.right
def quarter_turn(n, d):
    if d // 2 * 2 != d:
        raise ValueError(f"{d} columns cannot be paired")
    column = np.arange(d)
    angles = np.arange(n)[:, None] / np.power(10000.0, (column // 2 * 2) / d)
    return np.sin(angles + np.pi / 2 * (column % 2))


@sinusoidal_positions.right
def plain(n, d):
    if d % 2:
        raise ValueError(f"a width of {d}")
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


unchecked = plain.edit('if d % 2:\n    raise ValueError(f"a width of {d}")', "")


@sinusoidal_positions.wrong(
    "halves concatenated instead of interleaved",
    "Which columns hold the sines: the first d/2, or every second one?",
)
def _(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


sinusoidal_positions.wrong(
    "cosine first",
    "What are the first two entries of the row of position 0?",
    unchecked.edit(
        "encoding[:, 0::2] = np.sin(angles)\nencoding[:, 1::2] = np.cos(angles)",
        "encoding[:, 0::2] = np.cos(angles)\nencoding[:, 1::2] = np.sin(angles)",
    ),
)
sinusoidal_positions.wrong(
    "exponent i/d",
    "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(d // 2)"),
)
sinusoidal_positions.wrong(
    "exponent 4i/d",
    "If a variable already counts 0, 2, 4, ..., is another factor of 2 needed?",
    unchecked.edit("np.arange(0, d, 2)", "2 * np.arange(0, d, 2)"),
)
sinusoidal_positions.wrong(
    "every column its own wavelength",
    "A sine and the cosine next to it are a pair. Do they share an angle in your table?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(d)")
    .edit("np.sin(angles)", "np.sin(angles[:, 0::2])")
    .edit("np.cos(angles)", "np.cos(angles[:, 1::2])"),
)
sinusoidal_positions.wrong(
    "multiplied instead of divided",
    "Should the later columns change faster or more slowly from one position to the next?",
    unchecked.edit("/ 10000", "* 10000"),
)
sinusoidal_positions.wrong(
    "base e instead of 10000",
    "By what factor do the first and the last wavelength differ? `np.exp` on its own knows "
    "nothing about 10000.",
    unchecked.edit("/ 10000 ** (np.arange(0, d, 2) / d)", "* np.exp(-np.arange(0, d, 2) / d)"),
)
sinusoidal_positions.wrong(
    "the last wavelength stretched to 10000",
    "For d = 4 the second pair divides by 10000^(2/4). How many is that? (Some libraries space "
    "the waves differently.)",
    unchecked.edit("np.arange(0, d, 2) / d", "np.arange(d // 2) / max(d // 2 - 1, 1)"),
)
sinusoidal_positions.wrong(
    "positions from 1",
    "Which position does the first row belong to, and what is the sine of its angle?",
    unchecked.edit("np.arange(n)", "np.arange(1, n + 1)"),
)
sinusoidal_positions.wrong(
    "positions in columns",
    "Which axis of your result counts the positions? Which one should?",
    unchecked.edit("return encoding", "return encoding.T"),
)


sinusoidal_positions.wrong(
    "exponent 2j/d for every column j",
    "Columns 2 and 3 are the pair i = 1. Which exponent does each of them get in your function?",
    unchecked.edit("np.arange(0, d, 2)", "2 * np.arange(d)")
    .edit("np.sin(angles)", "np.sin(angles[:, 0::2])")
    .edit("np.cos(angles)", "np.cos(angles[:, 1::2])"),
)
sinusoidal_positions.wrong(
    "the cosine has the exponent of the next pair",
    "A sine and the cosine next to it are a pair. Do they share an angle in your table?",
    unchecked.edit(
        "np.cos(angles)", "np.cos(np.arange(n)[:, None] / 10000 ** (np.arange(2, d + 2, 2) / d))"
    ),
)
sinusoidal_positions.wrong(
    "base 1000",
    "How many zeros does your base have?",
    unchecked.edit("10000", "1000"),
)
sinusoidal_positions.wrong(
    "base and exponent exchanged",
    "Which of the two is raised to a power: 10000, or 2i/d? What is 0 to the power of 10000?",
    unchecked.edit(
        "/ 10000 ** (np.arange(0, d, 2) / d)", "/ (np.arange(0, d, 2) / max(d, 1)) ** 10000"
    ),
)


@sinusoidal_positions.public
def _(rng):
    yield Case("three positions, one wave", (3, 2)).holds("d: the width, even")
    yield Case("three positions, two waves", (3, 4)).holds(
        "Row p holds, for i = 0 ... d/2 - 1, the sine of p / 10000^(2i/d) in column 2i and the "
        "cosine of the same angle in column 2i + 1."
    )
    yield Case("as many positions as columns", (6, 6)).holds("Row p holds…")
    yield Case("many positions", (40, 8)).holds(
        "how many positions, 0 or more", "Returns an array of shape (n, d)"
    )
    yield Case("one position", (1, 4)).holds("how many…")
    yield Case("no position", (0, 4)).holds("how many…", "Returns an…")
    yield Case("more positions than most tables have", (520, 2)).holds("as many as anyone asks for")
    yield Case("an odd width", (3, 5), raises=Raises("ValueError", ("5",))).holds(
        "Raises ValueError, with the number d in its message, if d is odd."
    )
    yield Case("a width of 1", (3, 1), raises=Raises("ValueError", ("1",)))


@sinusoidal_positions.hidden
def _(rng):
    d = 2 * int(rng.integers(3, 9))
    yield Case("a few positions, two waves", (int(rng.integers(2, 8)), 4))
    yield Case("as many positions as columns", (d, d))
    yield Case("many positions", (int(rng.integers(40, 90)), d + 2))
    yield Case("wide", (int(rng.integers(5, 12)), 10 * d)).holds("d: the width…", "Row p holds…")
    yield Case("more positions than most tables have", (int(rng.integers(5001, 5200)), 2))
    odd = d + 21
    yield Case("an odd width", (4, odd), raises=Raises("ValueError", (str(odd),)))
    yield Case(
        "an odd width, no position", (0, odd), raises=Raises("ValueError", (str(odd),))
    ).holds("Raises ValueError…")


sinusoidal_positions.lets_through(
    "one buffer for all results", "results of one shape are all equal"
)
sinusoidal_positions.lets_through(
    "a last axis of length 1 squeezed", "the last axis has an even length"
)
