"""The exercise `sinusoidal_positions`: a position written in waves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def sinusoid_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three positions, one wave", (3, 2))
    yield Case("three positions, two waves", (3, 4))
    yield Case("as many positions as columns", (6, 6))
    yield Case("many positions", (40, 8))
    yield Case("one position", (1, 4))
    yield Case("no position", (0, 4))
    yield Case("more positions than most tables have", (520, 2))
    yield Case("an odd width", (3, 5), raises=Raises("ValueError", ("5",)))
    yield Case("a width of 1", (3, 1), raises=Raises("ValueError", ("1",)))


def sinusoid_hidden(rng: np.random.Generator) -> Iterator[Case]:
    d = 2 * int(rng.integers(3, 9))
    yield Case("a few positions, two waves", (int(rng.integers(2, 8)), 4))
    yield Case("as many positions as columns", (d, d))
    yield Case("many positions", (int(rng.integers(40, 90)), d + 2))
    yield Case("wide", (int(rng.integers(5, 12)), 10 * d))
    yield Case("more positions than most tables have", (int(rng.integers(5001, 5200)), 2))
    odd = d + 21
    yield Case("an odd width", (4, odd), raises=Raises("ValueError", (str(odd),)))
    yield Case("an odd width, no position", (0, odd), raises=Raises("ValueError", (str(odd),)))


def sinusoidal_positions__halves(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


def sinusoidal_positions__cosine_first(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.cos(angles)
    encoding[:, 1::2] = np.sin(angles)
    return encoding


def sinusoidal_positions__half_exponent(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(d // 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__double_exponent(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (2 * np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__column_exponent(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(d) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles[:, 0::2])
    encoding[:, 1::2] = np.cos(angles[:, 1::2])
    return encoding


def sinusoidal_positions__multiplied(n, d):
    angles = np.arange(n)[:, None] * 10000 ** (np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__base_e(n, d):
    angles = np.arange(n)[:, None] * np.exp(-np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__last_wave_included(n, d):
    steps = np.arange(d // 2) / max(d // 2 - 1, 1)
    angles = np.arange(n)[:, None] / 10000**steps
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__from_one(n, d):
    angles = np.arange(1, n + 1)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


def sinusoidal_positions__transposed(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    encoding = np.zeros((n, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding.T


def sinusoidal_positions__loop(n, d):
    if d % 2:
        raise ValueError(f"d must be even, but got {d}")
    encoding = np.zeros((n, d))
    for p in range(n):
        for column in range(d):
            angle = p / 10000 ** ((column - column % 2) / d)
            encoding[p, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return encoding


def sinusoidal_positions__complex(n, d):
    if d % 2 == 1:
        raise ValueError("the width should be even: " + str(d))
    speed = np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    points = np.exp(1j * np.outer(np.arange(n), speed))
    return np.stack([points.imag, points.real], axis=2).reshape(n, d)


def sinusoidal_positions__quarter_turn(n, d):
    if d // 2 * 2 != d:
        raise ValueError(f"{d} columns cannot be paired")
    column = np.arange(d)
    angles = np.arange(n)[:, None] / np.power(10000.0, (column // 2 * 2) / d)
    return np.sin(angles + np.pi / 2 * (column % 2))


SINUSOIDAL_POSITIONS = Exercise(
    name="sinusoidal_positions",
    points=2,
    difficulty=2,
    minutes=15,
    reference=solutions.sinusoidal_positions,
    cases=sinusoid_cases,
    hidden=sinusoid_hidden,
    misconceptions=(
        Misconception(
            "halves concatenated instead of interleaved",
            sinusoidal_positions__halves,
            "Which columns hold the sines: the first d/2, or every second one?",
        ),
        Misconception(
            "cosine first",
            sinusoidal_positions__cosine_first,
            "What are the first two entries of the row of position 0?",
        ),
        Misconception(
            "exponent i/d",
            sinusoidal_positions__half_exponent,
            "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
        ),
        Misconception(
            "exponent 4i/d",
            sinusoidal_positions__double_exponent,
            "If a variable already counts 0, 2, 4, ..., is another factor of 2 needed?",
        ),
        Misconception(
            "every column its own wavelength",
            sinusoidal_positions__column_exponent,
            "A sine and the cosine beside it are a pair. Do they share their angle?",
        ),
        Misconception(
            "multiplied instead of divided",
            sinusoidal_positions__multiplied,
            "Should the later columns change faster or more slowly from one position to the next?",
        ),
        Misconception(
            "base e instead of 10000",
            sinusoidal_positions__base_e,
            "By what factor do the first and the last wavelength differ? `np.exp` alone knows "
            "nothing of 10000.",
        ),
        Misconception(
            "the last wavelength stretched to 10000",
            sinusoidal_positions__last_wave_included,
            "For d = 4 the second pair divides by 10000^(2/4). How many is that? (Some libraries "
            "space the waves in another way.)",
        ),
        Misconception(
            "positions from 1",
            sinusoidal_positions__from_one,
            "Which position has the first row, and what is the sine of its angle?",
        ),
        Misconception(
            "positions in columns",
            sinusoidal_positions__transposed,
            "Which axis of your result counts the positions? Which one should?",
        ),
    ),
    alternatives=(
        sinusoidal_positions__loop,
        sinusoidal_positions__complex,
        sinusoidal_positions__quarter_turn,
    ),
    help=(
        "Make a table of angles, one row a position, one column a pair. Then put its sines and "
        "its cosines into alternate columns.",
        "`np.arange(n)[:, None]` against a row of d/2 divisors gives (n, d/2) by broadcasting. "
        "`encoding[:, 0::2]` and `encoding[:, 1::2]` are the even and the odd columns.",
        "Section “Waves”.",
    ),
    promises=(
        Promise("how many positions, 0 or more", ("no position", "one position", "many positions")),
        Promise("as many as anyone asks for", ("more positions than most tables have",)),
        Promise("d: the width, even", ("three positions, one wave", "wide")),
        Promise("Returns an array of shape (n, d)", ("many positions", "no position")),
        Promise(
            "Row p holds, for i = 0 ... d/2 - 1, the sine of p / 10000^(2i/d) in column 2i and the "
            "cosine of the same angle in column 2i + 1.",
            ("three positions, two waves", "as many positions as columns", "wide"),
        ),
        Promise(
            "Raises ValueError, with the number d in its message, if d is odd.",
            ("an odd width", "an odd width, no position"),
        ),
    ),
)
