"""The exercise `cached_attention_chunk`: several new tokens at once, and a cache. To debug."""

import math

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions import cost as solutions

cached_attention_chunk = Declaration(
    solutions.cached_attention_chunk,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "With an empty cache the function is right. Start with one cached token and one new one, "
        "and print the mask.",
        "Row i of the mask belongs to the token at position c + i. Which columns may it see?",
        "Section “Remember the keys”, and chapter 5's causal mask. PyTorch's `is_causal=True` "
        "does not help: if there are fewer queries than keys, its mask begins at the first key, "
        "too.",
    ),
)


@cached_attention_chunk.right
def token_by_token(Q, K, V, cache):
    (keys, values), found = cache, []
    for q, k, v in zip(Q.unbind(-2), K.unbind(-2), V.unbind(-2), strict=True):
        keys = torch.cat([keys, k[..., None, :]], -2)
        values = torch.cat([values, v[..., None, :]], -2)
        weights = torch.softmax((keys @ q[..., None])[..., 0] / math.sqrt(q.shape[-1]), -1)
        found.append((weights[..., None, :] @ values)[..., 0, :])
    return torch.stack(found, -2), (keys, values)


@cached_attention_chunk.right
def by_positions(Q, K, V, cache):
    c, m = cache[0].shape[-2], K.shape[-2]
    keys, values = torch.cat([cache[0], K], -2), torch.cat([cache[1], V], -2)
    past = torch.arange(c + m) <= c + torch.arange(m)[:, None]
    scores = torch.einsum("...id,...jd->...ij", Q, keys) / math.sqrt(keys.shape[-1])
    return torch.where(past, scores, -math.inf).softmax(-1) @ values, (keys, values)


@cached_attention_chunk.right
def last_rows_of_the_whole(Q, K, V, cache):
    m = K.shape[-2]
    keys, values = torch.cat([cache[0], K], -2), torch.cat([cache[1], V], -2)
    n = keys.shape[-2]
    hidden = torch.full((n, n), -math.inf, dtype=Q.dtype).triu(1)[n - m :]
    return torch.softmax(Q @ keys.mT * Q.shape[-1] ** -0.5 + hidden, -1) @ values, (keys, values)


@cached_attention_chunk.right
def plain(Q, K, V, cache):
    c = cache[0].shape[-2]
    keys, values = torch.cat([cache[0], K], dim=-2), torch.cat([cache[1], V], dim=-2)
    scores = Q @ keys.mT / Q.shape[-1] ** 0.5
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(c)
    weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
    return weights @ values, (keys, values)


@cached_attention_chunk.wrong(
    "the mask begins at the cache",
    "Three tokens are cached, and one comes. How many keys may it see, and how many does row 0 of "
    "your mask let it see?",
    released=True,
)
def begins_at_the_cache(Q, K, V, cache):
    keys = torch.cat([cache[0], K], dim=-2)  # (..., c + m, d_k)
    values = torch.cat([cache[1], V], dim=-2)  # (..., c + m, d_v)
    scores = Q @ keys.mT / Q.shape[-1] ** 0.5  # (..., m, c + m)
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
    return weights @ values, (keys, values)


cached_attention_chunk.wrong(
    "no mask",
    "Two tokens come at once. May the first of them see the second?",
    plain.edit("scores.masked_fill(~past, -math.inf)", "scores"),
)
cached_attention_chunk.wrong(
    "one token ahead",
    "The cache is empty. Which keys may the first token see?",
    plain.edit("tril(c)", "tril(c + 1)"),
)
cached_attention_chunk.wrong(
    "a token does not see itself",
    "The cache is empty, and one token comes. Which key is there for it to see?",
    plain.edit("tril(c)", "tril(c - 1)"),
)
cached_attention_chunk.wrong(
    "the mask moved by the number of new tokens",
    "Three tokens are cached, and one comes. How many keys does your mask let it see? And with an "
    "empty cache and three new tokens?",
    plain.edit("tril(c)", "tril(K.shape[-2])"),
)
cached_attention_chunk.wrong(
    "the mask moved the wrong way",
    "Print your mask for two cached tokens and two new ones. Does a larger cache let the new ones "
    "see more, or less?",
    plain.edit("tril(c)", "tril(-c)"),
)
cached_attention_chunk.wrong(
    "only the cache and the token itself",
    "Two tokens come at once. If they had come one after the other, would the second have seen "
    "the first?",
    plain.edit(
        "torch.ones(scores.shape[-2:], dtype=torch.bool).tril(c)",
        "torch.cat([torch.ones(Q.shape[-2], c), torch.eye(Q.shape[-2])], dim=-1).bool()",
    ),
)
cached_attention_chunk.wrong(
    "the new tokens alone",
    "What is the cache for?",
    begins_at_the_cache.edit("keys.mT", "K.mT").edit("weights @ values", "weights @ V"),
)
cached_attention_chunk.wrong(
    "the window moves on",
    "May the second new token still see the oldest one in the cache?",
    plain.edit("tril(c)", "tril(c).triu()"),
)
cached_attention_chunk.wrong(
    "the new ones cached alone",
    "What will the next call know about the tokens that were in the cache before this call?",
    plain.edit("(keys, values)", "(K, V)"),
)


@cached_attention_chunk.public
def _(rng):
    yield _case(rng, "one cached token, one new one", (), 1, 1, 2, 2)
    yield _case(rng, "one cached token, two new ones", (), 1, 2, 2, 2).holds(
        "A new token attends to all cached tokens, to itself, and to the new tokens before it."
    )
    yield _case(rng, "an empty cache, three new tokens", (), 0, 3, 2, 3).holds(
        "cache: the tuple of the keys and values of the c tokens before them, (..., c, d_k) and "
        "(..., c, d_v), oldest first; c may be 0."
    )
    yield _case(rng, "an empty cache, one new token", (), 0, 1, 2, 3)
    yield _case(rng, "three cached tokens, two new ones", (), 3, 2, 4, 2).holds(
        "Q and K: (..., m, d_k), V: (..., m, d_v): the m newest tokens, m at least 1.",
        "cache: the…",
        "Returns (output, cache): what the tokens found, (..., m, d_v), and a new tuple of all "
        "keys and all values, (..., c + m, d_k) and (..., c + m, d_v).",
    )
    yield _case(rng, "two sequences, more new tokens than cached ones", (2,), 2, 4, 2, 2).holds(
        "A new token…"
    )
    yield _case(rng, "float32, a batch and its heads", (2, 3), 4, 2, 2, 3, np.float32).holds(
        "All have the same leading axes."
    )
    yield _case(rng, "a batch of one, widths of one", (1,), 2, 2, 1, 1)
    yield _case(rng, "three leading axes", (2, 1, 2), 2, 2, 3, 2).holds("All have…")
    yield _case(rng, "large scores", (), 3, 3, 2, 2, size=60.0).holds(
        "Scores are divided by the square root of d_k, and may be large."
    )
    yield _case(rng, "large scores below 0", (), 3, 2, 2, 2, level=-3000.0).holds("Scores are…")
    yield _case(rng, "scores far apart in two sequences", (2,), 3, 2, 2, 3, level=2000.0).holds(
        "Scores are…"
    )
    yield _case(rng, "tiny values", (), 3, 2, 2, 2, values=1e-9).holds("Q and K…")
    yield _case(rng, "three other cached tokens, two new ones", (), 3, 2, 4, 2).holds("cache: the…")
    yield _case(rng, "all sizes equal", (), 2, 2, 2, 2)
    Q, K, V, (keys, values) = _case(rng, "", (2,), 3, 2, 2, 3).arguments
    low = (Tensor(np.abs(one.array) * 1e6 + 1e5, gradient=False) for one in (Q, K, keys))
    Q, K, keys = (
        Tensor(one.array * sign, False) for one, sign in zip(low, (1, -1, -1), strict=True)
    )
    yield Case("scores below any stand-in for infinity", (Q, K, V, (keys, values)))


@cached_attention_chunk.hidden
def _(rng):
    m, d_k, d_v = (int(one) for one in rng.permutation([3, 4, 5]))
    c = int(rng.integers(2, 7))
    yield _case(rng, "cached tokens and new ones", (), c, m, d_k, d_v).holds("Scores are…")
    yield _case(rng, "an empty cache, a batch", (2,), 0, m, d_k, d_v)
    yield _case(rng, "one new token", (3,), c, 1, d_k, d_v).holds("Q and K…")
    yield _case(rng, "as many new tokens as cached ones", (2,), m, m, d_k, d_v).holds(
        "A new token…"
    )
    yield _case(rng, "float32, a batch and its heads", (3, 2), c, m, d_k, d_v, np.float32)
    yield _case(rng, "large scores", (2,), c, m, d_k, d_v, size=60.0)
    yield _case(rng, "large scores below 0", (), c, m, d_k, d_v, level=-5000.0)
    yield _case(rng, "a long cache", (), int(rng.integers(50, 60)), m, d_k, d_v).holds(
        "Returns (output…"
    )


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    c: int,
    m: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
    values: float = 1.0,
    level: float = 0.0,
) -> Case:
    """m tokens and a cache of c; `size` multiplies queries and keys, `values` the values.

    `level` is near all scores of the first sequence; every other one's has the other sign.
    """

    def drawn(factor: float, *shape: int) -> np.ndarray:
        return factor * rng.normal(size=(*batch, *shape))

    Q, K, V = drawn(size, m, d_k), drawn(size, m, d_k), drawn(values, m, d_v)
    keys, cached = drawn(size, c, d_k), drawn(values, c, d_v)
    if level:
        Q[..., 0] = level * np.sqrt(d_k)
        Q.reshape(-1, m, d_k)[1::2, :, 0] *= -1
        K[..., 0] = keys[..., 0] = 1
    *new, old_keys, old_values = (
        Tensor(one.astype(dtype), gradient=False) for one in (Q, K, V, keys, cached)
    )
    return Case(note, (*new, (old_keys, old_values)))
