"""The exercise `prune_heads`: a smaller layer, without some of its heads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

prune_heads = Declaration(
    solutions.prune_heads,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "Find out which heads remain. Then keep their columns of the first three matrices, and "
        "their rows of the last one.",
        "Give each matrix an axis that counts heads: setting new borders is enough. Then one "
        "index picks the heads that remain, and another reshape removes the borders again.",
        "Sections “What W_o is for” and “Removing heads”.",
    ),
)


@prune_heads.right
def marked_columns(W_q, W_k, W_v, W_o, n_heads, removed):
    stays = np.ones(n_heads, dtype=bool)
    stays[removed] = False
    keys = np.repeat(stays, W_k.shape[1] // n_heads)
    values = np.repeat(stays, W_v.shape[1] // n_heads)
    return W_q[:, keys], W_k[:, keys], W_v[:, values], W_o[values]


@prune_heads.right
def pieces(W_q, W_k, W_v, W_o, n_heads, removed):
    gone = {int(h) for h in removed}
    kept = [h for h in range(n_heads) if h not in gone]
    parts = [np.split(W, n_heads, axis=1) for W in (W_q, W_k, W_v)]
    rows = np.split(W_o, n_heads)
    columns = (np.hstack([part[h] for h in kept]) for part in parts)
    return (*columns, np.vstack([rows[h] for h in kept]))


@prune_heads.right
def last_first(W_q, W_k, W_v, W_o, n_heads, removed):
    d_k, d_v = W_q.shape[1] // n_heads, len(W_o) // n_heads
    for h in sorted({int(head) for head in removed}, reverse=True):
        keys, values = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
        W_q, W_k = np.delete(W_q, keys, axis=1), np.delete(W_k, keys, axis=1)
        W_v, W_o = np.delete(W_v, values, axis=1), np.delete(W_o, values, axis=0)
    return W_q, W_k, W_v, W_o


@prune_heads.right
def plain(W_q, W_k, W_v, W_o, n_heads, removed):
    kept = [h for h in range(n_heads) if h not in removed]
    columns = (W.reshape(len(W), n_heads, -1) for W in (W_q, W_k, W_v))
    W_q, W_k, W_v = (W[:, kept].reshape(len(W), -1) for W in columns)
    rows = W_o.reshape(n_heads, -1, W_o.shape[1])[kept]
    return W_q, W_k, W_v, rows.reshape(-1, W_o.shape[1])


@prune_heads.wrong(
    "set to zero and not removed",
    "The output is right, but is your layer any smaller? Which shape should W_q have?",
)
def _(W_q, W_k, W_v, W_o, n_heads, removed):
    rows = W_o.copy().reshape(n_heads, -1, W_o.shape[1])
    rows[removed] = 0
    return W_q.copy(), W_k.copy(), W_v.copy(), rows.reshape(W_o.shape)


prune_heads.wrong(
    "the removed heads kept",
    "Remove head 0 of two. Whose columns are in your W_q?",
    plain.edit("if h not in removed", "if h in removed"),
)


@prune_heads.wrong(
    "head numbers that shift",
    "Remove heads 0 and 2 of four, one after the other. Once head 0 is gone, what is now the "
    "number of the head that used to be number 2?",
)
def _(W_q, W_k, W_v, W_o, n_heads, removed):
    matrices = [W_q, W_k, W_v, W_o.T]
    for head in removed:
        parts = [np.split(W, n_heads, axis=1) for W in matrices]
        stay = [h for h in range(n_heads) if h != head]
        matrices = [np.hstack([part[h] for h in stay]) for part in parts]
        n_heads = len(stay)
    return (*(W.copy() for W in matrices[:3]), matrices[3].T)


@prune_heads.wrong(
    "columns dealt out in turn",
    "Which columns of W_q belong to head 0: the first d_k, or every n_heads-th?",
)
def _(W_q, W_k, W_v, W_o, n_heads, removed):
    def stays(width):
        return ~np.isin(np.arange(width) % n_heads, removed)

    columns = (W[:, stays(W.shape[1])] for W in (W_q, W_k, W_v))
    return (*columns, W_o[stays(len(W_o))])


prune_heads.wrong(
    "rows of W_o kept",
    "The merged heads are narrower now. How many rows must W_o have?",
    plain.edit("rows.reshape(-1, W_o.shape[1])", "W_o.copy()"),
)


@prune_heads.wrong(
    "values taken to be as wide as keys",
    "Let W_v be twice as wide as W_q. How many of its columns belong to one head?",
)
def _(W_q, W_k, W_v, W_o, n_heads, removed):
    d_k = W_q.shape[1] // n_heads
    gone = [h * d_k + i for h in removed for i in range(d_k) if h * d_k + i < len(W_o)]
    gone = np.array(gone, dtype=int)
    columns = (np.delete(W, gone, axis=1) for W in (W_q, W_k, W_v))
    return (*columns, np.delete(W_o, gone, axis=0))


prune_heads.wrong(
    "the rest made larger",
    "If the removed heads had found only zeros, would the terms of the other heads have changed?",
    plain.edit("[kept]", "[kept] * np.asarray(n_heads / len(kept), dtype=W_o.dtype)"),
)
prune_heads.wrong(
    "another order of the heads",
    "Remove head 1 of three. Which of the other two comes first in your layer, and which came "
    "first before?",
    plain.edit("range(n_heads)", "reversed(range(n_heads))"),
)


@prune_heads.public
def _(rng):
    yield Case("two heads of width 1, the first removed", _inputs(rng, 2, 2, 1, 1, 2, [0]))
    yield Case("three heads, the last removed", _inputs(rng, 4, 3, 2, 2, 6, [2])).holds(
        "Columns and rows belong to the heads as in `multi_head_attention`"
    )
    yield Case("values of another width", _inputs(rng, 5, 3, 2, 4, 3, [1])).holds(
        "W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v). W_o: (n_heads * d_v, d_out)",
        "Columns and…",
    )
    yield Case("the same sizes, other numbers", _inputs(rng, 5, 3, 2, 4, 3, [1]))
    yield Case(
        "two of four removed, the later named first", _inputs(rng, 4, 4, 2, 2, 5, [2, 0])
    ).holds(
        "numbers of heads, each from 0 to n_heads - 1, in any order, perhaps none, perhaps one "
        "of them twice; at least one head remains",
        "Returns the tuple (W_q, W_k, W_v, W_o) of the remaining layer: its heads stand in their "
        "old order, and its output is what the old layer's would be if the removed heads had "
        "found zeros",
    )
    yield Case("two neighbours of four removed", _inputs(rng, 4, 4, 2, 3, 5, [1, 2])).holds(
        "Returns the…"
    )
    yield Case("none goes", _inputs(rng, 4, 2, 2, 3, 4, [])).holds("numbers of…")
    yield Case("one head named twice", _inputs(rng, 4, 3, 2, 2, 4, [1, 1])).holds("numbers of…")
    yield Case("the only head is kept, all widths 1", _inputs(rng, 1, 1, 1, 1, 1, [])).holds(
        "numbers of…"
    )
    yield Case(
        "float32, all but one removed", _inputs(rng, 6, 3, 2, 2, 6, [2, 1], np.float32)
    ).holds("numbers of…")
    *matrices, n_heads, removed = _inputs(rng, 3, 3, 2, 3, 4, [0, 2])
    yield Case("tiny numbers", (*(1e-9 * W for W in matrices), n_heads, removed)).holds(
        "W_q and W_k…"
    )


@prune_heads.hidden
def _(rng):
    n_heads, d_k, d_v = (int(size) for size in rng.permutation([3, 4, 5]))
    order = rng.permutation(n_heads)
    yield Case("one goes", _inputs(rng, 6, n_heads, d_k, d_k, 6, order[:1]))
    yield Case("the same sizes, other numbers", _inputs(rng, 6, n_heads, d_k, d_k, 6, order[:1]))
    yield Case(
        "two removed, values of another width",
        _inputs(rng, 2, n_heads, d_k, d_v, 7, np.sort(order[:2])),
    ).holds("W_q and W_k…")
    yield Case("all but one removed", _inputs(rng, 6, n_heads, d_k, d_v, 3, order[1:])).holds(
        "Returns the…"
    )
    yield Case("none goes", _inputs(rng, 6, n_heads, d_k, d_v, 3, []))
    twice = [order[0], order[1], order[0]]
    yield Case(
        "float32, one head named twice", _inputs(rng, 3, n_heads, d_k, d_v, 5, twice, np.float32)
    )
    yield Case("a head for each feature", _inputs(rng, 4, 4, 1, 1, 4, rng.permutation(4)[:2]))


def _inputs(
    rng: np.random.Generator,
    d: int,
    n_heads: int,
    d_k: int,
    d_v: int,
    d_out: int,
    removed: Sequence[int] | np.ndarray,
    dtype: type = np.float64,
) -> tuple[Any, ...]:
    """Four random matrices, the number of heads, and those that go."""
    shapes = (d, n_heads * d_k), (d, n_heads * d_k), (d, n_heads * d_v), (n_heads * d_v, d_out)
    matrices = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    return (*matrices, n_heads, np.array(removed, dtype=int))
