"""The exercise `shift_matrix`: to move on is to turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def shift_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one wave, one step", (2, 1))
    yield Case("two waves, three steps", (4, 3))
    yield Case("two steps back", (6, -2))
    yield Case("no step at all", (4, 0))
    yield Case("far", (8, 50))
    yield Case("very far", (4, 6000))
    yield Case("an odd width", (5, 2), raises=Raises("ValueError", ("5",)))
    yield Case("a width of 1", (1, 2), raises=Raises("ValueError", ("1",)))


def shift_hidden(rng: np.random.Generator) -> Iterator[Case]:
    d = 2 * int(rng.integers(2, 8))
    yield Case("a few steps", (d, int(rng.integers(2, 6))))
    yield Case("a few steps back", (d + 2, -int(rng.integers(2, 6))))
    yield Case("far", (d, int(rng.integers(30, 90))))
    yield Case("very far back", (d, -int(rng.integers(6000, 9000))))
    odd = d + 21
    yield Case("an odd width", (odd, 3), raises=Raises("ValueError", (str(odd),)))
    yield Case("an odd width, no step", (odd, 0), raises=Raises("ValueError", (str(odd),)))


def shift_matrix__backwards(d, k):
    angles = k / 10000 ** (np.arange(0, d, 2) / d)
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = -np.sin(angles)
    M[even + 1, even] = np.sin(angles)
    return M


def shift_matrix__no_minus(d, k):
    angles = k / 10000 ** (np.arange(0, d, 2) / d)
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = M[even + 1, even] = np.sin(angles)
    return M


def shift_matrix__half_exponent(d, k):
    angles = k / 10000 ** (np.arange(d // 2) / d)
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = np.sin(angles)
    M[even + 1, even] = -np.sin(angles)
    return M


def shift_matrix__halves(d, k):
    angles = k / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cosine, sine], [-sine, cosine]])


def shift_matrix__one_angle(d, k):
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(k)
    M[even, even + 1] = np.sin(k)
    M[even + 1, even] = -np.sin(k)
    return M


def shift_matrix__one_step(d, k):
    angles = 1 / 10000 ** (np.arange(0, d, 2) / d)
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = np.sin(angles)
    M[even + 1, even] = -np.sin(angles)
    return M


def shift_matrix__multiplied(d, k):
    angles = 1 / 10000 ** (np.arange(0, d, 2) / d)
    even = np.arange(0, d, 2)
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = np.sin(angles)
    M[even + 1, even] = -np.sin(angles)
    return k * M


def shift_matrix__rolled(d, k):
    return np.roll(np.eye(d), k, axis=0)


def shift_matrix__loop(d, k):
    if d % 2:
        raise ValueError(f"d should be even and is {d}.")
    M = np.zeros((d, d))
    for i in range(d // 2):
        angle = k / 10000 ** (2 * i / d)
        block = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return M


def shift_matrix__power(d, k):
    if d & 1:
        raise ValueError(f"odd width: d={d}")
    speed = 10000.0 ** (-np.arange(0, d, 2) / d)
    step = np.zeros((d, d))
    for i in range(d):
        step[i, i] = np.cos(speed[i // 2])
        step[i, i ^ 1] = -np.sin(speed[i // 2]) if i % 2 else np.sin(speed[i // 2])
    return np.linalg.matrix_power(step if k >= 0 else step.T, abs(k))


def shift_matrix__diagonals(d, k):
    pairs, rest = divmod(d, 2)
    if rest:
        raise ValueError(f"{pairs} pairs and one feature more make d = {d}")
    angles = np.repeat(k * np.exp(-np.log(10000) * np.arange(0, d, 2) / d), 2)
    beside = np.sin(angles) * (np.arange(d) % 2 == 0)
    return np.diag(np.cos(angles)) + np.diag(beside[:-1], 1) - np.diag(beside[:-1], -1)


SHIFT_MATRIX = Exercise(
    name="shift_matrix",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.shift_matrix,
    cases=shift_cases,
    hidden=shift_hidden,
    misconceptions=(
        Misconception(
            "moves back instead of on",
            shift_matrix__backwards,
            "Take position 0 of one wave, the column (0, 1). Where does your matrix for k = 1 send "
            "it, and what is the sine of 1? (Is your matrix meant for a row on its left?)",
        ),
        Misconception(
            "no minus sign",
            shift_matrix__no_minus,
            "What is cos(a + b), written with the sines and cosines of a and of b? Does your "
            "matrix keep the length of a vector?",
        ),
        Misconception(
            "exponent i/d",
            shift_matrix__half_exponent,
            "How fast does the second pair of the encoding turn when d = 4? And in your matrix?",
        ),
        Misconception(
            "halves concatenated instead of interleaved",
            shift_matrix__halves,
            "In which row of the column PE[p] stands the cosine that belongs to the first sine?",
        ),
        Misconception(
            "one angle for all pairs",
            shift_matrix__one_angle,
            "Does every pair turn equally fast?",
        ),
        Misconception(
            "always one step",
            shift_matrix__one_step,
            "Does your matrix change when k does?",
        ),
        Misconception(
            "multiplied by k",
            shift_matrix__multiplied,
            "Two steps are one step after another. Is that twice the matrix, or its square?",
        ),
        Misconception(
            "shifts the features",
            shift_matrix__rolled,
            "It is the position that moves on by k. Does a feature become another feature?",
        ),
    ),
    alternatives=(
        shift_matrix__loop,
        shift_matrix__power,
        shift_matrix__diagonals,
    ),
    help=(
        "A matrix of zeros with a 2 by 2 block for each pair on its diagonal.",
        "A pair of the encoding is (sin a, cos a), and k steps on it is (sin(a + b), cos(a + b)), "
        "with b the angle of k steps. Write both by the addition theorems, and read off the four "
        "entries.",
        "Section “A shift is a rotation”.",
    ),
    promises=(
        Promise(
            "Here PE[p], row p of `sinusoidal_positions`, is read as a column, and M stands on its "
            "left.",
            ("one wave, one step", "two waves, three steps"),
        ),
        Promise("d: the width, even", ("one wave, one step", "two waves, three steps")),
        Promise(
            "k: how far, any whole number; below 0 is back",
            ("no step at all", "two steps back", "far", "very far", "very far back"),
        ),
        Promise("M has shape (d, d) and does not depend on p", ("two waves, three steps",)),
        Promise(
            "Raises ValueError, with the number d in its message, if d is odd.",
            ("an odd width", "an odd width, no step"),
        ),
    ),
)
