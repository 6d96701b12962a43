"""The exercise `TodayBlock`: attend, transform, each after a norm of its own. To debug.

The class that is given normalises twice with the same norm. It trains, and nothing looks wrong.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Kind, Setup, Tensor, draw_setup
from solutions import today as solutions

today_block = Declaration(
    solutions.TodayBlock,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "It runs, and a model of such blocks learns. So look at something that the loss does not "
        "show: which of its parameters get a gradient, and which do not?",
        "Follow one token through `forward`, and tick off each part of the docstring when the "
        "code uses it.",
        "Section “Assembled from your own pieces”, and chapter 8 on the block.",
    ),
)


class Plain(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff, base=10_000.0, eps=1e-5):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.base = n_heads, n_kv_heads, base
        d_kv = d_model // n_heads * n_kv_heads
        widths = {"W_q": d_model, "W_k": d_kv, "W_v": d_kv, "W_o": d_model}
        self.norm_1 = nn.RMSNorm(d_model, eps)
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d_model, width, bias=False) for name, width in widths.items()}
        )
        self.norm_2 = nn.RMSNorm(d_model, eps)
        sizes = {"W_gate": (d_model, d_ff), "W_up": (d_model, d_ff), "W_down": (d_ff, d_model)}
        self.feed_forward = nn.ModuleDict(
            {name: nn.Linear(*size, bias=False) for name, size in sizes.items()}
        )

    def turned(self, X, first):
        d = X.shape[-1]
        places = torch.arange(first, first + X.shape[-2])
        angles = places[:, None] * self.base ** (-torch.arange(0, d, 2) / d)
        x, y = X[..., ::2], X[..., 1::2]
        cosine, sine = angles.cos(), angles.sin()
        return torch.stack([x * cosine - y * sine, x * sine + y * cosine], dim=-1).flatten(-2)

    def attend(self, X, cache):
        Q, K, V = (
            self.attention[name](X).unflatten(-1, (heads, -1)).transpose(-3, -2)
            for name, heads in (
                ("W_q", self.n_heads),
                ("W_k", self.n_kv_heads),
                ("W_v", self.n_kv_heads),
            )
        )
        c = 0 if cache is None else cache[0].shape[-2]
        Q, K = self.turned(Q, c), self.turned(K, c)
        if cache is not None:
            K, V = torch.cat([cache[0], K], dim=-2), torch.cat([cache[1], V], dim=-2)
        seen = torch.ones(X.shape[-2], K.shape[-2], dtype=torch.bool).tril(c)
        found = F.scaled_dot_product_attention(Q, K, V, seen, enable_gqa=True)
        return self.attention["W_o"](found.transpose(-3, -2).flatten(-2)), (K, V)

    def transform(self, X):
        maps = self.feed_forward
        return maps["W_down"](F.silu(maps["W_gate"](X)) * maps["W_up"](X))

    def forward(self, X, cache=None):
        found, cache = self.attend(self.norm_1(X), cache)
        X = X + found
        return X + self.transform(self.norm_2(X)), cache


plain = today_block.right(Plain)


@today_block.right
class NormsWrittenOut(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff, base=10_000.0, eps=1e-5):
        super().__init__()
        self.sizes, self.base, self.eps = (n_heads, n_kv_heads, d_model // n_heads), base, eps
        d_kv = n_kv_heads * self.sizes[2]
        self.feed_forward, self.attention = nn.ModuleDict(), nn.ModuleDict()
        for name in ("W_gate", "W_up"):
            self.feed_forward[name] = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward["W_down"] = nn.Linear(d_ff, d_model, bias=False)
        for name, width in (("W_o", d_model), ("W_v", d_kv), ("W_k", d_kv), ("W_q", d_model)):
            self.attention[name] = nn.Linear(d_model, width, bias=False)
        self.norm_2, self.norm_1 = nn.RMSNorm(d_model), nn.RMSNorm(d_model)

    def normed(self, X, norm):
        return X / (X.square().mean(-1, keepdim=True) + self.eps).sqrt() * norm.weight

    def turned(self, Y, first):
        d = Y.shape[-1]
        parts = []
        for i in range(d // 2):
            angles = torch.arange(first, first + Y.shape[-2]) * self.base ** (-2 * i / d)
            x, y = Y[..., 2 * i], Y[..., 2 * i + 1]
            parts += [x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()]
        return torch.stack(parts, dim=-1)

    def forward(self, X, cache=None):
        n_heads, n_kv_heads, d_head = self.sizes
        Y, maps, network = self.normed(X, self.norm_1), self.attention, self.feed_forward
        c = 0 if cache is None else cache[0].shape[-2]
        keys, values = (torch.stack(maps[W](Y).split(d_head, -1), -3) for W in ("W_k", "W_v"))
        keys = self.turned(keys, c)
        if c:
            keys, values = torch.cat([cache[0], keys], -2), torch.cat([cache[1], values], -2)
        heads = []
        for head, query in enumerate(maps["W_q"](Y).split(d_head, -1)):
            own = head // (n_heads // n_kv_heads)
            scores = self.turned(query, c) @ keys[..., own, :, :].mT / d_head**0.5
            future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(c + 1)
            weights = scores.masked_fill(future, -torch.inf).softmax(-1)
            heads.append(weights @ values[..., own, :, :])
        X = X + maps["W_o"](torch.cat(heads, -1))
        Y = self.normed(X, self.norm_2)
        gate = network["W_gate"](Y)
        written = network["W_down"](gate * gate.sigmoid() * network["W_up"](Y))
        return X + written, (keys, values)


@today_block.right
class TokenByToken(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff, base=10_000.0, eps=1e-5):
        super().__init__()
        d_head = d_model // n_heads
        self.group, self.d_head, self.base = n_heads // n_kv_heads, d_head, base
        self.norm_1, self.norm_2 = (nn.RMSNorm(d_model, eps=eps) for _ in range(2))
        maps = {f"W_{x}": (d_model, d_head * n_kv_heads) for x in "kv"}
        maps |= {f"W_{x}": (d_model, d_model) for x in "qo"}
        network = {"W_down": (d_ff, d_model), "W_gate": (d_model, d_ff), "W_up": (d_model, d_ff)}
        self.attention, self.feed_forward = (
            nn.ModuleDict({name: nn.Linear(*size, bias=False) for name, size in parts.items()})
            for parts in (maps, network)
        )

    def one(self, x, cache):
        y, maps = self.norm_1(x), self.attention
        q, k, v = (maps[name](y).unflatten(-1, (-1, self.d_head)) for name in ("W_q", "W_k", "W_v"))
        place = 0 if cache is None else cache[0].shape[-2]
        angles = place * self.base ** (-torch.arange(0, self.d_head, 2) / self.d_head)
        turns = torch.polar(torch.ones_like(angles), angles)
        q, k = (
            torch.view_as_real(torch.view_as_complex(a.unflatten(-1, (-1, 2))) * turns).flatten(-2)
            for a in (q, k)
        )
        K, V = k.unsqueeze(-2), v.unsqueeze(-2)
        if cache is not None:
            K, V = torch.cat([cache[0], K], -2), torch.cat([cache[1], V], -2)
        q = q.unflatten(-2, (-1, self.group))
        weights = torch.softmax(q @ K.mT / self.d_head**0.5, dim=-1)
        x = x + maps["W_o"]((weights @ V).flatten(-3))
        y, network = self.norm_2(x), self.feed_forward
        bent = F.silu(network["W_gate"](y))
        return x + network["W_down"](bent * network["W_up"](y)), (K, V)

    def forward(self, X, cache=None):
        rows = []
        for x in X.unbind(-2):
            row, cache = self.one(x, cache)
            rows.append(row)
        return torch.stack(rows, dim=-2), cache


today_block.wrong(
    "norm_1 used twice",
    "What gradient does the weight of `norm_2` get?",
    plain.edit("self.norm_2(X))", "self.norm_1(X))"),
    released=True,
)
today_block.wrong(
    "the norm on the residual path",
    "With `W_o` and `W_down` set to 0, neither part adds anything. Does your block then return "
    "its input?",
    plain.edit(
        "found, cache = self.attend(self.norm_1(X), cache)\n"
        "X = X + found\n"
        "return X + self.transform(self.norm_2(X)), cache",
        "X = self.norm_1(X)\n"
        "found, cache = self.attend(X, cache)\n"
        "X = self.norm_2(X + found)\n"
        "return X + self.transform(X), cache",
    ),
)
today_block.wrong(
    "the norms exchanged",
    "Which norm comes before the attention: the first or the second?",
    plain.edit("self.norm_1(X)", "self.norm_3(X)")
    .edit("self.norm_2(X)", "self.norm_1(X)")
    .edit("self.norm_3(X)", "self.norm_2(X)"),
)
today_block.wrong(
    "the norm after each part",
    "What does the attention read: the tokens as they are, or the normalised ones?",
    plain.edit("self.attend(self.norm_1(X), cache)", "self.attend(X, cache)")
    .edit("X = X + found", "X = X + self.norm_1(found)")
    .edit("self.transform(self.norm_2(X))", "self.norm_2(self.transform(X))"),
)
today_block.wrong(
    "no norm before the network",
    "Multiply the tokens after the attention by 10. Should the feed-forward network's "
    "contribution grow?",
    plain.edit("self.transform(self.norm_2(X))", "self.transform(X)"),
)
today_block.wrong(
    "no residual around the network",
    "With `W_down` set to 0, what is left of the tokens in your block?",
    plain.edit("return X + self.transform", "return self.transform"),
)
today_block.wrong(
    "no residual around the attention",
    "With `W_o` set to 0, what is left of the tokens in your block?",
    plain.edit("X = X + found", "X = found"),
)
today_block.wrong(
    "the network reads what the attention read",
    "Do the tokens that the feed-forward network reads contain the attention's result?",
    plain.edit(
        "X = X + found\nreturn X + self.transform(self.norm_2(X)), cache",
        "return X + found + self.transform(self.norm_2(X)), cache",
    ),
)
today_block.wrong(
    "the attention's result added twice",
    "Follow the attention's result: how often is it added on its way to the output?",
    plain.edit("return X + self.transform", "return X + found + self.transform"),
)
today_block.wrong(
    "the cache not passed on",
    "Three tokens are cached. Does your block pass on everything that the attention needs?",
    plain.edit("self.attend(self.norm_1(X), cache)", "self.attend(self.norm_1(X), None)"),
)
today_block.wrong(
    "eps ignored",
    "Make two blocks with different `eps`, and call them with the same tokens, all near 0. Do "
    "their outputs differ?",
    plain.edit("nn.RMSNorm(d_model, eps)", "nn.RMSNorm(d_model, 1e-5)", times=2),
)


@today_block.public
def _(rng):
    yield _case(rng, "one head, two tokens, no cache", (1,), 2, 0, (4, 1, 1, 3)).holds(
        "Its parts are called `norm_1`, `attention`, `norm_2` and `feed_forward`.",
        "The sizes of `GroupedQueryAttention` and of `SwiGLU`.",
        "What a part returns is added to what went into its norm, unnormalised.",
    )
    yield _case(rng, "two heads share keys, no cache", (2,), 3, 0, (8, 2, 1, 5)).holds(
        "The sizes…",
        "X: (..., m, d_model), the newest tokens. Returns (output, cache), as the attention does.",
    )
    yield _case(rng, "three cached tokens, two new ones", (2,), 2, 3, (8, 2, 1, 5)).holds(
        "X: (...…"
    )
    yield _case(rng, "three other cached tokens", (2,), 2, 3, (8, 2, 1, 5)).holds("What a part…")
    yield _case(rng, "a large eps", (2,), 3, 0, (8, 2, 2, 6), eps=0.5).holds("eps: of both norms.")
    yield _case(rng, "a large eps, cached tokens", (2,), 2, 2, (8, 2, 2, 6), eps=2.0).holds(
        "eps: of…"
    )
    yield _case(rng, "another base", (2,), 3, 2, (8, 2, 1, 6), base=20.0).holds("The sizes…")
    yield _case(rng, "float32, a batch and more", (2, 3), 2, 3, (8, 4, 2, 5), dtype=np.float32)
    yield _case(rng, "no batch, as many new tokens as cached", (), 3, 3, (12, 3, 1, 4))
    yield _case(rng, "three leading axes, one of length 1", (2, 1, 3), 2, 1, (8, 2, 1, 3))
    yield _case(rng, "one token, one head, a batch of one", (1,), 1, 0, (2, 1, 1, 1))
    yield from _edges(rng, (8, 2, 1, 5))


@today_block.hidden
def _(rng):
    m, c, d_ff = (int(one) for one in rng.permutation([2, 3, 5]))
    n_kv_heads, group = (int(one) for one in rng.permutation([2, 3]))
    sizes = (4 * n_kv_heads * group, n_kv_heads * group, n_kv_heads, d_ff)
    yield _case(rng, "no cache", (2,), m, 0, sizes)
    yield _case(
        rng, "cached tokens and new ones", (2,), m, c, sizes, base=float(rng.integers(9, 99))
    )
    yield _case(rng, "a large eps", (2,), m, 0, sizes, eps=float(rng.uniform(0.5, 2)))
    yield _case(rng, "a large eps, cached tokens", (1,), m, c, sizes, eps=float(rng.uniform(1, 3)))
    yield _case(rng, "float32, two leading axes", (2, 3), m, c, sizes, dtype=np.float32)
    yield _case(rng, "no batch", (), m, c, (8, 2, 2, d_ff))
    yield from _edges(rng, (8, 2, 1, d_ff))


def _edges(rng: np.random.Generator, sizes: tuple[int, ...]) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden."""
    case = _case(rng, "large scores", (1,), 3, 2, sizes)
    assert case.setup
    weights = {
        name: Tensor(one.array * 2000 if "W_q" in name else one.array)
        for name, one in case.setup.weights.items()
    }
    yield replace(case, setup=replace(case.setup, weights=weights))
    yield _case(rng, "tiny tokens", (2,), 3, 0, sizes, size=1e-9).holds("What a part…")
    d_model, n_heads, _, d_ff = sizes
    case = _case(
        rng, "scores below any stand-in for infinity", (2,), 3, 0, (d_model, n_heads, n_heads, d_ff)
    )
    yield replace(case, setup=below_any(case.setup))


def below_any(setup: Setup | None) -> Setup:
    """The setup with opposite queries and keys, so that all scores of a token on itself are low."""
    assert setup
    weights = dict(setup.weights)
    for name, one in setup.weights.items():
        if name.endswith("W_q.weight"):
            weights[name] = Tensor(1e6 * one.array)
            weights[name.replace("W_q", "W_k")] = Tensor(-1e6 * one.array)
    return replace(setup, weights=weights)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    m: int,
    c: int,
    sizes: tuple[int, ...],
    dtype: type = np.float64,
    size: float = 1.0,
    **keywords: Any,
) -> Case:
    """m tokens, and a cache of c where c is above 0; sizes: d_model, n_heads, n_kv_heads, d_ff."""
    setup = draw_setup(rng, solutions.TodayBlock, *sizes, dtype=dtype, **keywords)
    X = Tensor((size * rng.normal(size=(*batch, m, sizes[0]))).astype(dtype))
    shape = (*batch, sizes[2], c, sizes[0] // sizes[1])
    keys, values = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    cache = (Tensor(keys, gradient=False), Tensor(values, gradient=False))
    return Case(note, (X, cache) if c else (X,), setup=setup)
