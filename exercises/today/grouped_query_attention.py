"""The exercise `GroupedQueryAttention`: attention with turned, shared and cached keys."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Raises, Setup, Tensor, draw_setup
from solutions import today as solutions

from .today_block import below_any

grouped_query_attention = Declaration(
    solutions.GroupedQueryAttention,
    points=5,
    difficulty=4,
    minutes=40,
    help=(
        "Begin without a cache, and with as many heads of keys as of queries. Then let the heads "
        "share keys. Last comes the cache: which positions do the new tokens have, and what may "
        "they see?",
        "Rotate queries and keys after you have split them into heads, and each key only once, "
        "when it is new. The new keys come after those of the cache; `tril` takes a number that "
        "moves its diagonal.",
        "Section “Assembled from your own pieces”; chapter 7 on rotation, chapter 11 on caches and "
        "groups.",
    ),
)


class Plain(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10_000.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features for {n_heads} heads")
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} heads of queries, {n_kv_heads} of keys")
        self.n_heads, self.n_kv_heads, self.base = n_heads, n_kv_heads, base
        d_kv = n_kv_heads * (d_model // n_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def turn(self, X, first):
        d = X.shape[-1]
        places = first + torch.arange(X.shape[-2])
        angles = places[:, None] / self.base ** (torch.arange(0, d, 2) / d)
        x, y = X[..., 0::2], X[..., 1::2]
        cosine, sine = torch.cos(angles), torch.sin(angles)
        return torch.stack((x * cosine - y * sine, x * sine + y * cosine), dim=-1).flatten(-2)

    def forward(self, X, cache=None):
        Q = self.W_q(X).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
        K = self.W_k(X).unflatten(-1, (self.n_kv_heads, -1)).transpose(-3, -2)
        V = self.W_v(X).unflatten(-1, (self.n_kv_heads, -1)).transpose(-3, -2)
        c = 0 if cache is None else cache[0].shape[-2]
        Q, K = self.turn(Q, c), self.turn(K, c)
        if cache is not None:
            K = torch.cat((cache[0], K), dim=-2)
            V = torch.cat((cache[1], V), dim=-2)
        group = self.n_heads // self.n_kv_heads
        keys, values = K.repeat_interleave(group, dim=-3), V.repeat_interleave(group, dim=-3)
        scores = Q @ keys.mT / math.sqrt(Q.shape[-1])
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(c)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        found = (weights @ values).transpose(-3, -2).flatten(-2)
        return self.W_o(found), (K, V)


plain = grouped_query_attention.right(Plain)


@grouped_query_attention.right
class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10_000.0):
        super().__init__()
        if n_heads * (d_model // n_heads) != d_model:
            raise ValueError(f"{d_model} is no multiple of {n_heads}")
        if n_heads // n_kv_heads * n_kv_heads != n_heads:
            raise ValueError(f"{n_heads} is no multiple of {n_kv_heads}")
        self.sizes = n_heads, n_kv_heads, d_model // n_heads
        self.speeds = [base ** (-2 * i / self.sizes[2]) for i in range(self.sizes[2] // 2)]
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_v, self.W_k = (
            nn.Linear(d_model, n_kv_heads * self.sizes[2], bias=False) for _ in range(2)
        )
        self.W_q = nn.Linear(d_model, d_model, bias=False)

    def turned(self, Y, first):
        columns = []
        places = torch.arange(first, first + Y.shape[-2])
        for i, speed in enumerate(self.speeds):
            x, y = Y[..., 2 * i], Y[..., 2 * i + 1]
            cosine, sine = (places * speed).cos(), (places * speed).sin()
            columns += [x * cosine - y * sine, y * cosine + x * sine]
        return torch.stack(columns, dim=-1)

    def forward(self, X, cache=None):
        n_heads, n_kv_heads, d_head = self.sizes
        c = cache[0].shape[-2] if cache else 0
        keys = [self.turned(one, c) for one in self.W_k(X).split(d_head, dim=-1)]
        values = list(self.W_v(X).split(d_head, dim=-1))
        if cache:
            keys = [torch.cat(two, -2) for two in zip(cache[0].unbind(-3), keys, strict=True)]
            values = [torch.cat(two, -2) for two in zip(cache[1].unbind(-3), values, strict=True)]
        found = []
        for head, query in enumerate(self.W_q(X).split(d_head, dim=-1)):
            shared = head * n_kv_heads // n_heads
            query, rows = self.turned(query, c), []
            for i in range(X.shape[-2]):
                key, value = keys[shared][..., : c + i + 1, :], values[shared][..., : c + i + 1, :]
                scores = (key @ query[..., i, :, None]).squeeze(-1) / d_head**0.5
                rows.append((scores.softmax(-1).unsqueeze(-2) @ value).squeeze(-2))
            found.append(torch.stack(rows, dim=-2))
        return self.W_o(torch.cat(found, -1)), (torch.stack(keys, -3), torch.stack(values, -3))


@grouped_query_attention.right
class InThePlane(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10_000.0):
        super().__init__()
        d_head, left = divmod(d_model, n_heads)
        group, rest = divmod(n_heads, n_kv_heads)
        if left or rest:
            raise ValueError(f"{d_model}, {n_heads} and {n_kv_heads} do not fit")
        self.shape, self.base = (n_kv_heads, group, d_head), base
        self.W_q, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        d_kv = n_kv_heads * d_head
        self.W_k, self.W_v = (nn.Linear(d_model, d_kv, bias=False) for _ in range(2))

    def forward(self, X, cache=None):
        n_kv_heads, group, d_head = self.shape
        m, before = X.shape[-2], 0 if cache is None else cache[0].shape[-2]
        speeds = torch.exp(-math.log(self.base) * torch.arange(0, d_head, 2) / d_head)
        angles = torch.outer(torch.arange(before, before + m).to(speeds), speeds).to(X.dtype)
        turns = torch.polar(torch.ones_like(angles), angles)  # (m, d_head / 2)
        K, V = (W(X).unflatten(-1, (n_kv_heads, d_head)) for W in (self.W_k, self.W_v))
        K = torch.view_as_complex(K.unflatten(-1, (-1, 2))) * turns[:, None]
        K, V = (one.transpose(-3, -2) for one in (torch.view_as_real(K).flatten(-2), V))
        Q = self.W_q(X).unflatten(-1, (n_kv_heads, group, d_head // 2, 2))
        Q = torch.view_as_real(torch.view_as_complex(Q) * turns[:, None, None]).flatten(-2)
        if before:
            K, V = (torch.cat(both, dim=-2) for both in zip(cache, (K, V), strict=True))
        scores = torch.einsum("...ikgd,...kjd->...kgij", Q, K) * d_head**-0.5
        future = torch.arange(before + m) > torch.arange(before, before + m)[:, None]
        weights = torch.where(future, -torch.inf, scores).softmax(-1)
        found = torch.einsum("...kgij,...kjd->...ikgd", weights, V).flatten(-3)
        return self.W_o(found), (K, V)


@grouped_query_attention.right
class OfTorch(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10_000.0):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(f"{d_model} {n_heads} {n_kv_heads}")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_head = d_model // n_heads
        self.speeds = [base ** -(i // 2 * 2 / d_head) for i in range(d_head)]
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, heads * d_head, bias=False)
            for heads in (n_heads, n_kv_heads, n_kv_heads, n_heads)
        )

    def forward(self, X, cache=None):
        Q, K, V = self.W_q(X), self.W_k(X), self.W_v(X)
        Q = torch.stack(Q.chunk(self.n_heads, dim=-1), dim=-3)
        K, V = (torch.stack(one.chunk(self.n_kv_heads, dim=-1), dim=-3) for one in (K, V))
        m, c = X.shape[-2], 0
        if cache is not None:
            c = cache[0].shape[-2]
        angles = torch.arange(c, c + m)[:, None] * torch.tensor(self.speeds)
        Q, K = (
            one * angles.cos()
            + torch.stack((-one[..., 1::2], one[..., ::2]), dim=-1).flatten(-2) * angles.sin()
            for one in (Q, K)
        )
        if cache is not None:
            K, V = torch.cat([cache[0], K], -2), torch.cat([cache[1], V], -2)
        hidden = torch.full((m, c + m), -torch.inf).triu(c + 1)
        found = F.scaled_dot_product_attention(Q, K, V, hidden, enable_gqa=True)
        return self.W_o(torch.cat(found.unbind(-3), dim=-1)), (K, V)


grouped_query_attention.wrong(
    "positions from 0 again",
    "Three tokens are cached and one new token comes. What is its position?",
    plain.edit("self.turn(Q, c), self.turn(K, c)", "self.turn(Q, 0), self.turn(K, 0)"),
)
grouped_query_attention.wrong(
    "all keys rotated again",
    "The keys in the cache were rotated when they were new. How often has the oldest one been "
    "rotated after three calls?",
    plain.edit("Q, K = self.turn(Q, c), self.turn(K, c)", "Q = self.turn(Q, c)").edit(
        "group = self.n_heads", "K = self.turn(K, 0)\ngroup = self.n_heads"
    ),
)
grouped_query_attention.wrong(
    "keys cached before rotation",
    "What does the docstring say about the keys in the cache?",
    plain.edit("Q, K = self.turn(Q, c), self.turn(K, c)", "Q = self.turn(Q, c)").edit(
        "scores = Q @ keys.mT", "scores = Q @ self.turn(keys, 0).mT"
    ),
)
grouped_query_attention.wrong(
    "queries not rotated",
    "A score should depend on how far apart two tokens are. What does yours depend on?",
    plain.edit("Q, K = self.turn(Q, c), self.turn(K, c)", "K = self.turn(K, c)"),
)
grouped_query_attention.wrong(
    "keys not rotated",
    "A score should depend on how far apart two tokens are. What does yours depend on?",
    plain.edit("Q, K = self.turn(Q, c), self.turn(K, c)", "Q = self.turn(Q, c)"),
)
grouped_query_attention.wrong(
    "values rotated too",
    "Queries, keys and values: which should carry the position of a token, and which its content?",
    plain.edit(
        "Q, K = self.turn(Q, c), self.turn(K, c)",
        "Q, K, V = self.turn(Q, c), self.turn(K, c), self.turn(V, c)",
    ),
)
grouped_query_attention.wrong(
    "halves as partners",
    "With six features in a head, which one is the partner of feature 0: 1 or 3?",
    plain.edit("X[..., 0::2], X[..., 1::2]", "X[..., : d // 2], X[..., d // 2 :]").edit(
        "torch.stack((x * cosine - y * sine, x * sine + y * cosine), dim=-1).flatten(-2)",
        "torch.cat((x * cosine - y * sine, x * sine + y * cosine), dim=-1)",
    ),
)
grouped_query_attention.wrong(
    "rotated before the split into heads",
    "The slowest pair is the last one. Is it the last pair of each head, or the last pair of all "
    "heads together?",
    plain.edit(
        "Q, K = self.turn(Q, c), self.turn(K, c)",
        "Q, K = (\n"
        "    self.turn(one.transpose(-3, -2).flatten(-2), c)\n"
        "    .unflatten(-1, (-1, one.shape[-1]))\n"
        "    .transpose(-3, -2)\n"
        "    for one in (Q, K)\n"
        ")",
    ),
)
grouped_query_attention.wrong(
    "the base ignored",
    "Make two modules with different bases, and give them the same weights. Do their outputs "
    "differ?",
    plain.edit("self.base **", "10_000.0 **"),
)
grouped_query_attention.wrong(
    "the mask begins at the cache",
    "Three tokens are cached, and one comes. How many keys may it see, and how many does row 0 of "
    "your mask let it see?",
    plain.edit(".tril(c)", ".tril()"),
)
grouped_query_attention.wrong(
    "no mask",
    "Change the last token. Which rows of the output may change?",
    plain.edit("scores.masked_fill(~seen, -torch.inf)", "scores"),
)
grouped_query_attention.wrong(
    "the new tokens in front",
    "Which keys are the oldest, and where are they in the cache?",
    plain.edit("(cache[0], K)", "(K, cache[0])").edit("(cache[1], V)", "(V, cache[1])"),
)
grouped_query_attention.wrong(
    "the new ones cached alone",
    "What will the next call know about the tokens that were in the cache before this call?",
    plain.edit(
        "return self.W_o(found), (K, V)", "return self.W_o(found), (K[..., c:, :], V[..., c:, :])"
    ),
)
grouped_query_attention.wrong(
    "the cache not read",
    "What is the argument `cache` for?",
    plain.edit("K = torch.cat((cache[0], K), dim=-2)", "before = cache")
    .edit("V = torch.cat((cache[1], V), dim=-2)", "")
    .edit(".tril(c)", ".tril()"),
)
grouped_query_attention.wrong(
    "heads dealt out in turn",
    "There are four query heads and two of keys. Which query heads share the first head of keys, "
    "0 and 1, or 0 and 2?",
    plain.edit(
        "K.repeat_interleave(group, dim=-3), V.repeat_interleave(group, dim=-3)",
        "torch.cat([K] * group, dim=-3), torch.cat([V] * group, dim=-3)",
    ),
)
grouped_query_attention.wrong(
    "not scaled",
    "What are dot products divided by before the softmax?",
    plain.edit(" / math.sqrt(Q.shape[-1])", ""),
)
grouped_query_attention.wrong(
    "scaled by the width of the model",
    "Over how many features does the dot product of a query and a key sum: those of the model, or "
    "those of one head?",
    plain.edit("math.sqrt(Q.shape[-1])", "math.sqrt(X.shape[-1])"),
)
grouped_query_attention.wrong(
    "split without the transpose",
    "In row 0 of your first head's queries, whose features are these? And in row 1?",
    plain.edit(
        "self.W_q(X).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)",
        "self.W_q(X).reshape(*X.shape[:-2], self.n_heads, X.shape[-2], -1)",
    )
    .edit(
        "self.W_k(X).unflatten(-1, (self.n_kv_heads, -1)).transpose(-3, -2)",
        "self.W_k(X).reshape(*X.shape[:-2], self.n_kv_heads, X.shape[-2], -1)",
    )
    .edit(
        "self.W_v(X).unflatten(-1, (self.n_kv_heads, -1)).transpose(-3, -2)",
        "self.W_v(X).reshape(*X.shape[:-2], self.n_kv_heads, X.shape[-2], -1)",
    ),
)
grouped_query_attention.wrong(
    "the cache cut off from the gradient",
    "The numbers are right. Suppose you train on a text that is read in two parts. What gradient "
    "does the first part get from the loss of the second?",
    plain.edit(
        "return self.W_o(found), (K, V)", "return self.W_o(found), (K.detach(), V.detach())"
    ),
)
grouped_query_attention.wrong(
    "sizes that do not fit accepted",
    "There are three query heads and two of keys. What does the docstring ask for?",
    plain.edit(
        "if d_model % n_heads:\n"
        '    raise ValueError(f"{d_model} features for {n_heads} heads")\n'
        "if n_heads % n_kv_heads:\n"
        '    raise ValueError(f"{n_heads} heads of queries, {n_kv_heads} of keys")',
        "",
    ),
)


grouped_query_attention.wrong(
    "the queries counted from 0 alone",
    "Three tokens are cached and one new token comes. What is the position of its query?",
    plain.edit("self.turn(Q, c), self.turn(K, c)", "self.turn(Q, 0), self.turn(K, c)"),
)
grouped_query_attention.wrong(
    "merged without the transpose",
    "Which heads of which tokens are in the first row of your merged matrix?",
    plain.edit(
        "(weights @ values).transpose(-3, -2).flatten(-2)", "(weights @ values).reshape(X.shape)"
    ),
)


@grouped_query_attention.public
def _(rng):
    yield _case(rng, "one head, two tokens, no cache", (), 2, 0, (4, 1, 1)).holds(
        "Its projections `W_q`, `W_k`, `W_v` and `W_o` have no bias.",
        "d_model: the features of a token, n_heads times an even width of a head.",
        "Scores are scaled dot products of turned queries and turned keys.",
        "None for c = 0",
    )
    yield _case(rng, "two heads share one, no cache", (1,), 3, 0, (8, 2, 1)).holds(
        "n_kv_heads: the heads of keys and values; n_heads is a multiple of it.",
        "The first d_head features of a query belong to the first head, and so on; the first "
        "n_heads / n_kv_heads query heads share the first head of keys and values.",
    )
    yield _case(rng, "four heads share two, no cache", (2,), 4, 0, (16, 4, 2)).holds(
        "X: (..., m, d_model), the m newest tokens, m at least 1. Returns (output, cache).",
        "The first d_head…",
    )
    yield _case(rng, "one cached token, one new one", (1,), 1, 1, (8, 2, 1)).holds(
        "cache: the tuple of the keys, turned, and the values of the c tokens before them, "
        "(..., n_kv_heads, c, d_head) each",
        "The newest tokens stand at the positions c to c + m - 1.",
    )
    yield _case(rng, "three cached tokens, two new ones", (2,), 2, 3, (12, 2, 1)).holds(
        "cache: the…",
        "Each attends to the c tokens, to itself and to the new tokens before it.",
        "The output is (..., m, d_model); the cache that is returned is a new tuple, "
        "(..., n_kv_heads, c + m, d_head) each. Gradients flow through both.",
    )
    yield _case(rng, "three other cached tokens", (2,), 2, 3, (12, 2, 1)).holds("cache: the…")
    yield _case(rng, "another base", (2,), 3, 2, (12, 2, 2), base=30.0).holds(
        "base: of the turning."
    )
    yield _case(rng, "four heads share two, five cached tokens", (2,), 3, 5, (16, 4, 2), 500.0)
    yield _case(
        rng, "float32, as many sequences as heads", (4,), 4, 4, (16, 4, 2), dtype=np.float32
    )
    yield _case(rng, "no batch, more new tokens than cached ones", (), 4, 2, (8, 2, 2)).holds(
        "X: (...…"
    )
    yield _case(rng, "three leading axes, one of length 1", (2, 1, 3), 2, 2, (8, 2, 1)).holds(
        "X: (...…"
    )
    yield _case(rng, "one token, heads of two features, a batch of one", (1,), 1, 0, (2, 1, 1))
    yield _case(rng, "far positions", (1,), 2, 300, (8, 2, 1), base=50.0).holds("The newest…")
    yield from _edges(rng, (8, 2, 1))
    for sizes, what in (
        ((9, 2, 1), "nine features, two heads"),
        ((12, 3, 2), "three heads of queries, two of keys"),
        ((1, 2, 1), "one feature, two heads"),
        ((8, 1, 2), "one head of queries, two of keys"),
    ):
        yield _refused(f"sizes that do not fit: {what}", sizes).holds(
            "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
            "n_heads, or n_heads by n_kv_heads."
        )


@grouped_query_attention.hidden
def _(rng):
    n_kv_heads, group, m, c = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    n_heads = n_kv_heads * group
    d_head = int(rng.choice([4, 6]))
    sizes = (n_heads * d_head, n_heads, n_kv_heads)
    base = float(rng.uniform(20, 900))
    yield _case(rng, "no cache", (2,), m, 0, sizes)
    yield _case(rng, "cached tokens and new ones", (2,), m, c, sizes, base=base)
    yield _case(rng, "one new token", (3,), 1, c, sizes)
    yield _case(rng, "all heads share one", (), m, c, (n_heads * d_head, n_heads, 1), base=base)
    yield _case(rng, "no head shares", (2,), m, c, (3 * d_head, 3, 3))
    yield _case(rng, "float32, two leading axes", (2, 3), m, c, sizes, base, np.float32)
    yield _case(rng, "far positions", (1,), 2, int(rng.integers(200, 300)), sizes, base=base)
    yield from _edges(rng, (2 * d_head, 2, 1))
    yield _refused("features that cannot be shared out", (n_heads * d_head + 1, n_heads, 1))
    yield _refused("heads that cannot share", (n_heads * d_head, n_heads, n_heads - 1))


def _edges(rng: np.random.Generator, sizes: tuple[int, int, int]) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden."""
    yield _scaled(_case(rng, "large scores", (1,), 3, 2, sizes), {"W_q": 2000.0}).holds(
        "Scores are…"
    )
    yield _case(rng, "tiny tokens", (2,), 3, 0, sizes, size=1e-9).holds("X: (...…")
    d_model, n_heads, _ = sizes
    case = _case(
        rng, "scores below any stand-in for infinity", (2,), 3, 0, (d_model, n_heads, n_heads)
    )
    yield replace(case, setup=below_any(case.setup))


def _scaled(case: Case, factors: dict[str, float]) -> Case:
    """The same with some of the weights multiplied."""
    assert case.setup
    weights = {
        name: Tensor(one.array * factors.get(name.removesuffix(".weight"), 1.0))
        for name, one in case.setup.weights.items()
    }
    return replace(case, setup=replace(case.setup, weights=weights))


def _refused(note: str, sizes: tuple[int, int, int]) -> Case:
    d_model, n_heads, n_kv_heads = sizes
    pair = (d_model, n_heads) if d_model % n_heads else (n_heads, n_kv_heads)
    X = Tensor(np.zeros((1, 1, d_model)))
    asked = Raises("ValueError", tuple(map(str, pair)))
    return Case(note, (X,), setup=Setup(sizes, {}, {}), raises=asked)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    m: int,
    c: int,
    sizes: tuple[int, int, int],
    base: float | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
) -> Case:
    """m tokens, and a cache of c where c is above 0; sizes: d_model, n_heads, n_kv_heads."""
    keywords: dict[str, Any] = {} if base is None else {"base": base}
    setup = draw_setup(rng, solutions.GroupedQueryAttention, *sizes, dtype=dtype, **keywords)
    X = Tensor((size * rng.normal(size=(*batch, m, sizes[0]))).astype(dtype))
    d_head = sizes[0] // sizes[1]
    keys, values = (rng.normal(size=(*batch, sizes[2], c, d_head)).astype(dtype) for _ in range(2))
    cache = (Tensor(keys, gradient=False), Tensor(values, gradient=False))
    return Case(note, (X, cache) if c else (X,), setup=setup)


grouped_query_attention.lets_through("d_model of 1 refused", "a head has two features or more")
