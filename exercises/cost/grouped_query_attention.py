"""The exercise `grouped_query_attention`: fewer heads of keys and values than of queries."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Raises, Tensor
from solutions import cost as solutions

from .. import forbidden

grouped_query_attention = Declaration(
    solutions.grouped_query_attention,
    points=3,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.ATTENTION,
    help=(
        "Give each query head the keys and values of its group, and let it attend as usual.",
        "`repeat_interleave` repeats each head as often as needed, neighbours next to each other; "
        "or `unflatten` splits the axis of heads into groups, and the keys get an axis of length "
        "1 there.",
        "Section “Share the keys, or see fewer”.",
    ),
)


@grouped_query_attention.right
def repeated(Q, K, V):
    group, left = divmod(Q.shape[-3], K.shape[-3])
    if left:
        raise ValueError(f"{Q.shape[-3]} heads in groups of {K.shape[-3]}?")
    K = torch.repeat_interleave(K, group, dim=-3)
    V = torch.repeat_interleave(V, group, dim=-3)
    return F.softmax(Q @ K.transpose(-1, -2) * Q.shape[-1] ** -0.5, dim=-1) @ V


@grouped_query_attention.right
def head_by_head(Q, K, V):
    n_heads, n_kv_heads = Q.size(-3), K.size(-3)
    if n_heads % n_kv_heads != 0:
        raise ValueError(f"n_heads = {n_heads} is no multiple of n_kv_heads = {n_kv_heads}")
    found = []
    for head in range(n_heads):
        shared = head * n_kv_heads // n_heads
        k, v = K[..., shared, :, :], V[..., shared, :, :]
        found.append(torch.softmax(Q[..., head, :, :] @ k.mT / math.sqrt(k.shape[-1]), -1) @ v)
    return torch.stack(found, dim=-3)


@grouped_query_attention.right
def group_as_more_queries(Q, K, V):
    n_heads, n_q, d_k = Q.shape[-3:]
    n_kv_heads = K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} and {n_kv_heads}")
    stacked = Q.reshape(*Q.shape[:-3], n_kv_heads, n_heads // n_kv_heads * n_q, d_k)
    weights = torch.softmax(torch.einsum("...id,...jd->...ij", stacked, K) / d_k**0.5, -1)
    return (weights @ V).reshape(*Q.shape[:-1], V.shape[-1])


@grouped_query_attention.right
def plain(Q, K, V):
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads, {n_kv_heads} of keys")
    group = n_heads // n_kv_heads
    K, V = K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    return scores.softmax(-1) @ V


grouped_query_attention.wrong(
    "dealt out in turn",
    "There are four query heads and two of keys. Which query heads share the first head of keys, "
    "0 and 1, or 0 and 2?",
    plain.edit(
        "K, V = K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)",
        "shared = torch.arange(n_heads) % n_kv_heads\n"
        "K, V = K.index_select(-3, shared), V.index_select(-3, shared)",
    ),
)
grouped_query_attention.wrong(
    "the first head for all",
    "If there are two heads of keys, which query heads read the second one?",
    plain.edit(
        "K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)",
        "K[..., :1, :, :], V[..., :1, :, :]",
    ),
)
grouped_query_attention.wrong(
    "the mean of the heads",
    "Each group has its own keys. Do your groups see different ones?",
    plain.edit(
        "K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)",
        "K.mean(-3, keepdim=True), V.mean(-3, keepdim=True)",
    ),
)
grouped_query_attention.wrong(
    "the queries averaged",
    "What do the heads of a group share: the keys and values, or the queries?",
    plain.edit(
        "scores = Q @ K.mT",
        "groups = Q.unflatten(-3, (n_kv_heads, -1))\n"
        "Q = groups.mean(-3, keepdim=True).expand_as(groups).flatten(-4, -3)\n"
        "scores = Q @ K.mT",
    ),
)
grouped_query_attention.wrong(
    "keys and values dealt out differently",
    "A query head should read the values that belong to the keys that it was scored with. Which "
    "keys and values go together in your function?",
    plain.edit(
        "V.repeat_interleave(group, -3)", "V.index_select(-3, torch.arange(n_heads) % n_kv_heads)"
    ),
)
grouped_query_attention.wrong(
    "a softmax over the group",
    "Over which axis do the weights of one query sum to 1?",
    plain.edit(
        "scores.softmax(-1)",
        "scores.unflatten(-3, (n_kv_heads, group)).softmax(-3).flatten(-4, -3)",
    ),
)
grouped_query_attention.wrong(
    "not scaled",
    "What are dot products divided by before the softmax?",
    plain.edit(" / math.sqrt(Q.shape[-1])", ""),
)


@grouped_query_attention.wrong(
    "heads without a group left out",
    "There are five query heads and two of keys. What does the docstring ask for?",
)
def _(Q, K, V):
    group = max(1, Q.shape[-3] // K.shape[-3])
    K, V = K.repeat_interleave(group, -3), V.repeat_interleave(group, -3)
    Q = Q[..., : K.shape[-3], :, :]
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


@grouped_query_attention.public
def _(rng):
    yield _case(rng, "two heads share one", (), 2, 1, 2, 3, 2, 2).holds(
        "Returns (..., n_heads, n_q, d_v)."
    )
    yield _case(rng, "four heads share two", (), 4, 2, 3, 4, 2, 3).holds(
        "Q: (..., n_heads, n_q, d_k).",
        "K: (..., n_kv_heads, n_k, d_k).",
        "V: (..., n_kv_heads, n_k, d_v).",
        "The first n_heads / n_kv_heads query heads share the first head of keys and values, the "
        "next ones the second, and so on.",
    )
    yield _case(rng, "as many key heads as query heads, all sizes 2", (), 2, 2, 2, 2, 2, 2)
    yield _case(rng, "six heads share two", (), 6, 2, 2, 3, 2, 2).holds("Q: (...…")
    yield _case(rng, "six heads share three, a batch", (2,), 6, 3, 2, 3, 2, 2).holds("The first…")
    yield _case(rng, "float32, two leading axes", (2, 3), 4, 2, 3, 2, 3, 2, np.float32).holds(
        "All have the same leading axes; there is at least one head, one query and one key."
    )
    yield _case(rng, "three leading axes", (2, 1, 2), 4, 2, 2, 3, 2, 2).holds("All have…")
    yield _case(rng, "one of everything", (1,), 1, 1, 1, 1, 1, 1).holds("All have…")
    yield _case(rng, "large scores", (), 4, 2, 2, 3, 2, 2, size=60.0).holds(
        "Scores are divided by the square root of d_k, and may be large."
    )
    yield _case(rng, "tiny values", (), 4, 2, 2, 3, 2, 2, values=1e-9).holds("V: (...…")
    yield _case(rng, "one query, many keys", (), 4, 1, 1, 6, 2, 2).holds("All have…")
    yield _case(rng, "heads that do not divide", (), 5, 2, 2, 3, 2, 2, fails=True).holds(
        "Raises ValueError, with both numbers of heads in its message, if n_heads is not "
        "divisible by n_kv_heads."
    )
    yield _case(rng, "one head, two of keys and values", (), 1, 2, 2, 3, 2, 2, fails=True)


@grouped_query_attention.hidden
def _(rng):
    group, n_kv_heads = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    n_heads = group * n_kv_heads
    n_q, n_k, d_k, d_v = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    yield _case(rng, "groups", (), n_heads, n_kv_heads, n_q, n_k, d_k, d_v).holds("K: (...…")
    yield _case(rng, "four groups of two, a batch", (2,), 8, 4, n_q, n_k, d_k, d_v)
    yield _case(rng, "one head for all", (), n_heads, 1, n_q, n_k, d_k, d_v).holds("The first…")
    yield _case(rng, "one head each", (), n_heads, n_heads, n_q, n_k, d_k, d_v).holds("The first…")
    yield _case(rng, "float32", (2,), n_heads, n_kv_heads, n_q, n_k, d_k, d_v, np.float32).holds(
        "Returns (...…"
    )
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
