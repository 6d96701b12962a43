"""The exercise `layers_to_reach`: the path length of a layer that you can only run, not read."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction
from solutions import self_attention as solutions

layers_to_reach = Declaration(
    solutions.layers_to_reach,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Change the token, run the layer again, and see which outputs change. Then let those be "
        "the tokens that you change.",
        "A boolean table says which tokens each output sees in one layer. Fill it column by "
        "column, changing one token for each. From layer to layer, the set of tokens that the "
        "source has reached grows. When does it stop growing?",
        "Section “A token far away”.",
    ),
)


@layers_to_reach.right
def heard(layer, X, source, target):
    rng, Y = np.random.default_rng(5), layer(X)
    size = np.abs(X).max()
    hears = {i: set() for i in range(len(X))}
    for j in range(len(X)):
        for _ in range(2):
            changed = X.copy()
            changed[j] = rng.normal(size=X.shape[1]) * size
            for i in np.flatnonzero(np.abs(layer(changed) - Y).max(axis=1) > 1e-5 * size):
                hears[int(i)].add(j)
    told = {source}
    for layers in range(1, 2 * len(X)):
        told = {i for i, others in hears.items() if others & told}
        if target in told:
            return layers
    return 0


@layers_to_reach.right
def breadth_first(layer, X, source, target):
    size, Y = np.abs(X).max(), layer(X)
    frontier, layers = {source: 0}, 0
    waiting = [source]
    while waiting:
        j = waiting.pop(0)
        layers = frontier[j] + 1
        changed = X.copy()
        changed[j] = size * np.random.default_rng(j).uniform(-1, 1, X.shape[1])
        for i in np.flatnonzero(np.abs(layer(changed) - Y).max(axis=1) > 1e-7 * size):
            if i not in frontier:
                frontier[int(i)] = layers
                waiting.append(int(i))
    return frontier.get(target, 0)


@layers_to_reach.right
def powers(layer, X, source, target):
    n, size = len(X), float(np.abs(X).max())
    table = np.zeros((n, n))
    for j in range(n):
        changed = X.copy()
        changed[j] = size * np.random.default_rng(1).uniform(-1, 1, X.shape[1])
        table[:, j] = np.abs(layer(changed) - layer(X)).sum(axis=1) > 1e-6 * size
    paths = np.eye(n)
    for layers in range(1, n):
        paths = np.minimum(table @ paths, 1)  # the ways of so many layers, counted as one
        if paths[target, source]:
            return layers
    return 0


@layers_to_reach.right
def plain(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
        sees[:, j] = difference > 1e-6 * np.abs(X).max()
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


@layers_to_reach.wrong(
    "one layer only",
    "Take a window of radius 1, and two tokens two positions apart. What has the token between "
    "them learnt after the first layer, and which token looks at it in the second?",
)
def _(layer, X, source, target):
    changed = X.copy()
    changed[source] = -2 * X[source]
    difference = np.abs(layer(changed) - layer(X))[target].max()
    return int(difference > 1e-6 * np.abs(X).max())


layers_to_reach.wrong(
    "rounding taken for influence",
    "Print how much the outputs change, with all digits. Is 1e-16 an influence?",
    plain.edit("> 1e-6 * np.abs(X).max()", "> 0"),
)
layers_to_reach.wrong(
    "source and target exchanged",
    "Which of the two tokens do you change, and which output do you look at? Try a layer that "
    "only looks back.",
    plain.edit("n = len(X)", "n, source, target = len(X), target, source"),
)
layers_to_reach.wrong(
    "layers counted from 0",
    "How many layers does self-attention need to connect two tokens? What do you return for it?",
    plain.edit("range(1, n)", "range(n - 1)"),
)


@layers_to_reach.wrong(
    "the distance in place of the layers", "Where does your function call `layer`?"
)
def _(layer, X, source, target):
    return abs(target - source)


@layers_to_reach.wrong(
    "the distance divided by the reach",
    "That is right for a window without gaps that looks both ways. What if a layer sees only "
    "every second token, or only looks back?",
)
def _(layer, X, source, target):
    changed = X.copy()
    changed[source, 0] *= -2
    difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
    seen = np.flatnonzero(difference > 1e-6 * np.abs(X).max())
    farthest = max(np.abs(seen - source).max(), 1)
    return int(np.ceil(abs(target - source) / farthest))


layers_to_reach.wrong(
    "a tolerance that ignores how large the tokens are",
    "Is 1e-9 a large change for numbers near 1? And for numbers near 1e-9? With what should you "
    "compare a change?",
    plain.edit("> 1e-6 * np.abs(X).max()", "> 1e-8"),
)
layers_to_reach.wrong(
    "the token multiplied by a number",
    "What does your change do to a token of zeros? And would a layer that looks only at a token's "
    "direction notice it?",
    plain.edit(
        "changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()",
        "changed[j] *= 2",
    ),
)
layers_to_reach.wrong(
    "the same number added to every feature",
    "Suppose that a layer first subtracts the mean of a token's features. Would it notice your "
    "change?",
    plain.edit(
        "changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()",
        "changed[j] += np.abs(X).max()",
    ),
)


SELF_ATTEND = SourceFunction(
    "layer",
    """
def layer(X):
    size = np.abs(X).max() + 1e-12
    scores = X @ X.T / size**2
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ X
""",
)

WINDOW_MEAN = SourceFunction(
    "layer",
    """
def layer(X):
    near = np.abs(np.arange(len(X))[:, None] - np.arange(len(X))) <= 1
    return near / near.sum(axis=1, keepdims=True) @ X
""",
)

RUNNING_SUMS = SourceFunction(
    "layer",
    """
def layer(X):
    # neighbours averaged, by differences of running sums: rounding reaches every later token
    sums = np.concatenate([0 * X[:1], np.cumsum(X, axis=0)])
    places = np.arange(len(X))
    first, end = np.maximum(places - 1, 0), np.minimum(places + 2, len(X))
    return (sums[end] - sums[first]) / (end - first)[:, None]
""",
)

LOOKS_BACK_TWO = SourceFunction(
    "layer",
    """
def layer(X):
    back = np.arange(len(X))[:, None] - np.arange(len(X))
    near = (back >= 0) & (back <= 2)
    return near / near.sum(axis=1, keepdims=True) @ X
""",
)

DILATED = SourceFunction(
    "layer",
    """
def layer(X):
    apart = np.abs(np.arange(len(X))[:, None] - np.arange(len(X)))
    near = (apart == 0) | (apart == 2)
    return near / near.sum(axis=1, keepdims=True) @ X
""",
)

ONE_FOR_ALL = SourceFunction(
    "layer",
    """
def layer(X):
    # neighbours, and the first token, which all see and which sees all
    places = np.arange(len(X))
    near = np.abs(places[:, None] - places) <= 1
    near[0], near[:, 0] = True, True
    return near / near.sum(axis=1, keepdims=True) @ X
""",
)

RING = SourceFunction(
    "layer",
    """
def layer(X):
    return (np.roll(X, 1, axis=0) + X + np.roll(X, -1, axis=0)) / 3
""",
)

CENTRED = SourceFunction(
    "layer",
    """
def layer(X):
    # every token minus the mean of its features; then the token and the one before
    X = X - X.mean(axis=1, keepdims=True)
    return (X + np.concatenate([X[:1], X[:-1]])) / 2
""",
)

SOME_LISTEN = SourceFunction(
    "layer",
    """
def layer(X):
    # a token whose first feature is positive listens to the one before it; the others do not
    heard = np.concatenate([X[:1], X[:-1]]).mean(axis=1, keepdims=True)
    listens = X[:, :1] > 0
    return np.concatenate([X[:, :1], (X[:, 1:] + listens * heard) / 2], axis=1)
""",
)

NORMALISED = SourceFunction(
    "layer",
    """
def layer(X):
    # only the direction of a token counts, and neither its length nor its sign; then neighbours
    lengths = np.sqrt((X * X).sum(axis=1, keepdims=True))
    X = np.abs(X) / np.where(lengths > 0, lengths, 1)
    return (X + np.concatenate([X[:1], X[:-1]])) / 2
""",
)

ALONE = SourceFunction(
    "layer",
    """
def layer(X):
    return X - X[:, ::-1] / 3  # the features of a token are mixed, and no two tokens
""",
)

WIDE = 10
"""So many features that in some of them a sum is surely rounded otherwise."""

LAYERS = (SELF_ATTEND, WINDOW_MEAN, RUNNING_SUMS, LOOKS_BACK_TWO, DILATED, ONE_FOR_ALL, RING)


@layers_to_reach.public
def _(rng):
    yield Case("neighbours are averaged", (WINDOW_MEAN, _tokens(rng, 5, 2), 0, 3)).holds(
        "takes tokens of the shape of X and returns outputs of that shape, one a token",
        "The stack applies the same layer again and again",
    )
    yield Case("self-attention", (SELF_ATTEND, _tokens(rng, 6, 3), 0, 5)).holds(
        "takes tokens…", "1 if a single layer is enough"
    )
    yield Case("two tokens, each on its own", (ALONE, _tokens(rng, 2, 3), 0, 1)).holds(
        "0 if no number of layers is"
    )
    X = _tokens(rng, 8, 3)
    yield Case("two tokens back are seen, none ahead", (LOOKS_BACK_TWO, X, 1, 6)).holds(
        "The stack…"
    )
    yield Case("the same layer, in the other direction", (LOOKS_BACK_TWO, X, 6, 1)).holds(
        "two different places, from 0 to n - 1"
    )
    yield Case(
        "every second token is seen, an even distance", (DILATED, _tokens(rng, 9, 2), 7, 1)
    ).holds(
        "the smallest number of layers after which the output at `target` depends on the token "
        "at `source`"
    )
    yield Case(
        "every second token is seen, an odd distance", (DILATED, _tokens(rng, 9, 2), 7, 2)
    ).holds("0 if no number…")
    yield Case(
        "one token sees all others and is seen by all", (ONE_FOR_ALL, _tokens(rng, 9, 2), 3, 8)
    ).holds("the smallest…")
    yield Case("the ends are neighbours", (RING, _tokens(rng, 9, 2), 1, 8)).holds("two different…")
    yield Case("averages from running sums", (RUNNING_SUMS, _tokens(rng, 8, WIDE), 1, 6)).holds(
        "other outputs change by rounding, if at all"
    )
    yield Case("every token is centred", (CENTRED, _tokens(rng, 5, 4), 0, 3)).holds(
        "What it does inside is not known; whom a token sees may depend on that token"
    )
    X = _listening(_tokens(rng, 6, 3))
    yield Case("tokens that listen to the one before", (SOME_LISTEN, X, 0, 4)).holds(
        "What it does…"
    )
    yield Case(
        "one token on the way does not listen", (SOME_LISTEN, _listening(X, but=2), 0, 4)
    ).holds("What it does…")
    yield Case("large numbers", (WINDOW_MEAN, _tokens(rng, 5, 3) * 1e6, 4, 1)).holds(
        "An output that depends on a token changes by more than a thousandth of the largest "
        "number in X when the token is replaced by a random one of that size",
        "(n, d), float64, n at least 2",
    )
    yield Case("tiny numbers", (WINDOW_MEAN, _tokens(rng, 5, 3) * 1e-9, 4, 2)).holds("An output…")
    yield Case("tiny numbers, averages from running sums", _tiny_running(rng)).holds(
        "other outputs…"
    )
    yield Case("a layer that normalises its tokens", (NORMALISED, _tokens(rng, 5, 4), 0, 3)).holds(
        "An output…"
    )
    X = _tokens(rng, 6, 3)
    X[[1, 2, 4]] = 0
    yield Case("tokens of zeros", (WINDOW_MEAN, X, 1, 4)).holds("An output…")
    yield Case("a long way", (WINDOW_MEAN, _tokens(rng, 40, 2), 0, 39)).holds("An output…")


@layers_to_reach.hidden
def _(rng):
    for layer in LAYERS:
        n = int(rng.integers(6, 10))
        for _ in range(2):
            source, target = (int(one) for one in rng.permutation(n)[:2])
            yield Case(
                "a layer of the public cases", (layer, _tokens(rng, n, WIDE), source, target)
            )
    yield Case("each token on its own", (ALONE, _tokens(rng, 4, 3), 3, 0))
    last = int(rng.integers(3, 6))
    yield Case("every token is centred", (CENTRED, _tokens(rng, 6, 4), 0, last))
    X = _listening(_tokens(rng, 7, 3))
    yield Case("tokens that listen to the one before", (SOME_LISTEN, X, 1, last))
    deaf = _listening(X, but=int(rng.integers(2, last + 1)))
    yield Case("one token on the way does not listen", (SOME_LISTEN, deaf, 1, last))
    size = 10.0 ** rng.integers(3, 7)
    yield Case("large numbers", (RUNNING_SUMS, _tokens(rng, 7, WIDE) * size, 1, last))
    yield Case("tiny numbers", (LOOKS_BACK_TWO, _tokens(rng, 7, 3) * 1e-9, 0, last))
    last = int(rng.integers(2, 5))
    yield Case("a layer that normalises its tokens", (NORMALISED, _tokens(rng, 5, 4), 0, last))
    X = _tokens(rng, 6, 3)
    X[1:last] = 0
    yield Case("tokens of zeros", (WINDOW_MEAN, X, 1, last + 1))
    yield Case("two tokens, of one feature", (WINDOW_MEAN, _tokens(rng, 2, 1), 1, 0)).holds(
        "(n, d), float64…"
    )


def _tokens(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """n tokens of d features between a half and 1 in size, some negative."""
    X: np.ndarray = rng.uniform(0.5, 1, size=(n, d)) * rng.choice([-1.0, 1.0], size=(n, d))
    return X


def _listening(X: np.ndarray, but: int | None = None) -> np.ndarray:
    """The tokens, all of which listen in `SOME_LISTEN`, or all but one."""
    sign = np.where(np.arange(len(X)) == but, -1, 1)
    return np.column_stack([sign * np.abs(X[:, 0]), X[:, 1:]])


def _tiny_running(rng: np.random.Generator) -> tuple[SourceFunction, np.ndarray, int, int]:
    return RUNNING_SUMS, _tokens(rng, 8, WIDE) * 1e-9, 0, 5


layers_to_reach.lets_through("n of 1 refused", "there are two tokens or more")
