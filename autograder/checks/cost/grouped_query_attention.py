"""The exercise `grouped_query_attention`: fewer heads of keys and values than of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions import cost as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises, Tensor


def grouped_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "two heads share one", (), 2, 1, 2, 3, 2, 2)
    yield _case(rng, "four heads share two", (), 4, 2, 3, 4, 2, 3)
    yield _case(rng, "as many as there are, all sizes 2", (), 2, 2, 2, 2, 2, 2)
    yield _case(rng, "six heads share two", (), 6, 2, 2, 3, 2, 2)
    yield _case(rng, "six heads share three, a batch", (2,), 6, 3, 2, 3, 2, 2)
    yield _case(rng, "float32, two leading axes", (2, 3), 4, 2, 3, 2, 3, 2, np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2), 4, 2, 2, 3, 2, 2)
    yield _case(rng, "one of everything", (1,), 1, 1, 1, 1, 1, 1)
    yield _case(rng, "large scores", (), 4, 2, 2, 3, 2, 2, size=60.0)
    yield _case(rng, "tiny values", (), 4, 2, 2, 3, 2, 2, values=1e-9)
    yield _case(rng, "one query, many keys", (), 4, 1, 1, 6, 2, 2)
    yield _case(rng, "heads that do not divide", (), 5, 2, 2, 3, 2, 2, fails=True)
    yield _case(rng, "one head, two of keys and values", (), 1, 2, 2, 3, 2, 2, fails=True)


def grouped_hidden(rng: np.random.Generator) -> Iterator[Case]:
    group, n_kv_heads = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    n_heads = group * n_kv_heads
    n_q, n_k, d_k, d_v = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    yield _case(rng, "groups", (), n_heads, n_kv_heads, n_q, n_k, d_k, d_v)
    yield _case(rng, "four groups of two, a batch", (2,), 8, 4, n_q, n_k, d_k, d_v)
    yield _case(rng, "one head for all", (), n_heads, 1, n_q, n_k, d_k, d_v)
    yield _case(rng, "one head each", (), n_heads, n_heads, n_q, n_k, d_k, d_v)
    yield _case(rng, "float32", (2,), n_heads, n_kv_heads, n_q, n_k, d_k, d_v, np.float32)
    yield _case(rng, "large scores", (), n_heads, n_kv_heads, n_q, n_k, d_k, d_v, size=60.0)
    sizes = (n_heads + 1, n_kv_heads, n_q, n_k, d_k, d_v)
    yield _case(rng, "heads that do not divide", (2,), *sizes, fails=True)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    n_heads: int,
    n_kv_heads: int,
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
    values: float = 1.0,
    fails: bool = False,
) -> Case:
    """Random Q, K and V; `size` multiplies Q and K, and `values` V."""

    def drawn(factor: float, *shape: int) -> Tensor:
        return Tensor((factor * rng.normal(size=(*batch, *shape))).astype(dtype))

    Q, K = drawn(size, n_heads, n_q, d_k), drawn(size, n_kv_heads, n_k, d_k)
    raises = Raises("ValueError", (str(n_heads), str(n_kv_heads))) if fails else None
    return Case(note, (Q, K, drawn(values, n_kv_heads, n_k, d_v)), raises=raises)


def grouped__dealt_out_in_turn(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    shared = torch.arange(n_heads) % n_kv_heads
    K, V = K.index_select(-3, shared), V.index_select(-3, shared)
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__first_head_for_all(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    K, V = K[..., :1, :, :], V[..., :1, :, :]
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__mean_of_the_heads(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    K, V = K.mean(-3, keepdim=True), V.mean(-3, keepdim=True)
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__queries_averaged(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    groups = Q.unflatten(-3, (n_kv_heads, -1))
    mean = groups.mean(-3, keepdim=True).expand_as(groups).flatten(-4, -3)
    K, V = (one.repeat_interleave(n_heads // n_kv_heads, -3) for one in (K, V))
    return (mean @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__values_dealt_otherwise(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    K = K.repeat_interleave(n_heads // n_kv_heads, -3)
    V = V.index_select(-3, torch.arange(n_heads) % n_kv_heads)
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__one_softmax_for_a_group(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    group = n_heads // n_kv_heads
    K, V = K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)
    scores = (Q @ K.mT / math.sqrt(Q.shape[-1])).unflatten(-3, (n_kv_heads, group))
    return scores.softmax(-3).flatten(-4, -3) @ V


def grouped__not_scaled(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    K, V = (one.repeat_interleave(n_heads // n_kv_heads, -3) for one in (K, V))
    return (Q @ K.mT).softmax(-1) @ V


def grouped__rest_left_out(Q, K, V):
    group = max(1, Q.shape[-3] // K.shape[-3])
    K, V = K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)
    Q = Q[..., : K.shape[-3], :, :]
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


def grouped__repeated(Q, K, V):
    group, left = divmod(Q.shape[-3], K.shape[-3])
    if left:
        raise ValueError(f"{Q.shape[-3]} heads in groups of {K.shape[-3]}?")
    K = torch.repeat_interleave(K, group, dim=-3)
    V = torch.repeat_interleave(V, group, dim=-3)
    return F.softmax(Q @ K.transpose(-1, -2) * Q.shape[-1] ** -0.5, dim=-1) @ V


def grouped__head_by_head(Q, K, V):
    n_heads, n_kv_heads = Q.size(-3), K.size(-3)
    if n_heads % n_kv_heads != 0:
        raise ValueError(f"n_heads = {n_heads} is no multiple of n_kv_heads = {n_kv_heads}")
    found = []
    for head in range(n_heads):
        shared = head * n_kv_heads // n_heads
        k, v = K[..., shared, :, :], V[..., shared, :, :]
        found.append(torch.softmax(Q[..., head, :, :] @ k.mT / math.sqrt(k.shape[-1]), -1) @ v)
    return torch.stack(found, dim=-3)


def grouped__group_as_more_queries(Q, K, V):
    n_heads, n_q, d_k = Q.shape[-3:]
    n_kv_heads = K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} and {n_kv_heads}")
    stacked = Q.reshape(*Q.shape[:-3], n_kv_heads, n_heads // n_kv_heads * n_q, d_k)
    weights = torch.softmax(torch.einsum("...id,...jd->...ij", stacked, K) / d_k**0.5, -1)
    return (weights @ V).reshape(*Q.shape[:-1], V.shape[-1])


GROUPED_QUERY_ATTENTION = Exercise(
    name="grouped_query_attention",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.grouped_query_attention,
    cases=grouped_cases,
    hidden=grouped_hidden,
    misconceptions=(
        Misconception(
            "dealt out in turn",
            grouped__dealt_out_in_turn,
            "Four query heads and two of keys: which query heads share the first head of keys, 0 "
            "and 1, or 0 and 2?",
        ),
        Misconception(
            "the first head for all",
            grouped__first_head_for_all,
            "If there are two heads of keys, who reads the second one?",
        ),
        Misconception(
            "the mean of the heads",
            grouped__mean_of_the_heads,
            "Each group has keys of its own. Do your groups see different ones?",
        ),
        Misconception(
            "the queries averaged",
            grouped__queries_averaged,
            "What do the heads of a group share: the keys and values, or what they ask?",
        ),
        Misconception(
            "keys and values dealt out differently",
            grouped__values_dealt_otherwise,
            "A query head reads the values that belong to the keys it was scored on. Which of "
            "yours belong together?",
        ),
        Misconception(
            "a softmax over the group",
            grouped__one_softmax_for_a_group,
            "Over which axis do the weights of one query sum to 1?",
        ),
        Misconception(
            "not scaled",
            grouped__not_scaled,
            "By what are dot products divided before the softmax?",
        ),
        Misconception(
            "heads without a group left out",
            grouped__rest_left_out,
            "Five query heads and two of keys: what does the docstring ask for?",
        ),
    ),
    alternatives=(
        grouped__repeated,
        grouped__head_by_head,
        grouped__group_as_more_queries,
    ),
    help=(
        "Give each query head the keys and values of its group, and let it attend as always.",
        "`repeat_interleave` repeats each head as often as needed, neighbours next to each other; "
        "or `unflatten` splits the axis of heads into groups, and the keys get an axis of length "
        "1 there.",
        "Section “Share the keys, or see fewer”.",
    ),
    promises=(
        Promise("Q: (..., n_heads, n_q, d_k).", ("four heads share two", "six heads share two")),
        Promise("K: (..., n_kv_heads, n_k, d_k).", ("four heads share two", "groups")),
        Promise("V: (..., n_kv_heads, n_k, d_v).", ("four heads share two", "tiny values")),
        Promise(
            "All have the same leading axes; there is at least one head, one query and one key.",
            (
                "float32, two leading axes",
                "three leading axes",
                "one of everything",
                "one query, many keys",
            ),
        ),
        Promise(
            "The first n_heads / n_kv_heads query heads share the first head of keys and values, "
            "the next ones the second, and so on.",
            (
                "four heads share two",
                "six heads share three, a batch",
                "one head for all",
                "one head each",
            ),
        ),
        Promise(
            "Scores are divided by the square root of d_k, and may be large.", ("large scores",)
        ),
        Promise("Returns (..., n_heads, n_q, d_v).", ("two heads share one", "float32")),
        Promise(
            "Raises ValueError, with both numbers of heads in its message, if n_heads is not "
            "divisible by n_kv_heads.",
            ("heads that do not divide",),
        ),
    ),
    forbidden=forbidden.ATTENTION,
)
