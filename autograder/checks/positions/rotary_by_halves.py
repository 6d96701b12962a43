"""The exercise `rotary_by_halves`: the same turns with other partners."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise, Raises


def halves_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one pair, three positions", (np.array([[1.0, 0.0]] * 3), np.arange(3)))
    yield Case("two pairs", (np.array([[1.0, 1.0, 0.0, 0.0]] * 3), np.arange(3)))
    yield Case(
        "three pairs, positions out of order", (rng.normal(size=(3, 6)), np.array([5, 0, 2]))
    )
    heads = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    yield Case("float32, two leading axes", (heads, np.arange(5)))
    places = np.array([[[0, 1, 2]], [[7, 8, 9]]])
    yield Case("positions of each sequence", (rng.normal(size=(2, 2, 3, 8)), places))
    yield Case("no token", (np.zeros((0, 4)), np.arange(0)))
    yield Case("one token, one pair, a batch of one", (rng.normal(size=(1, 1, 2)), np.array([3])))
    yield Case("positions below 0", (rng.normal(size=(3, 4)), np.array([-1, -7, 2])))
    yield Case("positions between whole ones", (rng.normal(size=(3, 6)), np.array([0.5, 1.25, 3])))
    yield Case("far positions", (rng.normal(size=(3, 4)), np.array([5000, 40_000, 131_072])))
    yield Case("one position for all", (rng.normal(size=(2, 3, 4)), np.array([6])))
    yield Case("tiny numbers", (1e-9 * rng.normal(size=(3, 4)), np.arange(3)))
    odd = rng.normal(size=(3, 5))
    yield Case("an odd width", (odd, np.arange(3)), raises=Raises("ValueError", ("5",)))
    one = rng.normal(size=(3, 1))
    yield Case("a width of 1", (one, np.arange(3)), raises=Raises("ValueError", ("1",)))


def halves_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d = int(rng.integers(3, 7)), 2 * int(rng.integers(3, 6))
    yield Case("two pairs", (rng.normal(size=(n, 4)), np.arange(n)))
    yield Case("positions out of order", (rng.normal(size=(n, d)), rng.permutation(40)[:n]))
    places = rng.integers(20, 40, size=(3, 1, n))
    yield Case("positions of each sequence", (rng.normal(size=(3, 2, n, d)), places))
    stack = rng.normal(size=(2, n, d)).astype(np.float32)
    yield Case("float32, a batch, far positions", (stack, 1000 + np.arange(n)))
    yield Case("three leading axes", (rng.normal(size=(2, 1, 3, n, d)), np.arange(n)))
    yield Case("positions below 0", (rng.normal(size=(n, d)), -rng.permutation(40)[:n]))
    yield Case("positions between whole ones", (rng.normal(size=(n, d)), rng.normal(size=n)))
    yield Case("far positions", (rng.normal(size=(n, d)), rng.integers(5000, 90_000, size=n)))
    odd = d + 21
    refused = Raises("ValueError", (str(odd),))
    yield Case("an odd width", (rng.normal(size=(n, odd)), np.arange(n)), raises=refused)
    yield Case("an odd width, no token", (np.zeros((0, odd)), np.arange(0)), raises=refused)


def rotary_by_halves__neighbours(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary_by_halves__interleaved_after(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary_by_halves__angles_of_neighbours(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    angles = np.repeat(angles, 2, axis=-1)
    other = np.concatenate([-X[..., d // 2 :], X[..., : d // 2]], axis=-1)
    return X * np.cos(angles) + other * np.sin(angles)


def rotary_by_halves__wrong_way(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one = first * np.cos(angles) + second * np.sin(angles)
    other = second * np.cos(angles) - first * np.sin(angles)
    return np.concatenate([one, other], axis=-1)


def rotary_by_halves__no_minus(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one = first * np.cos(angles) + second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other], axis=-1)


def rotary_by_halves__half_exponent(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(d // 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one = first * np.cos(angles) - second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other], axis=-1)


def rotary_by_halves__from_both_ends(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., ::-1][..., : d // 2]
    one = first * np.cos(angles) - second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other[..., ::-1]], axis=-1)


def rotary_by_halves__positions_ignored(X, positions):
    n, d = X.shape[-2:]
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one = first * np.cos(angles) - second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other], axis=-1)


def rotary_by_halves__loop(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"X has {d} features, which is odd")
    places = np.broadcast_to(positions, X.shape[:-1])
    turned = np.zeros(X.shape)
    for index in np.ndindex(*X.shape[:-1]):
        for i in range(d // 2):
            angle = places[index] / 10000 ** (2 * i / d)
            x, y = X[index][i], X[index][i + d // 2]
            turned[index][i] = x * np.cos(angle) - y * np.sin(angle)
            turned[index][i + d // 2] = x * np.sin(angle) + y * np.cos(angle)
    return turned


def rotary_by_halves__other_half(X, positions):
    half, rest = divmod(X.shape[-1], 2)
    if rest:
        raise ValueError(f"{2 * half + rest} features have no two halves")
    angles = np.expand_dims(positions, -1) * np.tile(10000.0 ** (-np.arange(half) / half), 2)
    other = np.concatenate([-X[..., half:], X[..., :half]], axis=-1)
    return X * np.cos(angles) + other * np.sin(angles)


def rotary_by_halves__complex(X, positions):
    d = X.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"{d=} should be even")
    angles = np.asarray(positions)[..., None] * np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    points = (X[..., : d // 2] + 1j * X[..., d // 2 :]) * np.exp(1j * angles)
    return np.concatenate([points.real, points.imag], axis=-1)


ROTARY_BY_HALVES = Exercise(
    name="rotary_by_halves",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.rotary_by_halves,
    cases=halves_cases,
    hidden=halves_hidden,
    misconceptions=(
        Misconception(
            "neighbours as partners",
            rotary_by_halves__neighbours,
            "With six features, which one is the partner of feature 0: 1 or 3?",
        ),
        Misconception(
            "halves not put back in place",
            rotary_by_halves__interleaved_after,
            "At position 0 nothing is turned. Does your function then return X?",
        ),
        Misconception(
            "the angles of neighbours",
            rotary_by_halves__angles_of_neighbours,
            "Features 0 and d/2 are a pair. Do they share their angle in your function?",
        ),
        Misconception(
            "turned the wrong way",
            rotary_by_halves__wrong_way,
            "Turn the point (1, 0) counter-clockwise by a small angle. Is its second coordinate "
            "above or below 0?",
        ),
        Misconception(
            "no minus sign",
            rotary_by_halves__no_minus,
            "A rotation keeps the length of every vector. Does yours? Which of the four products "
            "is subtracted?",
        ),
        Misconception(
            "exponent i/d",
            rotary_by_halves__half_exponent,
            "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
        ),
        Misconception(
            "partners counted from both ends",
            rotary_by_halves__from_both_ends,
            "With six features, which one is the partner of feature 0: 3 or 5?",
        ),
        Misconception(
            "positions ignored",
            rotary_by_halves__positions_ignored,
            "What if the first token of X stands at position 5? Where is `positions` used?",
        ),
    ),
    alternatives=(
        rotary_by_halves__loop,
        rotary_by_halves__other_half,
        rotary_by_halves__complex,
    ),
    help=(
        "The same turn as in `rotary`. Only which two features are x and y is another matter.",
        "x is the first half of the features, y the second; d/2 angles turn d/2 points. Put the "
        "two halves back one after the other.",
        "Section “Turn the queries and the keys”.",
    ),
    promises=(
        Promise(
            "X: (..., n, d), floating, d even, n may be 0",
            (
                "two pairs",
                "no token",
                "float32, two leading axes",
                "three leading axes",
                "one token, one pair, a batch of one",
                "tiny numbers",
            ),
        ),
        Promise(
            "positions: (n,), or any shape that broadcasts to (..., n), any numbers",
            (
                "positions of each sequence",
                "one position for all",
                "positions out of order",
                "positions below 0",
                "positions between whole ones",
                "far positions",
                "float32, a batch, far positions",
            ),
        ),
        Promise(
            "Features i and i + d/2 are a pair, for i = 0 ... d/2 - 1",
            ("two pairs", "three pairs, positions out of order"),
        ),
        Promise(
            "It is turned counter-clockwise, from feature i towards feature i + d/2, by position / "
            "10000^(2i/d)",
            ("one pair, three positions", "two pairs"),
        ),
        Promise("Returns an array of the shape of X.", ("two pairs", "no token")),
        Promise(
            "Raises ValueError, with the number d in its message, if d is odd.",
            ("an odd width", "an odd width, no token"),
        ),
    ),
    kind=Kind.TRANSFER,
)
