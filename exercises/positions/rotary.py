"""The exercise `rotary`: turn queries and keys by their positions."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import positions as solutions

rotary = Declaration(
    solutions.rotary,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Take the even features and the odd ones as two arrays, rotate them as x and y, and put "
        "them back in alternate columns.",
        "The angles have shape (..., n, d/2): `positions[..., None]` times d/2 speeds. A point "
        "(x, y) rotated by a is (x cos a - y sin a, x sin a + y cos a).",
        "Section “Turn the queries and the keys”.",
    ),
)


@rotary.right
def loop(X, positions):
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


@rotary.right
def by_complex(X, positions):
    d = X.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"{d=} should be even")
    angles = np.expand_dims(positions, -1) * 10000.0 ** (-np.arange(0, d, 2) / d)
    points = (X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angles)
    return np.stack([points.real, points.imag], axis=-1).reshape(X.shape)


@rotary.right
def matrices(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"rotary needs an even d (d: {d})")
    pairs = X.reshape(*X.shape[:-1], d // 2, 2)
    places = np.broadcast_to(positions, X.shape[:-1])
    angles = places[..., None] * np.exp(-np.log(10000) * np.arange(0, d, 2) / d)
    R = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    return np.einsum("ab...,...b->...a", R, pairs).reshape(X.shape)


@rotary.right
def plain(X, positions):
    d = X.shape[-1]
    if d % 2:
        raise ValueError(f"{d} features")
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.zeros(X.shape)
    turned[..., 0::2] = first * cosine - second * sine
    turned[..., 1::2] = first * sine + second * cosine
    return turned


unchecked = plain.edit('if d % 2:\n    raise ValueError(f"{d} features")', "")

rotary.wrong(
    "rotated the wrong way",
    "Rotate the point (1, 0) counter-clockwise by a small angle. Is its second coordinate above "
    "or below 0?",
    unchecked.edit("np.sin(angles)", "-np.sin(angles)"),
)


@rotary.wrong(
    "pairs (i, i + d/2)",
    "Which two features make the first pair here: 0 and 1, or 0 and d/2? (Libraries differ.)",
)
def halves(X, positions):
    d = X.shape[-1]
    angles = np.asarray(positions)[..., None] / 10000 ** (np.arange(0, d, 2) / d)
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = X[..., : d // 2], X[..., d // 2 :]
    one, other = first * cosine - second * sine, first * sine + second * cosine
    return np.concatenate([one, other], axis=-1)


rotary.wrong(
    "pairs not put back in place",
    "At position 0 nothing is rotated. Does your function then return X?",
    halves.edit("X[..., : d // 2], X[..., d // 2 :]", "X[..., 0::2], X[..., 1::2]"),
)
rotary.wrong(
    "exponent i/d",
    "The last pair has i = d/2 - 1. Is its exponent close to 1 or close to 1/2?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(d // 2)"),
)
rotary.wrong(
    "one angle for all pairs",
    "Should every pair rotate equally fast?",
    unchecked.edit(" / 10000 ** (np.arange(0, d, 2) / d)", ""),
)
rotary.wrong(
    "positions ignored",
    "What if the first token of X is at position 5? Where do you use `positions`?",
    unchecked.edit("np.asarray(positions)[..., None]", "np.arange(X.shape[-2])[:, None]"),
)
rotary.wrong(
    "positions from 1",
    "By which angle should a token at position 0 be rotated?",
    unchecked.edit("np.asarray(positions)[..., None]", "(np.asarray(positions)[..., None] + 1)"),
)
rotary.wrong(
    "waves added instead of a rotation",
    "A rotation keeps the length of every vector. Does your function?",
    unchecked.edit("first * cosine - second * sine", "first + sine").edit(
        "first * sine + second * cosine", "second + cosine"
    ),
)
rotary.wrong(
    "no minus sign",
    "A rotation keeps the length of every vector. Does yours? Which of the four products is "
    "subtracted?",
    unchecked.edit("first * cosine - second * sine", "first * cosine + second * sine"),
)
rotary.wrong(
    "the first feature overwritten too early",
    "When you compute the second feature of a pair, does the first one still have its old value? "
    "Is a slice a copy?",
    unchecked.edit(
        "first, second = X[..., 0::2], X[..., 1::2]\nturned = np.zeros(X.shape)",
        "turned = np.array(X)\nfirst, second = turned[..., 0::2], turned[..., 1::2]",
    ),
)


rotary.wrong(
    "exponent 4i/d",
    "If a variable already counts 0, 2, 4, ..., is another factor of 2 needed?",
    unchecked.edit("np.arange(0, d, 2)", "2 * np.arange(0, d, 2)"),
)


rotary.wrong(
    "another base",
    "At position 1, by which angle does the last pair of a very wide token turn: by about 1/10000, "
    "or by more?",
    unchecked.edit("10000", "1000"),
)
rotary.wrong(
    "exponent counted from 1",
    "With one pair, i is 0. By which angle should it turn at position 1?",
    unchecked.edit("np.arange(0, d, 2)", "np.arange(2, d + 1, 2)"),
)
rotary.wrong(
    "the power taken before the quotient",
    "What does Python compute first in 10000 ** a / b: the power, or the quotient? Print your "
    "speeds.",
    unchecked.edit("(np.arange(0, d, 2) / d)", "np.arange(0, d, 2) / d"),
)
rotary.wrong(
    "the slowest pair first",
    "Which pair should turn fastest: the first one, or the last one?",
    unchecked.edit("(np.arange(0, d, 2) / d)", "(np.arange(0, d, 2)[::-1] / d)"),
)
rotary.wrong(
    "sine and cosine exchanged",
    "At position 0 nothing is rotated. Which of sine and cosine is 1 there?",
    unchecked.edit(
        "cosine, sine = np.cos(angles), np.sin(angles)",
        "sine, cosine = np.cos(angles), np.sin(angles)",
    ),
)


@rotary.public
def _(rng):
    yield Case("one pair, three positions", (np.array([[1.0, 0.0]] * 3), np.arange(3))).holds(
        "Features 2i and 2i + 1 are a pair, a point in a plane: it is turned counter-clockwise, "
        "from the first axis towards the second, by position / 10000^(2i/d)."
    )
    yield Case("two pairs", (rng.normal(size=(3, 4)), np.arange(3))).holds(
        "X: (..., n, d), floating, d even", "Features 2i…", "Returns an array of the shape of X."
    )
    yield Case("positions out of order", (rng.normal(size=(4, 6)), np.array([5, 0, 2, 11]))).holds(
        "not necessarily 0, 1, 2 and so on: any numbers, in any order"
    )
    heads = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    yield Case("float32, two leading axes", (heads, np.arange(5))).holds("X: (...…")
    places = np.array([[[0, 1, 2]], [[7, 8, 9]]])
    yield Case("positions of each sequence", (rng.normal(size=(2, 2, 3, 4)), places)).holds(
        "positions: (n,), or any shape that broadcasts to (..., n)."
    )
    yield Case("no token", (np.zeros((0, 4)), np.arange(0))).holds("n may be 0", "Returns an…")
    yield Case(
        "one token, one pair, a batch of one", (rng.normal(size=(1, 1, 2)), np.array([3]))
    ).holds("X: (...…")
    yield Case("positions below 0", (rng.normal(size=(3, 4)), np.array([-1, -7, 2]))).holds(
        "below 0"
    )
    yield Case(
        "positions between whole ones", (rng.normal(size=(3, 4)), np.array([0.5, 1.25, 3]))
    ).holds("between two whole ones")
    yield Case("far positions", (rng.normal(size=(3, 4)), np.array([5000, 40_000, 131_072]))).holds(
        "far ones"
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


@rotary.hidden
def _(rng):
    n, d = int(rng.integers(3, 7)), 2 * int(rng.integers(3, 6))
    yield Case("two pairs", (rng.normal(size=(n, 4)), np.arange(n)))
    yield Case("positions out of order", (rng.normal(size=(n, d)), rng.permutation(40)[:n]))
    places = rng.integers(20, 40, size=(3, 1, n))
    yield Case("positions of each sequence", (rng.normal(size=(3, 2, n, d)), places))
    stack = rng.normal(size=(2, n, d)).astype(np.float32)
    yield Case("float32, a batch, far positions", (stack, 1000 + np.arange(n))).holds("far ones")
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


rotary.mutant(
    "positions cut to whole numbers", "np.asarray(positions)", "np.asarray(positions).astype(int)"
)
rotary.lets_through("a last axis of length 1 squeezed", "the last axis has an even length")
