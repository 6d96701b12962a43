"""The exercise `unfuse_projections`: somebody's fused matrix, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solutions import multi_head as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def unfuse_cases(rng: np.random.Generator) -> Iterator[Case]:
    W = np.array([[10.0, 11, 20, 21, 30, 31, 12, 13, 22, 23, 32, 33]])
    yield Case("one feature, two heads of width 2", (W, 2, 2))
    yield Case("two heads, all widths alike", _inputs(rng, 4, 2, 2, 2))
    yield Case("three heads, values of another width", _inputs(rng, 5, 3, 2, 4))
    yield Case("the same sizes, other numbers", _inputs(rng, 5, 3, 2, 4))
    yield Case("one head", _inputs(rng, 3, 1, 4, 2))
    yield Case("a head for each feature", _inputs(rng, 3, 3, 1, 1))
    yield Case("one head, all widths 1", _inputs(rng, 1, 1, 1, 1))
    yield Case("float32, two heads of three features", _inputs(rng, 6, 2, 3, 3, np.float32))
    W, n_heads, d_k = _inputs(rng, 4, 2, 3, 2)
    yield Case("tiny numbers", (W * 1e-9, n_heads, d_k))


def unfuse_hidden(rng: np.random.Generator) -> Iterator[Case]:
    d, n_heads, d_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    yield Case("all widths alike", _inputs(rng, n_heads * d_k, n_heads, d_k, d_k))
    yield Case("values of another width", _inputs(rng, d, n_heads, d_k, d_v))
    yield Case("the same sizes, other numbers", _inputs(rng, d, n_heads, d_k, d_v))
    yield Case("one head", _inputs(rng, d, 1, d_k, d_v))
    yield Case("keys of width 1", _inputs(rng, d, n_heads, 1, d_v))
    yield Case("values of width 1", _inputs(rng, 1, n_heads, d_k, 1))
    yield Case("float32", _inputs(rng, d, n_heads, d_k, d_v, np.float32))


def _inputs(
    rng: np.random.Generator, d: int, n_heads: int, d_k: int, d_v: int, dtype: type = np.float64
) -> tuple[Any, ...]:
    """A random fused projection, the number of heads, and the width of a key."""
    return rng.normal(size=(d, n_heads * (2 * d_k + d_v))).astype(dtype), n_heads, d_k


def unfuse__role_by_role(W, n_heads, d_k):
    return tuple(np.split(W, [n_heads * d_k, 2 * n_heads * d_k], axis=1))


def unfuse__keys_first(W, n_heads, d_k):
    heads = np.split(W, n_heads, axis=1)
    parts = [np.split(head, [d_k, 2 * d_k], axis=1) for head in heads]
    W_k, W_q, W_v = (np.hstack(role) for role in zip(*parts, strict=True))
    return W_q, W_k, W_v


def unfuse__dealt_out_in_turn(W, n_heads, d_k):
    heads = [W[:, h::n_heads] for h in range(n_heads)]
    parts = [np.split(head, [d_k, 2 * d_k], axis=1) for head in heads]
    return tuple(np.hstack(role) for role in zip(*parts, strict=True))


def unfuse__values_as_wide_as_keys(W, n_heads, d_k):
    heads = np.split(W, n_heads, axis=1)
    roles = [[head[:, r * d_k : (r + 1) * d_k] for head in heads] for r in range(3)]
    return tuple(np.hstack(role) for role in roles)


def unfuse__transposed(W, n_heads, d_k):
    heads = np.split(W, n_heads, axis=1)
    parts = [np.split(head, [d_k, 2 * d_k], axis=1) for head in heads]
    return tuple(np.hstack(role).T for role in zip(*parts, strict=True))


def unfuse__features_before_heads(W, n_heads, d_k):
    by_head = W.reshape(len(W), n_heads, -1)
    roles = by_head[..., :d_k], by_head[..., d_k : 2 * d_k], by_head[..., 2 * d_k :]
    return tuple(np.swapaxes(role, 1, 2).reshape(len(W), -1) for role in roles)


def unfuse__slices(W, n_heads, d_k):
    width = W.shape[1] // n_heads
    W_q, W_k, W_v = [], [], []
    for h in range(n_heads):
        first = h * width
        W_q.append(W[:, first : first + d_k])
        W_k.append(W[:, first + d_k : first + 2 * d_k])
        W_v.append(W[:, first + 2 * d_k : first + width])
    return np.hstack(W_q), np.hstack(W_k), np.hstack(W_v)


def unfuse__columns_by_number(W, n_heads, d_k):
    width = W.shape[1] // n_heads
    place = np.arange(W.shape[1]) % width
    role = (place >= d_k).astype(int) + (place >= 2 * d_k)
    return W[:, role == 0], W[:, role == 1], W[:, role == 2]


def unfuse__heads_first(W, n_heads, d_k):
    heads = np.moveaxis(W.T.reshape(n_heads, -1, W.shape[0]), 2, 1)
    roles = np.split(heads, [d_k, 2 * d_k], axis=-1)
    return tuple(np.concatenate(list(role), axis=-1) for role in roles)


UNFUSE_PROJECTIONS = Exercise(
    name="unfuse_projections",
    points=3,
    difficulty=3,
    minutes=15,
    reference=solutions.unfuse_projections,
    cases=unfuse_cases,
    hidden=unfuse_hidden,
    misconceptions=(
        Misconception(
            "role by role",
            unfuse__role_by_role,
            "With two heads, the columns after the first d_k: are they queries of the second head, "
            "or keys of the first?",
        ),
        Misconception(
            "keys before queries",
            unfuse__keys_first,
            "In which order do the three roles of one head stand in W?",
        ),
        Misconception(
            "columns dealt out in turn",
            unfuse__dealt_out_in_turn,
            "Which columns of W belong to the first head: the first ones, or every second one?",
        ),
        Misconception(
            "values taken to be as wide as keys",
            unfuse__values_as_wide_as_keys,
            "W is wider than three times n_heads * d_k. Whose are the columns that you leave out?",
        ),
        Misconception(
            "transposed",
            unfuse__transposed,
            "`X @ W_q` has to give the queries. How many rows has your W_q, and how many features "
            "has a token?",
        ),
        Misconception(
            "heads exchanged with their features",
            unfuse__features_before_heads,
            "Which columns of your W_q belong to the first head: neighbours, or every second one?",
        ),
    ),
    alternatives=(unfuse__slices, unfuse__columns_by_number, unfuse__heads_first),
    help=(
        "Set borders between the heads first, then between the three roles within each head.",
        "How many columns has one head in all? Which of them are its queries? The width of its "
        "values is what is left when queries and keys are taken away.",
        "Section “One product for three projections”.",
    ),
    promises=(
        Promise(
            "W: (d, n_heads * (2 * d_k + d_v)), head by head, and for each head queries, keys and "
            "values",
            ("one feature, two heads of width 2", "two heads, all widths alike", "tiny numbers"),
        ),
        Promise(
            "n_heads, d_k and d_v are at least 1; d_v follows from the others and may differ from "
            "d_k",
            (
                "three heads, values of another width",
                "one head, all widths 1",
                "keys of width 1",
                "values of width 1",
            ),
        ),
        Promise(
            "Returns the tuple (W_q, W_k, W_v) of shapes (d, n_heads * d_k), (d, n_heads * d_k) "
            "and (d, n_heads * d_v)",
            ("values of another width", "float32, two heads of three features"),
        ),
    ),
    kind=Kind.TRANSFER,
)
