"""The exercise `rotary_by_halves`: the same turns with other partners."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions import positions as solutions

rotary_by_halves = Declaration(
    solutions.rotary_by_halves,
    points=2,
    difficulty=2,
    minutes=10,
    kind=Kind.TRANSFER,
    help=(
        "It is the same rotation as in `rotary`. The only difference is which two features are x "
        "and y.",
        "x is the first half of the features, and y is the second; d/2 angles rotate d/2 points. "
        "Put the two halves back one after the other.",
        "Section “Turn the queries and the keys”.",
    ),
)


@rotary_by_halves.right
def loop(X, positions):
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


@rotary_by_halves.right
def other_half(X, positions):
    half, rest = divmod(X.shape[-1], 2)
    if rest:
        raise ValueError(f"{2 * half + rest} features have no two halves")
    angles = np.expand_dims(positions, -1) * np.tile(10000.0 ** (-np.arange(half) / half), 2)
    other = np.concatenate([-X[..., half:], X[..., :half]], axis=-1)
    return X * np.cos(angles) + other * np.sin(angles)


@rotary_by_halves.right
def by_complex(X, positions):
    d = X.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"{d=} should be even")
    angles = np.asarray(positions)[..., None] * np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    points = (X[..., : d // 2] + 1j * X[..., d // 2 :]) * np.exp(1j * angles)
    return np.concatenate([points.real, points.imag], axis=-1)


@rotary_by_halves.right
def plain(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"{d} features")
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one, other = first * cosine - second * sine, first * sine + second * cosine
    return np.concatenate([one, other], axis=-1)


unchecked = plain.edit('if d % 2:\n    raise ValueError(f"{d} features")', "")


@rotary_by_halves.wrong(
    "neighbours as partners", "With six features, which one is the partner of feature 0: 1 or 3?"
)
def neighbours(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * cosine - second * sine
    turned[..., 1::2] = first * sine + second * cosine
    return turned


rotary_by_halves.wrong(
    "halves not put back in place",
    "At position 0 nothing is rotated. Does your function then return X?",
    neighbours.edit("X[..., 0::2], X[..., 1::2]", "X[..., : d // 2], X[..., d // 2 :]"),
)


@rotary_by_halves.wrong(
    "the angles of neighbours",
    "Features 0 and d/2 are a pair. Do they share an angle in your function?",
)
def _(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    angles = np.repeat(angles, 2, axis=-1)
    other = np.concatenate([-X[..., d // 2 :], X[..., : d // 2]], axis=-1)
    return X * np.cos(angles) + other * np.sin(angles)


rotary_by_halves.wrong(
    "rotated the wrong way",
    "Rotate the point (1, 0) counter-clockwise by a small angle. Is its second coordinate above "
    "or below 0?",
    unchecked.edit("np.sin(angles)", "-np.sin(angles)"),
)
rotary_by_halves.wrong(
    "no minus sign",
    "A rotation keeps the length of every vector. Does yours? Which of the four products is "
    "subtracted?",
    unchecked.edit("first * cosine - second * sine", "first * cosine + second * sine"),
)
rotary_by_halves.wrong(
    "exponent i/d",
    "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(d // 2)"),
)
rotary_by_halves.wrong(
    "partners counted from both ends",
    "With six features, which one is the partner of feature 0: 3 or 5?",
    unchecked.edit("X[..., d // 2 :]", "X[..., ::-1][..., : d // 2]").edit(
        "[one, other]", "[one, other[..., ::-1]]"
    ),
)
rotary_by_halves.wrong(
    "positions ignored",
    "What if the first token of X is at position 5? Where do you use `positions`?",
    unchecked.edit("np.asarray(positions)[..., None]", "np.arange(X.shape[-2])[:, None]"),
)


rotary_by_halves.wrong(
    "exponent 4i/d",
    "If a variable already counts 0, 2, 4, ..., is another factor of 2 needed?",
    unchecked.edit("np.arange(0, d, 2)", "2 * np.arange(0, d, 2)"),
)


rotary_by_halves.wrong(
    "another base",
    "At position 1, by which angle does the last pair of a very wide token turn: by about 1/10000, "
    "or by more?",
    unchecked.edit("10000", "1000"),
)
rotary_by_halves.wrong(
    "exponent counted from 1",
    "With one pair, i is 0. By which angle should it turn at position 1?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(2, d + 1, 2)"),
)
rotary_by_halves.wrong(
    "the power taken before the quotient",
    "What does Python compute first in 10000 ** a / b: the power, or the quotient? Print your "
    "speeds.",
    unchecked.edit("(np.arange(0, d, 2) / d)", "np.arange(0, d, 2) / d"),
)
rotary_by_halves.wrong(
    "the slowest pair first",
    "Which pair should turn fastest: the first one, or the last one?",
    unchecked.edit("(np.arange(0, d, 2) / d)", "(np.arange(0, d, 2)[::-1] / d)"),
)
rotary_by_halves.wrong(
    "sine and cosine exchanged",
    "At position 0 nothing is rotated. Which of sine and cosine is 1 there?",
    unchecked.edit(
        "cosine, sine = np.cos(angles), np.sin(angles)",
        "sine, cosine = np.cos(angles), np.sin(angles)",
    ),
)


@rotary_by_halves.public
def _(rng):
    yield Case("one pair, three positions", (np.array([[1.0, 0.0]] * 3), np.arange(3))).holds(
        "It is turned counter-clockwise, from feature i towards feature i + d/2, by position / "
        "10000^(2i/d)"
    )
    yield Case("two pairs", (np.array([[1.0, 1.0, 0.0, 0.0]] * 3), np.arange(3))).holds(
        "X: (..., n, d), floating, d even, n may be 0",
        "Features i and i + d/2 are a pair, for i = 0 ... d/2 - 1",
        "It is turned…",
        "Returns an array of the shape of X.",
    )
    yield Case(
        "three pairs, positions out of order", (rng.normal(size=(3, 6)), np.array([5, 0, 2]))
    ).holds("Features i…")
    heads = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    yield Case("float32, two leading axes", (heads, np.arange(5))).holds("X: (...…")
    places = np.array([[[0, 1, 2]], [[7, 8, 9]]])
    yield Case("positions of each sequence", (rng.normal(size=(2, 2, 3, 8)), places)).holds(
        "positions: (n,), or any shape that broadcasts to (..., n), any numbers"
    )
    yield Case("no token", (np.zeros((0, 4)), np.arange(0))).holds("X: (...…", "Returns an…")
    yield Case(
        "one token, one pair, a batch of one", (rng.normal(size=(1, 1, 2)), np.array([3]))
    ).holds("X: (...…")
    yield Case("positions below 0", (rng.normal(size=(3, 4)), np.array([-1, -7, 2]))).holds(
        "positions: (n,)…"
    )
    yield Case(
        "positions between whole ones", (rng.normal(size=(3, 6)), np.array([0.5, 1.25, 3]))
    ).holds("positions: (n,)…")
    yield Case("far positions", (rng.normal(size=(3, 4)), np.array([5000, 40_000, 131_072]))).holds(
        "positions: (n,)…"
    )
    yield Case("one position for all", (rng.normal(size=(2, 3, 4)), np.array([6]))).holds(
        "positions: (n,)…"
    )
    yield Case("tiny numbers", (1e-9 * rng.normal(size=(3, 4)), np.arange(3))).holds("X: (...…")
    odd = rng.normal(size=(3, 5))
    yield Case("an odd width", (odd, np.arange(3)), raises=Raises("ValueError", ("5",))).holds(
        "Raises ValueError, with the number d in its message, if d is odd."
    )
    one = rng.normal(size=(3, 1))
    yield Case("a width of 1", (one, np.arange(3)), raises=Raises("ValueError", ("1",)))


@rotary_by_halves.hidden
def _(rng):
    n, d = int(rng.integers(3, 7)), 2 * int(rng.integers(3, 6))
    yield Case("two pairs", (rng.normal(size=(n, 4)), np.arange(n)))
    yield Case("positions out of order", (rng.normal(size=(n, d)), rng.permutation(40)[:n])).holds(
        "positions: (n,)…"
    )
    places = rng.integers(20, 40, size=(3, 1, n))
    yield Case("positions of each sequence", (rng.normal(size=(3, 2, n, d)), places))
    stack = rng.normal(size=(2, n, d)).astype(np.float32)
    yield Case("float32, a batch, far positions", (stack, 1000 + np.arange(n))).holds(
        "positions: (n,)…"
    )
    yield Case("three leading axes", (rng.normal(size=(2, 1, 3, n, d)), np.arange(n))).holds(
        "X: (...…"
    )
    yield Case("positions below 0", (rng.normal(size=(n, d)), -rng.permutation(40)[:n]))
    yield Case("positions between whole ones", (rng.normal(size=(n, d)), rng.normal(size=n)))
    yield Case("far positions", (rng.normal(size=(n, d)), rng.integers(5000, 90_000, size=n)))
    odd = d + 21
    refused = Raises("ValueError", (str(odd),))
    yield Case("an odd width", (rng.normal(size=(n, odd)), np.arange(n)), raises=refused)
    yield Case("an odd width, no token", (np.zeros((0, odd)), np.arange(0)), raises=refused).holds(
        "Raises ValueError…"
    )


rotary_by_halves.lets_through(
    "a last axis of length 1 squeezed", "the last axis has an even length"
)
