"""The exercise `shift_matrix`: to move on is to turn."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import positions as solutions

shift_matrix = Declaration(
    solutions.shift_matrix,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Start from a matrix of zeros, with a 2 by 2 block for each pair on its diagonal.",
        "A pair of the encoding is (sin a, cos a). After k more steps it is (sin(a + b), cos(a + "
        "b)), where b is the angle of k steps. Expand both by the addition theorems, and read off "
        "the four entries.",
        "Section “A shift is a rotation”.",
    ),
)


@shift_matrix.right
def loop(d, k):
    if d % 2:
        raise ValueError(f"d must be even, but is {d}.")
    M = np.zeros((d, d))
    for i in range(d // 2):
        angle = k / 10000 ** (2 * i / d)
        block = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return M


@shift_matrix.right
def power(d, k):
    if d & 1:
        raise ValueError(f"odd width: d={d}")
    speed = 10000.0 ** (-np.arange(0, d, 2) / d)
    step = np.zeros((d, d))
    for i in range(d):
        step[i, i] = np.cos(speed[i // 2])
        step[i, i ^ 1] = -np.sin(speed[i // 2]) if i % 2 else np.sin(speed[i // 2])
    return np.linalg.matrix_power(step if k >= 0 else step.T, abs(k))


@shift_matrix.right
def diagonals(d, k):
    pairs, rest = divmod(d, 2)
    if rest:
        raise ValueError(f"{pairs} pairs and one feature more make d = {d}")
    angles = np.repeat(k * np.exp(-np.log(10000) * np.arange(0, d, 2) / d), 2)
    beside = np.sin(angles) * (np.arange(d) % 2 == 0)
    return np.diag(np.cos(angles)) + np.diag(beside[:-1], 1) - np.diag(beside[:-1], -1)


@shift_matrix.right
def plain(d, k):
    if d % 2:
        raise ValueError(f"a width of {d}")
    even = np.arange(0, d, 2)
    angles = k / 10000 ** (even / d)
    cosine, sine = np.cos(angles), np.sin(angles)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = cosine
    M[even, even + 1] = sine
    M[even + 1, even] = -sine
    return M


unchecked = plain.edit('if d % 2:\n    raise ValueError(f"a width of {d}")', "")

shift_matrix.wrong(
    "moves back instead of on",
    "Take position 0 of one wave, the column (0, 1). Where does your matrix for k = 1 send it, "
    "and what is the sine of 1? (Did you build the matrix that multiplies a row from the right?)",
    unchecked.edit("np.sin(angles)", "-np.sin(angles)"),
)
shift_matrix.wrong(
    "no minus sign",
    "What is cos(a + b) in terms of the sines and cosines of a and b? Does your matrix keep the "
    "length of a vector?",
    unchecked.edit("-sine", "sine"),
)
shift_matrix.wrong(
    "exponent i/d",
    "How fast does the second pair of the encoding rotate when d = 4? And in your matrix?",
    unchecked.edit("even / d", "np.arange(d // 2) / d"),
)


@shift_matrix.wrong(
    "halves concatenated instead of interleaved",
    "In which row of the column PE[p] is the cosine that belongs to the first sine?",
)
def _(d, k):
    angles = k / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cosine, sine], [-sine, cosine]])


shift_matrix.wrong(
    "one angle for all pairs",
    "Should every pair rotate equally fast?",
    unchecked.edit(" / 10000 ** (even / d)", ""),
)
shift_matrix.wrong(
    "always one step",
    "Does your matrix change when k does?",
    unchecked.edit("k / 10000", "1 / 10000"),
)
shift_matrix.wrong(
    "multiplied by k",
    "Two steps are one step after another. Is that twice the matrix, or its square?",
    unchecked.edit("k / 10000", "1 / 10000").edit("return M", "return k * M"),
)


@shift_matrix.wrong(
    "shifts the features",
    "The position moves on by k. Does a feature become another feature?",
)
def _(d, k):
    return np.roll(np.eye(d), k, axis=0)


@shift_matrix.public
def _(rng):
    yield Case("one wave, one step", (2, 1)).holds(
        "Here PE[p], row p of `sinusoidal_positions`, is read as a column, and M stands on its "
        "left.",
        "d: the width, even",
    )
    yield Case("two waves, three steps", (4, 3)).holds(
        "Here PE[p]…", "d: the width…", "M has shape (d, d) and does not depend on p"
    )
    yield Case("two steps back", (6, -2)).holds("k: how far, any whole number; below 0 is back")
    yield Case("no step at all", (4, 0)).holds("k: how far…")
    yield Case("far", (8, 50)).holds("k: how far…")
    yield Case("very far", (4, 6000)).holds("k: how far…")
    yield Case("an odd width", (5, 2), raises=Raises("ValueError", ("5",))).holds(
        "Raises ValueError, with the number d in its message, if d is odd."
    )
    yield Case("a width of 1", (1, 2), raises=Raises("ValueError", ("1",)))


@shift_matrix.hidden
def _(rng):
    d = 2 * int(rng.integers(2, 8))
    yield Case("a few steps", (d, int(rng.integers(2, 6))))
    yield Case("a few steps back", (d + 2, -int(rng.integers(2, 6))))
    yield Case("far", (d, int(rng.integers(30, 90))))
    yield Case("very far back", (d, -int(rng.integers(6000, 9000)))).holds("k: how far…")
    odd = d + 21
    yield Case("an odd width", (odd, 3), raises=Raises("ValueError", (str(odd),)))
    yield Case("an odd width, no step", (odd, 0), raises=Raises("ValueError", (str(odd),))).holds(
        "Raises ValueError…"
    )


shift_matrix.lets_through("axes of length 1 squeezed", "both axes have an even length")
shift_matrix.lets_through("a last axis of length 1 squeezed", "the last axis has an even length")
