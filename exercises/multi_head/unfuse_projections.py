"""The exercise `unfuse_projections`: a fused matrix taken apart."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

unfuse_projections = Declaration(
    solutions.unfuse_projections,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "First set borders between the heads, then between the three roles within each head.",
        "How many columns does one head have in all? Which of them are its queries? The width of "
        "its values is what remains after its queries and keys.",
        "The appendix, “One product for three projections”.",
    ),
)


@unfuse_projections.right
def slices(W, n_heads, d_k):
    width = W.shape[1] // n_heads
    W_q, W_k, W_v = [], [], []
    for h in range(n_heads):
        first = h * width
        W_q.append(W[:, first : first + d_k])
        W_k.append(W[:, first + d_k : first + 2 * d_k])
        W_v.append(W[:, first + 2 * d_k : first + width])
    return np.hstack(W_q), np.hstack(W_k), np.hstack(W_v)


@unfuse_projections.right
def columns_by_number(W, n_heads, d_k):
    width = W.shape[1] // n_heads
    place = np.arange(W.shape[1]) % width
    role = (place >= d_k).astype(int) + (place >= 2 * d_k)
    return W[:, role == 0], W[:, role == 1], W[:, role == 2]


@unfuse_projections.right
def heads_first(W, n_heads, d_k):
    heads = np.moveaxis(W.T.reshape(n_heads, -1, W.shape[0]), 2, 1)
    roles = np.split(heads, [d_k, 2 * d_k], axis=-1)
    return tuple(np.concatenate(list(role), axis=-1) for role in roles)


@unfuse_projections.right
def plain(W, n_heads, d_k):
    heads = np.split(W, n_heads, axis=1)
    parts = [np.split(head, [d_k, 2 * d_k], axis=1) for head in heads]
    return tuple(np.hstack(role) for role in zip(*parts, strict=True))


@unfuse_projections.wrong(
    "role by role",
    "With two heads, the columns after the first d_k: are they queries of the second head, or "
    "keys of the first?",
)
def _(W, n_heads, d_k):
    return tuple(np.split(W, [n_heads * d_k, 2 * n_heads * d_k], axis=1))


unfuse_projections.wrong(
    "keys before queries",
    "In which order are the three roles of one head in W?",
    slices.edit("np.hstack(W_q), np.hstack(W_k)", "np.hstack(W_k), np.hstack(W_q)"),
)
unfuse_projections.wrong(
    "columns dealt out in turn",
    "Which columns of W belong to the first head: the first ones, or every second one?",
    plain.edit("np.split(W, n_heads, axis=1)", "[W[:, h::n_heads] for h in range(n_heads)]"),
)
unfuse_projections.wrong(
    "values taken to be as wide as keys",
    "W is wider than three times n_heads * d_k. What do the columns that you leave out belong to?",
    plain.edit(
        "np.split(head, [d_k, 2 * d_k], axis=1)",
        "[head[:, r * d_k : (r + 1) * d_k] for r in range(3)]",
    ),
)
unfuse_projections.wrong(
    "transposed",
    "`X @ W_q` has to give the queries. How many rows does your W_q have, and how many features "
    "does a token have?",
    plain.edit("np.hstack(role)", "np.hstack(role).T"),
)


@unfuse_projections.wrong(
    "heads exchanged with their features",
    "Which columns of your W_q belong to the first head: adjacent ones, or every second one?",
)
def _(W, n_heads, d_k):
    by_head = W.reshape(len(W), n_heads, -1)
    roles = by_head[..., :d_k], by_head[..., d_k : 2 * d_k], by_head[..., 2 * d_k :]
    return tuple(np.swapaxes(role, 1, 2).reshape(len(W), -1) for role in roles)


@unfuse_projections.public
def _(rng):
    W = np.array([[10.0, 11, 20, 21, 30, 31, 12, 13, 22, 23, 32, 33]])
    yield Case("one feature, two heads of width 2", (W, 2, 2)).holds(
        "W: (d, n_heads * (2 * d_k + d_v)), head by head, and for each head queries, keys and "
        "values"
    )
    yield Case("two heads, all widths equal", _inputs(rng, 4, 2, 2, 2)).holds("W: (d, n_heads…")
    yield Case("three heads, values of another width", _inputs(rng, 5, 3, 2, 4)).holds(
        "n_heads, d_k and d_v are at least 1; d_v follows from the others and may differ from d_k"
    )
    yield Case("the same sizes, other numbers", _inputs(rng, 5, 3, 2, 4))
    yield Case("one head", _inputs(rng, 3, 1, 4, 2))
    yield Case("a head for each feature", _inputs(rng, 3, 3, 1, 1))
    yield Case("one head, all widths 1", _inputs(rng, 1, 1, 1, 1)).holds("n_heads, d_k…")
    yield Case("float32, two heads of three features", _inputs(rng, 6, 2, 3, 3, np.float32)).holds(
        "Returns the tuple (W_q, W_k, W_v) of shapes (d, n_heads * d_k), (d, n_heads * d_k) and "
        "(d, n_heads * d_v)"
    )
    W, n_heads, d_k = _inputs(rng, 4, 2, 3, 2)
    yield Case("tiny numbers", (W * 1e-9, n_heads, d_k)).holds("W: (d, n_heads…")


@unfuse_projections.hidden
def _(rng):
    d, n_heads, d_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    yield Case("all widths equal", _inputs(rng, n_heads * d_k, n_heads, d_k, d_k))
    yield Case("values of another width", _inputs(rng, d, n_heads, d_k, d_v)).holds("Returns the…")
    yield Case("the same sizes, other numbers", _inputs(rng, d, n_heads, d_k, d_v))
    yield Case("one head", _inputs(rng, d, 1, d_k, d_v))
    yield Case("keys of width 1", _inputs(rng, d, n_heads, 1, d_v)).holds("n_heads, d_k…")
    yield Case("values of width 1", _inputs(rng, 1, n_heads, d_k, 1)).holds("n_heads, d_k…")
    yield Case("float32", _inputs(rng, d, n_heads, d_k, d_v, np.float32))


def _inputs(
    rng: np.random.Generator, d: int, n_heads: int, d_k: int, d_v: int, dtype: type = np.float64
) -> tuple[Any, ...]:
    """A random fused projection, the number of heads, and the width of a key."""
    return rng.normal(size=(d, n_heads * (2 * d_k + d_v))).astype(dtype), n_heads, d_k
