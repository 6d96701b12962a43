"""The exercise `cached_attention_step`: one new token, and the keys and values of those before."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import cost as solutions

cached_attention_step = Declaration(
    solutions.cached_attention_step,
    points=3,
    difficulty=2,
    minutes=15,
    help=(
        "First put the new key and value at the end, then attend with one query.",
        "`k[..., None, :]` is a matrix of one row, and `torch.cat(..., dim=-2)` puts rows below "
        "each other. The query needs such an axis too, and loses it at the end.",
        "Section “Remember the keys”.",
    ),
)


@cached_attention_step.right
def einsum(q, k, v, cache):
    K = torch.cat((cache[0], k.unsqueeze(-2)), dim=-2)
    V = torch.cat((cache[1], v.unsqueeze(-2)), dim=-2)
    scores = torch.einsum("...d,...jd->...j", q, K) / q.shape[-1] ** 0.5
    return torch.einsum("...j,...jv->...v", scores.softmax(-1), V), (K, V)


@cached_attention_step.right
def old_and_new_apart(q, k, v, cache):
    K, V = cache
    old = (K * q[..., None, :]).sum(-1) / math.sqrt(q.shape[-1])
    new = (k * q).sum(-1, keepdim=True) / math.sqrt(q.shape[-1])
    weights = torch.softmax(torch.cat([old, new], -1), -1)
    output = (weights[..., :-1, None] * V).sum(-2) + weights[..., -1:] * v
    return output, (torch.cat([K, k[..., None, :]], -2), torch.cat([V, v[..., None, :]], -2))


@cached_attention_step.right
def written_into_place(q, k, v, cache):
    c = cache[0].shape[-2]
    K = torch.zeros(*q.shape[:-1], c + 1, q.shape[-1], dtype=k.dtype)
    V = torch.zeros(*q.shape[:-1], c + 1, v.shape[-1], dtype=v.dtype)
    K[..., :c, :], K[..., c, :] = cache[0], k
    V[..., :c, :], V[..., c, :] = cache[1], v
    return F.scaled_dot_product_attention(q.unsqueeze(-2), K, V).squeeze(-2), (K, V)


@cached_attention_step.right
def plain(q, k, v, cache):
    K = torch.cat([cache[0], k[..., None, :]], -2)
    V = torch.cat([cache[1], v[..., None, :]], -2)
    scores = (K @ q[..., None])[..., 0] / math.sqrt(q.shape[-1])
    output = (scores.softmax(-1)[..., None, :] @ V)[..., 0, :]
    return output, (K, V)


cached_attention_step.wrong(
    "the token does not see itself",
    "With an empty cache, what is there to attend to? When must the new key be added?",
    plain.edit("K @ q", "cache[0] @ q").edit("[..., None, :] @ V", "[..., None, :] @ cache[1]"),
)
cached_attention_step.wrong(
    "the cache returned unchanged",
    "How will the next token know about this one?",
    plain.edit("(K, V)", "cache"),
)
cached_attention_step.wrong(
    "the newest key in front",
    "The order does not change the output. But where does the docstring put the newest token?",
    plain.edit("[cache[0], k[..., None, :]]", "[k[..., None, :], cache[0]]").edit(
        "[cache[1], v[..., None, :]]", "[v[..., None, :], cache[1]]"
    ),
)
cached_attention_step.wrong(
    "not scaled",
    "What are dot products divided by before the softmax?",
    plain.edit(" / math.sqrt(q.shape[-1])", ""),
)
cached_attention_step.wrong(
    "the query cached",
    "How will later tokens find this one: by its query, or by its key?",
    plain.edit("k[..., None, :]", "q[..., None, :]"),
)
cached_attention_step.wrong(
    "the output cached for the value",
    "What does a token give to those that attend to it: its value, or its output?",
    plain.edit("(K, V)", "(K, torch.cat([cache[1], output[..., None, :]], -2))"),
)
cached_attention_step.wrong(
    "exponentials that overflow",
    "What is the exponential of 1000, and what does torch's softmax subtract first?",
    plain.edit("scores.softmax(-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))"),
)
cached_attention_step.wrong(
    "the oldest dropped",
    "How many keys should the cache hold after this step?",
    plain.edit("(K, V)", "(K[..., 1:, :], V[..., 1:, :])"),
)


@cached_attention_step.public
def _(rng):
    yield _case(rng, "one cached token", (), 1, 2, 2).holds(
        "q and k: (..., d_k), the query and the key of the newest token.",
        "v: (..., d_v), its value.",
    )
    yield _case(rng, "an empty cache", (), 0, 2, 3).holds(
        "cache: the tuple (K, V) of the c tokens before it, (..., c, d_k) and (..., c, d_v), "
        "oldest first; c may be 0."
    )
    yield _case(rng, "three cached tokens", (), 3, 4, 2).holds(
        "cache: the…",
        "Returns (output, cache): what the token found, (..., d_v), and a new tuple with its key "
        "and value at the end, (..., c + 1, d_k) and (..., c + 1, d_v), for the next token.",
    )
    yield _case(rng, "two sequences", (2,), 3, 2, 2).holds("All have the same leading axes.")
    yield _case(rng, "float32, a batch and its heads", (2, 3), 4, 2, 3, np.float32).holds(
        "All have…"
    )
    yield _case(rng, "a batch of one, widths of one", (1,), 2, 1, 1).holds("q and k…")
    yield _case(rng, "three leading axes", (2, 1, 2), 2, 3, 2).holds("All have…")
    yield _case(rng, "large scores", (), 4, 2, 2, size=60.0).holds(
        "Scores are divided by the square root of d_k, and may be large."
    )
    yield _case(rng, "large scores below 0", (), 4, 2, 2, level=-3000.0).holds("Scores are…")
    yield _case(rng, "scores far apart in two sequences", (2,), 3, 2, 3, level=2000.0).holds(
        "Scores are…"
    )
    yield _case(rng, "tiny values", (), 3, 2, 2, values=1e-9).holds("v: (...…")
    yield _case(rng, "three other cached tokens", (), 3, 4, 2).holds("cache: the…")
    yield _case(rng, "as many cached tokens as features", (3,), 3, 3, 3).holds("Returns (output…")


@cached_attention_step.hidden
def _(rng):
    c, d_k, d_v = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "cached tokens", (), c, d_k, d_v).holds("Scores are…")
    yield _case(rng, "an empty cache, a batch", (2,), 0, d_k, d_v)
    yield _case(rng, "one cached token", (3,), 1, d_k, d_v)
    yield _case(rng, "float32, a batch and its heads", (3, 2), c, d_k, d_v, np.float32)
    yield _case(rng, "large scores", (2,), c, d_k, d_v, size=60.0)
    yield _case(rng, "large scores below 0", (), c, d_k, d_v, level=-5000.0)
    yield _case(rng, "a long cache", (), int(rng.integers(100, 120)), d_k, d_v).holds("cache: the…")


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    c: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
    values: float = 1.0,
    level: float = 0.0,
) -> Case:
    """A token and a cache of c; `size` multiplies queries and keys, `values` the values.

    `level` is near all scores of the first sequence; every other one's has the other sign.
    """

    def drawn(factor: float, *shape: int) -> np.ndarray:
        return factor * rng.normal(size=(*batch, *shape))

    q, k, v = drawn(size, d_k), drawn(size, d_k), drawn(values, d_v)
    K, V = drawn(size, c, d_k), drawn(values, c, d_v)
    if level:
        q[..., 0] = level * np.sqrt(d_k)
        q.reshape(-1, d_k)[1::2, 0] *= -1
        k[..., 0] = K[..., 0] = 1
    *new, keys, values_so_far = (
        Tensor(one.astype(dtype), gradient=False) for one in (q, k, v, K, V)
    )
    return Case(note, (*new, (keys, values_so_far)))
