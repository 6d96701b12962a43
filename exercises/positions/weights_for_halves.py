"""The exercise `weights_for_halves`: weights moved from one layout of the features to the other."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions import positions as solutions

weights_for_halves = Declaration(
    solutions.weights_for_halves,
    points=3,
    difficulty=4,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "Write down, for one head of six features, the old pairs and the new pairs, one below the "
        "other. Which old column goes where in the new layout?",
        "Reshape the columns to heads, pairs and members of a pair. Which two of these axes must "
        "be swapped, so that all first members come together?",
        "Section “Turn the queries and the keys”.",
    ),
)


@weights_for_halves.right
def loop(W, n_heads):
    d_head = W.shape[-1] // n_heads
    if d_head % 2:
        raise ValueError(f"a head has {d_head} features")
    moved = np.zeros_like(W)
    for h in range(n_heads):
        for i in range(d_head // 2):
            moved[..., h * d_head + i] = W[..., h * d_head + 2 * i]
            moved[..., h * d_head + i + d_head // 2] = W[..., h * d_head + 2 * i + 1]
    return moved


@weights_for_halves.right
def indices(W, n_heads):
    d_head = W.shape[-1] // n_heads
    if d_head % 2 == 1:
        raise ValueError(f"{d_head=} should be even")
    one_head = [*range(0, d_head, 2), *range(1, d_head, 2)]
    order = [h * d_head + feature for h in range(n_heads) for feature in one_head]
    return W[..., order]


@weights_for_halves.right
def matrix(W, n_heads):
    d_head = W.shape[-1] // n_heads
    if d_head & 1:
        raise ValueError(f"heads of {d_head} features cannot be paired")
    identity = np.eye(d_head, dtype=W.dtype)
    permutation = np.concatenate([identity[0::2], identity[1::2]]).T
    return W @ np.kron(np.eye(n_heads, dtype=W.dtype), permutation)


@weights_for_halves.right
def plain(W, n_heads):
    d_head = W.shape[-1] // n_heads
    if d_head % 2:
        raise ValueError(f"heads of {d_head} features")
    pairs = W.reshape(*W.shape[:-1], n_heads, d_head // 2, 2)
    return np.swapaxes(pairs, -1, -2).reshape(W.shape)


unchecked = plain.edit('if d_head % 2:\n    raise ValueError(f"heads of {d_head} features")', "")
the_other_way = weights_for_halves.wrong(
    "converted the other way",
    "With six features, the partners were 0 and 1, 2 and 3, 4 and 5. The library takes the new "
    "columns 0 and 3 for the first pair. Which two old columns are there in your matrix?",
    unchecked.edit("d_head // 2, 2", "2, d_head // 2"),
)


@weights_for_halves.wrong(
    "all heads as one",
    "Which columns are those of head 0, before and after? Has any of your columns moved to "
    "another head?",
)
def _(W, n_heads):
    return np.concatenate([W[..., 0::2], W[..., 1::2]], axis=-1)


@weights_for_halves.wrong(
    "rows for columns", "With x W, does a feature of the query belong to a row or to a column of W?"
)
def _(W, n_heads):
    rows = W.shape[-2] if W.ndim > 1 else 1
    order = [*range(0, rows, 2), *range(1, rows, 2)]
    return W[..., order, :] if W.ndim > 1 else W.copy()


@weights_for_halves.wrong(
    "nothing moved",
    "The library treats columns 0 and d_head/2 as a pair. Were they trained as a pair?",
)
def _(W, n_heads):
    return W.copy()


weights_for_halves.wrong(
    "the second of each pair first",
    "The library rotates from feature i towards feature i + d_head/2. From which feature towards "
    "which was the pair rotated in training?",
    unchecked.edit("np.swapaxes(pairs, -1, -2)", "np.swapaxes(pairs[..., ::-1], -1, -2)"),
)
weights_for_halves.wrong(
    "heads in the wrong place",
    "The columns of a head are side by side. Which axis of your reshaped array counts the heads?",
    unchecked.edit("n_heads, d_head // 2, 2", "d_head // 2, 2, n_heads").edit(
        "np.swapaxes(pairs, -1, -2)", "np.swapaxes(pairs, -3, -2)"
    ),
)
weights_for_halves.wrong(
    "halves exchanged",
    "Which old columns were partners: neighbours, or columns half a head apart?",
    the_other_way.edit("np.swapaxes(pairs, -1, -2)", "pairs[..., ::-1, :]"),
)


@weights_for_halves.public
def _(rng):
    yield Case("one head of six features", (np.arange(12.0).reshape(2, 6), 1)).holds(
        "W was trained with features 2i and 2i + 1 of a head as pair i, as `rotary` has them.",
        "The library takes features i and i + d_head/2 of a head for pair i, and turns that pair "
        "by the same angle in the same sense.",
        "Returns a new array of the shape of W, with the same columns in another order: with it, "
        "every feature has in the library the partner, the angle and the role that it was "
        "trained with.",
    )
    yield Case("one head of four features", (np.arange(12.0).reshape(3, 4), 1)).holds(
        "The library…"
    )
    yield Case("two heads of six features", (rng.normal(size=(5, 12)), 2)).holds(
        "A token x stands on the left, x W; the columns h * d_head to (h + 1) * d_head - 1 are "
        "those of head h."
    )
    yield Case("another two heads of six features", (rng.normal(size=(5, 12)), 2))
    yield Case("as many inputs as columns", (rng.normal(size=(16, 16)), 2)).holds("A token x…")
    yield Case("a bias", (rng.normal(size=18), 3)).holds(
        "W: (..., n_heads * d_head), floating, d_head even: the weights, or their bias"
    )
    yield Case("float32, two leading axes", (rng.normal(size=(2, 3, 4, 16)).astype("f4"), 2)).holds(
        "W: (...…"
    )
    yield Case("heads of two features", (rng.normal(size=(3, 6)), 3)).holds("W: (...…")
    yield Case("one input, one head", (rng.normal(size=(1, 8)), 1)).holds("W: (...…")
    yield Case("a batch of one", (rng.normal(size=(1, 3, 12)), 2))
    yield Case("tiny numbers", (1e-9 * rng.normal(size=(3, 12)), 2)).holds("W: (...…")
    odd = rng.normal(size=(3, 10))
    yield Case("heads of 5 features", (odd, 2), raises=Raises("ValueError", ("5",))).holds(
        "Raises ValueError, with the number d_head in its message, if d_head is odd."
    )
    odd = rng.normal(size=(3, 1))
    yield Case("one head of 1 feature", (odd, 1), raises=Raises("ValueError", ("1",)))


@weights_for_halves.hidden
def _(rng):
    n_heads, half = int(rng.integers(2, 5)), int(rng.integers(3, 6))
    width = 2 * half * n_heads
    yield Case("one head", (rng.normal(size=(3, 2 * half)), 1))
    yield Case("several heads", (rng.normal(size=(width - 1, width)), n_heads)).holds(
        "A token x…", "Returns a…"
    )
    yield Case("as many inputs as columns", (rng.normal(size=(width, width)), n_heads))
    yield Case("a bias", (rng.normal(size=width), n_heads))
    yield Case("float32, a batch", (rng.normal(size=(2, 3, width)).astype("f4"), n_heads))
    yield Case("three leading axes", (rng.normal(size=(2, 1, 3, 2, width)), n_heads)).holds(
        "W: (...…"
    )
    odd = 2 * half + 21
    refused = Raises("ValueError", (str(odd),))
    yield Case("an odd width", (rng.normal(size=(3, 2 * odd)), 2), raises=refused).holds(
        "Raises ValueError…"
    )


weights_for_halves.lets_through(
    "a last axis of length 1 squeezed", "the last axis has an even length"
)
