"""The exercise `layers_until_merged`: how soon a stack of averages forgets who is who."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import mixing as solutions

layers_until_merged = Declaration(
    solutions.layers_until_merged,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "Apply the layer, measure, and count; but measure once before the first layer.",
        "All distances at once: `X[:, None] - X` has shape (n, n, d). Each layer computes its own "
        "weights, from the tokens that it gets.",
        "Section “Three arrows in the plane”.",
    ),
)


@layers_until_merged.right
def pair_by_pair(X, distance):
    def farthest(tokens):
        return max(np.sqrt(((a - b) ** 2).sum()) for a in tokens for b in tokens)

    layers = 0
    while farthest(X) > distance:
        if layers == 100:
            return -1
        scores = X @ X.T
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        X = weights @ X / weights.sum(axis=1, keepdims=True)
        layers += 1
    return layers


@layers_until_merged.right
def all_layers_first(X, distance):
    stack = [X]
    for _ in range(100):
        scores = stack[-1] @ stack[-1].T
        weights = np.exp(scores - scores.max(axis=-1)[:, None])
        stack.append((weights / weights.sum(axis=-1)[:, None]) @ stack[-1])
    apart = [np.linalg.norm(Y[:, None] - Y[None], axis=2).max() for Y in stack]
    close = [layers for layers, most in enumerate(apart) if most <= distance]
    return close[0] if close else -1


@layers_until_merged.right
def recursive(X, distance):
    def merged(Y):
        return not np.any(((Y[:, None] - Y) ** 2).sum(axis=-1) > distance**2)

    def count(Y, left):
        if merged(Y):
            return 0
        if left == 0:
            return -1
        scores = Y @ Y.T
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        below = count(weights / weights.sum(axis=1, keepdims=True) @ Y, left - 1)
        return below if below < 0 else below + 1

    return count(X, 100)


@layers_until_merged.right
def plain(X, distance):
    for layers in range(101):
        difference = X[:, None] - X
        if np.sqrt((difference**2).sum(axis=-1)).max() <= distance:
            return layers
        scores = X @ X.T
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
        X = weights @ X
    return -1


layers_until_merged.wrong(
    "measured only after a layer",
    "What should come back for tokens that are close together before the first layer?",
    plain.edit("range(101)", "range(1, 102)"),
)


@layers_until_merged.wrong(
    "the weights of the first layer used again",
    "The second layer reads the outputs of the first. Whose dot products are its scores?",
)
def _(X, distance):
    scores = X @ X.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    for layers in range(101):
        if np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1)).max() <= distance:
            return layers
        X = weights @ X
    return -1


layers_until_merged.wrong(
    "neighbours compared only",
    "Three tokens on a line: the first is near the second, and the second near the third. How far "
    "apart are the first and the third?",
    plain.edit("X[:, None] - X", "X[1:] - X[:-1] if len(X) > 1 else 0 * X"),
)
layers_until_merged.wrong(
    "the largest difference of one feature",
    "What is the length of the difference (3, 4)?",
    plain.edit("np.sqrt((difference**2).sum(axis=-1)).max()", "np.abs(difference).max()"),
)
layers_until_merged.wrong(
    "the distance squared",
    "With two tokens 0.1 apart, is your measure 0.1 or 0.01?",
    plain.edit("np.sqrt((difference**2).sum(axis=-1)).max()", "(difference**2).sum(axis=-1).max()"),
)
layers_until_merged.wrong(
    "the mean distance",
    "May one token be far away from nine others that are close together?",
    plain.edit(".max() <= distance", ".mean() <= distance"),
)
layers_until_merged.wrong(
    "the distance from the mean",
    "Two tokens, one on either side of their mean: how far are they from it, and from each other?",
    plain.edit("X[:, None] - X", "X - X.mean(axis=0)"),
)
layers_until_merged.wrong(
    "softmax along the columns",
    "Which direction of your weights sums to 1, the rows or the columns?",
    plain.edit("axis=1, keepdims=True", "axis=0, keepdims=True", times=2),
)
layers_until_merged.wrong(
    "100 where it never merges",
    "What does the docstring ask for if 100 layers are not enough?",
    plain.edit("return -1", "return 100"),
)


ARROWS = np.array([[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]]) - [0.5, np.sqrt(1 / 12)]


@layers_until_merged.public
def _(rng):
    yield Case("the three arrows, to a tenth", (ARROWS, 0.1)).holds(
        "The layer is softmax(X X^T) X, and each layer reads the outputs of the one before",
        "Returns the smallest number of layers after which no two tokens are farther apart than "
        "`distance` (the length of their difference)",
    )
    yield Case("the three arrows, to a millionth", (ARROWS, 1e-6)).holds("The layer…")
    yield Case("close together already", (1 + 0.01 * rng.normal(size=(4, 3)), 0.2)).holds(
        "0 if they are that close already"
    )
    yield Case("arrows three times as long, which never merge", (3 * ARROWS, 0.1)).holds(
        "and -1 if 100 layers are not enough", "their scores may be large"
    )
    line = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]])
    yield Case("three tokens on a line, their ends 1 apart", (line, 0.9)).holds("distance: above 0")
    slanted = np.array([[0.0, 0.0], [0.6, 0.8]])
    yield Case("two tokens that differ by (0.6, 0.8)", (slanted, 0.9)).holds("Returns the…")
    far = np.array([100.0, 100.0]) + 0.1 * rng.normal(size=(4, 2))
    yield Case("tokens far from 0", (far, 1e-3)).holds("their scores may…")
    yield Case("a long token and a short one", (np.array([[50.0, 0.0], [0.0, 1.0]]), 0.5)).holds(
        "their scores may…"
    )
    yield Case("a distance between two layers'", (rng.normal(size=(6, 4)), 0.02)).holds(
        "Returns the…"
    )
    yield Case("one token", (rng.normal(size=(1, 3)), 0.5)).holds("n at least 1")
    yield Case("five tokens together and one apart", (_one_apart(rng), 0.8)).holds("Returns the…")
    yield Case("a triangle with sides of 1", (TRIANGLE, 0.62)).holds("Returns the…")
    yield Case("two tokens 0.6 apart", (np.array([[0.2, 0.1], [0.2, 0.7]]), 0.5)).holds(
        "Returns the…"
    )
    yield Case("two of six tokens, far from the others", (_two_groups(rng), 2.0)).holds(
        "and -1 if…"
    )
    yield Case("short tokens", (1e-3 * rng.normal(size=(5, 2)), 1e-9)).holds("distance: above…")


@layers_until_merged.hidden
def _(rng):
    n, d = (int(size) for size in rng.permutation([4, 6]))
    yield Case("random tokens", (rng.normal(size=(n, d)), 0.05))
    yield Case("other random tokens", (rng.normal(size=(n, d)), 0.05))
    yield Case("longer tokens", (1.4 * rng.normal(size=(7, 2)), 1e-3))
    yield Case("close together already", (rng.normal() + 0.01 * rng.normal(size=(n, d)), 0.3))
    yield Case("three tokens on a line", (np.array([[-0.5, 0], [0, 0], [0.5, 0]]), 0.9))
    yield Case("two tokens that differ by (0.6, -0.8)", (np.array([[0, 0.8], [0.6, 0]]), 0.9))
    yield Case("tokens far from 0", (70 + 0.1 * rng.normal(size=(5, 3)), 1e-3))
    yield Case("a long token and a short one", (np.array([[0.0, 60.0], [1.0, 0.0]]), 0.5))
    yield Case("two groups that stay apart", (_two_groups(rng), 1.0))
    yield Case("five tokens together and one apart", (_one_apart(rng), 0.85))
    yield Case("a triangle with sides of 1, turned", (TRIANGLE @ _turn(rng.uniform(0, 6)), 0.61))
    yield Case("two tokens 0.6 apart", (np.array([[0.6, 0.3], [0.0, 0.3]]), 0.45))
    yield Case("the three arrows, turned", (ARROWS @ _turn(rng.uniform(0, 6)), 0.01))


def _two_groups(rng: np.random.Generator) -> np.ndarray:
    """Four tokens around (5, 0) and two around (0, 5), which do not merge."""
    centres = np.array([[5.0, 0.0]] * 4 + [[0.0, 5.0]] * 2)
    return centres + 0.1 * rng.normal(size=(6, 2))


def _one_apart(rng: np.random.Generator) -> np.ndarray:
    """Five tokens close to (0.5, 0), and one about 1 away from them."""
    tokens = np.array([[0.5, 0.0]] * 5 + [[-0.5, 0.0]])
    return tokens + 0.01 * rng.normal(size=(6, 2))


def _turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


layers_until_merged.lets_through(
    "a softmax shifted by no less than 0", "a token's score with itself is never below 0"
)
layers_until_merged.lets_through(
    "a softmax with 1e-6 in its denominator", "a millionth does not change the count"
)
