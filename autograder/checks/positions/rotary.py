"""The exercise `rotary`: turn queries and keys by their positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def rotary_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one pair, three positions", (np.array([[1.0, 0.0]] * 3), np.arange(3)))
    yield Case("two pairs", (rng.normal(size=(3, 4)), np.arange(3)))
    yield Case("positions out of order", (rng.normal(size=(4, 6)), np.array([5, 0, 2, 11])))
    heads = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    yield Case("float32, two leading axes", (heads, np.arange(5)))
    places = np.array([[[0, 1, 2]], [[7, 8, 9]]])
    yield Case("positions of each sequence", (rng.normal(size=(2, 2, 3, 4)), places))
    yield Case("no token", (np.zeros((0, 4)), np.arange(0)))
    yield Case("one token, one pair, a batch of one", (rng.normal(size=(1, 1, 2)), np.array([3])))
    yield Case("positions below 0", (rng.normal(size=(3, 4)), np.array([-1, -7, 2])))
    yield Case("positions between whole ones", (rng.normal(size=(3, 4)), np.array([0.5, 1.25, 3])))
    yield Case("far positions", (rng.normal(size=(3, 4)), np.array([5000, 40_000, 131_072])))
    yield Case("one position for all", (rng.normal(size=(2, 3, 4)), np.array([6])))
    yield Case("tiny numbers", (1e-9 * rng.normal(size=(3, 4)), np.arange(3)))
    odd = rng.normal(size=(3, 5))
    yield Case("an odd width", (odd, np.arange(3)), raises=Raises("ValueError", ("5",)))
    one = rng.normal(size=(3, 1))
    yield Case("a width of 1", (one, np.arange(3)), raises=Raises("ValueError", ("1",)))


def rotary_hidden(rng: np.random.Generator) -> Iterator[Case]:
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


def rotary__wrong_way(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) + second * np.sin(angles)
    turned[..., 1::2] = second * np.cos(angles) - first * np.sin(angles)
    return turned


def rotary__halves(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one = first * np.cos(angles) - second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other], axis=-1)


def rotary__not_put_back(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    one = first * np.cos(angles) - second * np.sin(angles)
    other = first * np.sin(angles) + second * np.cos(angles)
    return np.concatenate([one, other], axis=-1)


def rotary__half_exponent(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(d // 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__one_angle(X, positions):
    angles = np.asarray(positions)[..., None]
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__positions_ignored(X, positions):
    n, d = X.shape[-2:]
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__from_one(X, positions):
    d = X.shape[-1]
    angles = (np.asarray(positions)[..., None] + 1) / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__added(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    shifted = np.zeros(X.shape)
    shifted[..., 0::2] = X[..., 0::2] + np.sin(angles)
    shifted[..., 1::2] = X[..., 1::2] + np.cos(angles)
    return shifted


def rotary__no_minus(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * np.cos(angles) + second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__overwritten(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    turned = np.array(X)
    first, second = turned[..., 0::2], turned[..., 1::2]
    turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
    turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return turned


def rotary__loop(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"X has {d} features, which is odd")
    places = np.broadcast_to(positions, X.shape[:-1])
    turned = np.zeros(X.shape)
    for index in np.ndindex(*X.shape[:-1]):
        for i in range(d // 2):
            angle = places[index] / 10000 ** (2 * i / d)
            x, y = X[index][2 * i], X[index][2 * i + 1]
            turned[index][2 * i] = x * np.cos(angle) - y * np.sin(angle)
            turned[index][2 * i + 1] = x * np.sin(angle) + y * np.cos(angle)
    return turned


def rotary__complex(X, positions):
    d = X.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"{d=} should be even")
    angles = np.expand_dims(positions, -1) * 10000.0 ** (-np.arange(0, d, 2) / d)
    points = (X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angles)
    return np.stack([points.real, points.imag], axis=-1).reshape(X.shape)


def rotary__matrices(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"rotary needs an even d (d: {d})")
    pairs = X.reshape(*X.shape[:-1], d // 2, 2)
    places = np.broadcast_to(positions, X.shape[:-1])
    angles = places[..., None] * np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    R = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    return np.einsum("ab...,...b->...a", R, pairs).reshape(X.shape)


ROTARY = Exercise(
    name="rotary",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.rotary,
    cases=rotary_cases,
    hidden=rotary_hidden,
    misconceptions=(
        Misconception(
            "turned the wrong way",
            rotary__wrong_way,
            "Turn the point (1, 0) counter-clockwise by a small angle. Is its second coordinate "
            "above or below 0?",
        ),
        Misconception(
            "pairs (i, i + d/2)",
            rotary__halves,
            "Which two features make the first pair here: 0 and 1, or 0 and d/2? (Libraries "
            "differ.)",
        ),
        Misconception(
            "pairs not put back in place",
            rotary__not_put_back,
            "At position 0 nothing is turned. Does your function then return X?",
        ),
        Misconception(
            "exponent i/d",
            rotary__half_exponent,
            "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
        ),
        Misconception(
            "one angle for all pairs",
            rotary__one_angle,
            "Does every pair turn equally fast?",
        ),
        Misconception(
            "positions ignored",
            rotary__positions_ignored,
            "What if the first token of X stands at position 5? Where is `positions` used?",
        ),
        Misconception(
            "positions from 1",
            rotary__from_one,
            "By which angle is a token at position 0 turned?",
        ),
        Misconception(
            "waves added instead of turning",
            rotary__added,
            "A rotation keeps the length of every vector. Does your function?",
        ),
        Misconception(
            "no minus sign",
            rotary__no_minus,
            "A rotation keeps the length of every vector. Does yours? Which of the four products "
            "is subtracted?",
        ),
        Misconception(
            "the first feature overwritten too early",
            rotary__overwritten,
            "When you compute the second feature of a pair, is the first one still the old one? "
            "Is a slice a copy?",
        ),
    ),
    alternatives=(
        rotary__loop,
        rotary__complex,
        rotary__matrices,
    ),
    help=(
        "Take the even features and the odd ones as two arrays, turn them as x and y, and put "
        "them back in alternate places.",
        "The angles have shape (..., n, d/2): `positions[..., None]` times d/2 speeds. A point "
        "(x, y) turned by a is (x cos a - y sin a, x sin a + y cos a).",
        "Section “Turn the queries and the keys”.",
    ),
    promises=(
        Promise(
            "X: (..., n, d), floating, d even",
            (
                "two pairs",
                "float32, two leading axes",
                "three leading axes",
                "one token, one pair, a batch of one",
                "tiny numbers",
            ),
        ),
        Promise("n may be 0", ("no token",)),
        Promise(
            "positions: (n,), or any shape that broadcasts to (..., n).",
            ("positions of each sequence", "one position for all"),
        ),
        Promise(
            "not necessarily 0, 1, 2 and so on: any numbers, in any order",
            ("positions out of order",),
        ),
        Promise("far ones", ("far positions", "float32, a batch, far positions")),
        Promise("below 0", ("positions below 0",)),
        Promise("between two whole ones", ("positions between whole ones",)),
        Promise(
            "Features 2i and 2i + 1 are a pair, a point in a plane: it is turned "
            "counter-clockwise, from the first axis towards the second, by position / "
            "10000^(2i/d).",
            ("one pair, three positions", "two pairs"),
        ),
        Promise("Returns an array of the shape of X.", ("two pairs", "no token")),
        Promise(
            "Raises ValueError, with the number d in its message, if d is odd.",
            ("an odd width", "an odd width, no token"),
        ),
    ),
)
