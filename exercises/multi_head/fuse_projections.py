"""The exercise `fuse_projections`: three matrices in one, head by head."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

fuse_projections = Declaration(
    solutions.fuse_projections,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "Cut each matrix into the columns of its heads, and arrange the pieces in the order that "
        "the docstring gives.",
        "New borders in the last axis are enough to separate the heads: (d, n_heads, d_k). Along "
        "which axis are the three roles of one head then put side by side?",
        "The appendix, “One product for three projections”.",
    ),
)


@fuse_projections.right
def slices(W_q, W_k, W_v, n_heads):
    d_k, d_v = W_q.shape[1] // n_heads, W_v.shape[1] // n_heads
    whole = np.zeros((len(W_q), n_heads * (2 * d_k + d_v)), dtype=W_q.dtype)
    for h in range(n_heads):
        first = h * (2 * d_k + d_v)
        whole[:, first : first + d_k] = W_q[:, h * d_k : (h + 1) * d_k]
        whole[:, first + d_k : first + 2 * d_k] = W_k[:, h * d_k : (h + 1) * d_k]
        whole[:, first + 2 * d_k : first + 2 * d_k + d_v] = W_v[:, h * d_v : (h + 1) * d_v]
    return whole


@fuse_projections.right
def plain(W_q, W_k, W_v, n_heads):
    columns = []
    for parts in zip(*(np.split(W, n_heads, axis=1) for W in (W_q, W_k, W_v)), strict=True):
        columns.extend(parts)
    return np.concatenate(columns, axis=1)


@fuse_projections.right
def columns_in_order(W_q, W_k, W_v, n_heads):
    owner = [np.repeat(np.arange(n_heads), W.shape[1] // n_heads) for W in (W_q, W_k, W_v)]
    order = np.argsort(np.concatenate(owner), kind="stable")
    return np.concatenate([W_q, W_k, W_v], axis=1)[:, order]


@fuse_projections.wrong(
    "role by role",
    "With two heads, which columns come right after the queries of the first head: its keys, or "
    "the queries of the second head?",
)
def _(W_q, W_k, W_v, n_heads):
    return np.hstack([W_q, W_k, W_v])


fuse_projections.wrong(
    "keys before queries",
    "In which order does the docstring put the three roles of one head?",
    plain.edit("(W_q, W_k, W_v)", "(W_k, W_q, W_v)"),
)
fuse_projections.wrong(
    "columns dealt out in turn",
    "Which columns of W_q belong to the first head: the first d_k of them, or every second one?",
    plain.edit("np.split(W, n_heads, axis=1)", "[W[:, h::n_heads] for h in range(n_heads)]"),
)


@fuse_projections.wrong(
    "values taken to be as wide as keys",
    "Let W_v be twice as wide as W_q. How many of its columns belong to each head, and how many "
    "do you take?",
)
def _(W_q, W_k, W_v, n_heads):
    d_k = W_q.shape[1] // n_heads
    slices = [slice(h * d_k, (h + 1) * d_k) for h in range(n_heads)]
    return np.hstack([W[:, mine] for mine in slices for W in (W_q, W_k, W_v)])


fuse_projections.wrong(
    "transposed",
    "`X @ W` has to give the queries, keys and values. How many rows does your matrix have, and "
    "how many features does a token have?",
    plain.edit("np.concatenate(columns, axis=1)", "np.concatenate(columns, axis=1).T"),
)
fuse_projections.wrong(
    "an axis left for the heads",
    "How many axes does your result have, and how many does a matrix have?",
    plain.edit("columns.extend(parts)", "columns.append(np.hstack(parts))").edit(
        "np.concatenate(columns, axis=1)", "np.stack(columns)"
    ),
)


@fuse_projections.public
def _(rng):
    W_q, W_k, W_v = (np.arange(4.0).reshape(1, 4) + role for role in (10, 20, 30))
    yield Case("one feature, two heads of width 2", (W_q, W_k, W_v, 2)).holds(
        "Returns a matrix of shape (d, n_heads * (2 * d_k + d_v)): the columns of the first head "
        "for queries, then those for keys, then those for values, then the same of the second "
        "head, and so on"
    )
    yield Case("two heads, all widths equal", _inputs(rng, 4, 2, 2, 2)).holds(
        "W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v)"
    )
    yield Case("three heads, values of another width", _inputs(rng, 5, 3, 2, 4)).holds(
        "W_q and W_k…"
    )
    yield Case("the same sizes, other numbers", _inputs(rng, 5, 3, 2, 4))
    yield Case("one head", _inputs(rng, 3, 1, 4, 2)).holds(
        "All widths are at least 1, and the columns belong to the heads as in "
        "`multi_head_attention`"
    )
    yield Case("a head for each feature", _inputs(rng, 3, 3, 1, 1)).holds("All widths…")
    yield Case("one head, all widths 1", _inputs(rng, 1, 1, 1, 1)).holds("All widths…")
    yield Case("float32, two heads of three features", _inputs(rng, 6, 2, 3, 3, np.float32)).holds(
        "W_q and W_k…"
    )
    W_q, W_k, W_v, n_heads = _inputs(rng, 4, 2, 3, 2)
    yield Case("tiny numbers", (W_q * 1e-9, W_k * 1e-9, W_v * 1e-9, n_heads)).holds("W_q and W_k…")


@fuse_projections.hidden
def _(rng):
    d, n_heads, d_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    yield Case("all widths equal", _inputs(rng, n_heads * d_k, n_heads, d_k, d_k))
    yield Case("values of another width", _inputs(rng, d, n_heads, d_k, d_v)).holds("Returns a…")
    yield Case("the same sizes, other numbers", _inputs(rng, d, n_heads, d_k, d_v))
    yield Case("one head", _inputs(rng, d, 1, d_k, d_v))
    yield Case("keys of width 1", _inputs(rng, d, n_heads, 1, d_v))
    yield Case("values of width 1", _inputs(rng, 1, n_heads, d_k, 1)).holds("All widths…")
    yield Case("float32", _inputs(rng, d, n_heads, d_k, d_v, np.float32))


def _inputs(
    rng: np.random.Generator, d: int, n_heads: int, d_k: int, d_v: int, dtype: type = np.float64
) -> tuple[Any, ...]:
    """Three random projections, and the number of heads."""
    widths = n_heads * d_k, n_heads * d_k, n_heads * d_v
    return (*(rng.normal(size=(d, width)).astype(dtype) for width in widths), n_heads)


fuse_projections.lets_through("a last axis of length 1 squeezed", "there are three columns or more")
