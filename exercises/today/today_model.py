"""The exercise `TodayModel`: the pieces put together, with a cache for each block."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Tensor, draw_setup
from solutions import today as solutions

from .today_block import below_any

today_model = Declaration(
    solutions.TodayModel,
    points=5,
    difficulty=3,
    minutes=30,
    help=(
        "Look up the tokens, run the blocks one after the other, normalise, and compare with "
        "every embedding. Keep what each block returns besides its tokens.",
        "The blocks are an `nn.ModuleList` called `blocks`. Go through blocks and caches side by "
        "side; without caches each block gets None. Nothing is added for the positions: which "
        "part deals with them?",
        "Section “Assembled from your own pieces”, and chapter 10's `GPT`.",
    ),
)


class Plain(nn.Module):
    def __init__(
        self,
        vocab_size,
        d_model,
        n_heads,
        n_kv_heads,
        d_ff,
        n_layers,
        base=10_000.0,
        eps=1e-5,
    ):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.base = n_heads, n_kv_heads, base
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        d_kv = d_model // n_heads * n_kv_heads
        for _ in range(n_layers):
            block = nn.ModuleDict({f"norm_{i}": nn.RMSNorm(d_model, eps) for i in (1, 2)})
            widths = {"W_q": d_model, "W_k": d_kv, "W_v": d_kv, "W_o": d_model}
            maps = {name: nn.Linear(d_model, width, bias=False) for name, width in widths.items()}
            block["attention"] = nn.ModuleDict(maps)
            sizes = {"W_gate": (d_model, d_ff), "W_up": (d_model, d_ff), "W_down": (d_ff, d_model)}
            maps = {name: nn.Linear(*size, bias=False) for name, size in sizes.items()}
            block["feed_forward"] = nn.ModuleDict(maps)
            self.blocks.append(block)
        self.norm = nn.RMSNorm(d_model, eps)

    def turned(self, X, first):
        d = X.shape[-1]
        places = torch.arange(first, first + X.shape[-2])
        angles = places[:, None] * self.base ** (-torch.arange(0, d, 2) / d)
        x, y = X[..., ::2], X[..., 1::2]
        cosine, sine = angles.cos(), angles.sin()
        return torch.stack([x * cosine - y * sine, x * sine + y * cosine], dim=-1).flatten(-2)

    def attend(self, maps, X, cache):
        Q = maps["W_q"](X).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        K = maps["W_k"](X).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        V = maps["W_v"](X).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        c = 0 if cache is None else cache[0].shape[2]
        Q, K = self.turned(Q, c), self.turned(K, c)
        if cache is not None:
            K, V = torch.cat([cache[0], K], dim=2), torch.cat([cache[1], V], dim=2)
        seen = torch.ones(X.shape[1], K.shape[2], dtype=torch.bool).tril(c)
        found = F.scaled_dot_product_attention(Q, K, V, seen, enable_gqa=True)
        return maps["W_o"](found.transpose(1, 2).flatten(2)), (K, V)

    def run(self, block, X, cache):
        found, cache = self.attend(block["attention"], block["norm_1"](X), cache)
        X = X + found
        maps, Y = block["feed_forward"], block["norm_2"](X)
        return X + maps["W_down"](F.silu(maps["W_gate"](Y)) * maps["W_up"](Y)), cache

    def forward(self, tokens, caches=None):
        X = self.embedding(tokens)
        if caches is None:
            caches = [None] * len(self.blocks)
        longer = []
        for block, cache in zip(self.blocks, caches, strict=True):
            X, cache = self.run(block, X, cache)
            longer.append(cache)
        return self.norm(X) @ self.embedding.weight.T, longer


plain = today_model.right(Plain)


@today_model.right
class InPlace(nn.Module):
    def __init__(
        self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10_000.0, eps=1e-5
    ):
        def block():
            sizes = {"W_o": (d_model, d_model), "W_q": (d_model, d_model)}
            d_kv = n_kv_heads * (d_model // n_heads)
            sizes |= {"W_v": (d_model, d_kv), "W_k": (d_model, d_kv)}
            network = {
                "W_up": (d_model, d_ff),
                "W_gate": (d_model, d_ff),
                "W_down": (d_ff, d_model),
            }
            parts = nn.ModuleDict()
            for name, maps in (("attention", sizes), ("feed_forward", network)):
                linear = {one: nn.Linear(*size, bias=False) for one, size in maps.items()}
                parts[name] = nn.ModuleDict(linear)
            parts["norm_2"], parts["norm_1"] = nn.RMSNorm(d_model), nn.RMSNorm(d_model)
            return parts

        super().__init__()
        self.norm = nn.RMSNorm(d_model)
        self.blocks = nn.ModuleList([block() for _ in range(n_layers)])
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.heads, self.base, self.eps = (n_heads, n_kv_heads, d_model // n_heads), base, eps

    def parts(self, block):
        return [block[name] for name in ("attention", "feed_forward", "norm_1", "norm_2")]

    def normed(self, X, norm):
        return X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + self.eps) * norm.weight

    def forward(self, tokens, caches=None):
        n_heads, n_kv_heads, d_head = self.heads
        c = caches[0][0].shape[-2] if caches else 0
        n = c + tokens.shape[1]
        speeds = self.base ** (-torch.arange(0, d_head, 2) / d_head)
        angles = (torch.arange(c, n)[:, None] * speeds).repeat_interleave(2, dim=-1)
        X, new = F.embedding(tokens, self.embedding.weight), []
        for at, block in enumerate(self.blocks):
            maps, network, *norms = self.parts(block)
            Y = self.normed(X, norms[0])
            Q, K, V = (
                torch.stack(maps[name](Y).split(d_head, dim=-1), dim=1)
                for name in ("W_q", "W_k", "W_v")
            )
            Q, K = (
                one * angles.cos()
                + torch.stack([-one[..., 1::2], one[..., ::2]], -1).flatten(-2) * angles.sin()
                for one in (Q, K)
            )
            if caches:
                K, V = (
                    torch.cat([old, one], 2) for old, one in zip(caches[at], (K, V), strict=True)
                )
            new.append((K, V))
            K, V = (one.repeat_interleave(n_heads // n_kv_heads, dim=1) for one in (K, V))
            scores = torch.einsum("bhid,bhjd->bhij", Q, K) / d_head**0.5
            future = torch.arange(n) > torch.arange(c, n)[:, None]
            weights = scores.masked_fill(future, -torch.inf).softmax(-1)
            X = X + maps["W_o"](torch.einsum("bhij,bhjd->bihd", weights, V).flatten(-2))
            Y = self.normed(X, norms[1])
            gate = network["W_gate"](Y)
            X = X + network["W_down"](torch.sigmoid(gate) * gate * network["W_up"](Y))
        return F.linear(self.normed(X, self.norm), self.embedding.weight), tuple(new)


@today_model.right
class TokenByToken(nn.Module):
    def __init__(
        self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10_000.0, eps=1e-5
    ):
        super().__init__()
        self.d_head, self.group, self.base = d_model // n_heads, n_heads // n_kv_heads, base
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.norm = nn.RMSNorm(d_model, eps=eps)
        self.blocks = nn.ModuleList()
        d_kv = self.d_head * n_kv_heads
        for _ in range(n_layers):
            block = nn.Module()
            block.norm_1, block.norm_2 = (nn.RMSNorm(d_model, eps=eps) for _ in range(2))
            block.attention, block.feed_forward = nn.Module(), nn.Module()
            for part, name, size in (
                (block.attention, "W_k", (d_model, d_kv)),
                (block.attention, "W_q", (d_model, d_model)),
                (block.attention, "W_v", (d_model, d_kv)),
                (block.attention, "W_o", (d_model, d_model)),
                (block.feed_forward, "W_down", (d_ff, d_model)),
                (block.feed_forward, "W_gate", (d_model, d_ff)),
                (block.feed_forward, "W_up", (d_model, d_ff)),
            ):
                setattr(part, name, nn.Linear(*size, bias=False))
            self.blocks.append(block)

    def parts(self, block):
        return block.attention, block.feed_forward, block.norm_1, block.norm_2

    def one(self, tokens, caches):
        x, longer = self.embedding(tokens), []
        for block, cache in zip(self.blocks, caches, strict=True):
            maps, network, norm_1, norm_2 = self.parts(block)
            y = norm_1(x)
            q, k, v = (
                W(y).unflatten(-1, (-1, self.d_head)) for W in (maps.W_q, maps.W_k, maps.W_v)
            )
            place = 0 if cache is None else cache[0].shape[-2]
            angles = place * self.base ** (-torch.arange(0, self.d_head, 2) / self.d_head)
            turns = torch.polar(torch.ones_like(angles), angles)
            q, k = (
                torch.view_as_real(torch.view_as_complex(a.unflatten(-1, (-1, 2))) * turns)
                for a in (q, k)
            )
            K, V = k.flatten(-2).unsqueeze(-2), v.unsqueeze(-2)
            if cache is not None:
                K, V = torch.cat([cache[0], K], -2), torch.cat([cache[1], V], -2)
            longer.append((K, V))
            q = q.flatten(-2).unflatten(-2, (-1, self.group))
            weights = torch.softmax(q @ K.mT / self.d_head**0.5, dim=-1)
            x = x + maps.W_o((weights @ V).flatten(-3))
            y = norm_2(x)
            x = x + network.W_down(F.silu(network.W_gate(y)) * network.W_up(y))
        return torch.einsum("bd,vd->bv", self.norm(x), self.embedding.weight), longer

    def forward(self, tokens, caches=None):
        caches, rows = caches or [None] * len(self.blocks), []
        for column in tokens.unbind(1):
            row, caches = self.one(column, caches)
            rows.append(row)
        return torch.stack(rows, dim=1), caches


today_model.wrong(
    "one cache for all blocks",
    "Each block makes its own keys. Which ones does your second block read?",
    plain.edit("longer = []", "longer, first = [], caches[0] if caches else None").edit(
        "self.run(block, X, cache)", "self.run(block, X, first)"
    ),
)
today_model.wrong(
    "the caches in the wrong order",
    "Which block does the first of the caches belong to: the one that reads first, or last?",
    plain.edit("longer.append(cache)", "longer.insert(0, cache)"),
)
today_model.wrong(
    "the caches not passed on",
    "What does your model do with the text that came before a token?",
    plain.edit("self.run(block, X, cache)", "self.run(block, X, None)"),
)
today_model.wrong(
    "the old caches returned",
    "What does the next call know about the tokens that were read in this one?",
    plain.edit(
        "longer.append(cache)",
        "longer.append(cache)\nif caches[0] is not None:\n    longer = list(caches)",
    ),
)
today_model.wrong(
    "no norm at the end", "Where does your module use `norm`?", plain.edit("self.norm(X)", "X")
)
today_model.wrong(
    "the embedding normalised",
    "How often is the last norm applied, and where? Does the docstring have one before the blocks?",
    plain.edit("X = self.embedding(tokens)", "X = self.norm(self.embedding(tokens))"),
)
today_model.wrong(
    "the embedding scaled",
    "Chapter 9 multiplied the embedding by a root. Does the docstring ask for it here?",
    plain.edit(
        "self.embedding(tokens)", "self.embedding(tokens) * self.norm.weight.numel() ** 0.5"
    ),
)
today_model.wrong(
    "the first block again and again",
    "Make a model of two blocks. Do gradients reach the second one?",
    plain.edit("self.run(block, X, cache)", "self.run(self.blocks[0], X, cache)"),
)
today_model.wrong(
    "every block reads the embedding",
    "What does the second block read: the embedded tokens, or the output of the first block?",
    plain.edit("longer = []", "longer, first = [], X").edit(
        "self.run(block, X, cache)", "self.run(block, first, cache)"
    ),
)
today_model.wrong(
    "the logits from normalised embeddings",
    "Are the logits dot products with the embeddings, or cosines?",
    plain.edit("@ self.embedding.weight.T", "@ F.normalize(self.embedding.weight, dim=-1).T"),
)
today_model.wrong(
    "the embedding read only",
    "One table reads and writes. Does the gradient of the logits reach it by both ways?",
    plain.edit("@ self.embedding.weight.T", "@ self.embedding.weight.detach().T"),
)
today_model.wrong(
    "probabilities in place of logits",
    "Can a row of your output contain a negative number?",
    plain.edit(
        "self.norm(X) @ self.embedding.weight.T",
        "(self.norm(X) @ self.embedding.weight.T).softmax(-1)",
    ),
)
today_model.wrong(
    "the last row alone",
    "How many rows of logits does the docstring ask for?",
    plain.edit("return self.norm(X) @", "return self.norm(X[:, -1:]) @"),
)


@today_model.public
def _(rng):
    yield _case(rng, "no block yet: the way in and the way out", 1, 3, 0, (5, 4, 2, 1, 3, 0)).holds(
        "Its parts are called `embedding`, `blocks` and `norm`.",
        "the embedding reads and writes, as in chapter 10.",
        "vocab_size: the ids go from 0 up to it. n_layers: 0 or more.",
        "row i scores what follows token i, by the dot product of each candidate's embedding with "
        "the stream after the last norm.",
    )
    yield _case(rng, "one block", 1, 3, 0, (5, 4, 2, 1, 3, 1)).holds(
        "Its parts…", "The rest is a block's.", "None if there are none."
    )
    yield _case(rng, "two blocks", 2, 4, 0, (7, 8, 2, 1, 5, 2)).holds(
        "tokens: ids (batch, m), the newest ones, m at least 1. Returns (logits, caches).",
        "The logits are (batch, m, vocab_size)",
    )
    yield _case(rng, "two blocks and their caches", 2, 2, 3, (7, 8, 2, 1, 5, 2)).holds(
        "caches: what the last call returned, one a block, for the tokens before",
    )
    yield _case(rng, "two blocks, another text", 2, 2, 3, (7, 8, 2, 1, 5, 2)).holds("caches: what…")
    yield _case(rng, "one block, one new token", 2, 1, 4, (6, 8, 2, 2, 3, 1)).holds("caches: what…")
    yield _case(rng, "three blocks, as many texts as blocks", 3, 3, 3, (6, 4, 2, 1, 3, 3)).holds(
        "caches: what…"
    )
    yield _case(rng, "another base", 2, 3, 2, (7, 8, 2, 1, 5, 1), base=20.0).holds("The rest…")
    yield _case(rng, "a large eps", 2, 3, 0, (7, 8, 2, 1, 5, 1), eps=0.5).holds("The rest…")
    yield _case(rng, "a large eps, and caches", 2, 2, 2, (7, 8, 2, 1, 5, 2), eps=2.0)
    yield _case(rng, "float32, two blocks", 3, 3, 2, (9, 8, 4, 2, 5, 2), dtype=np.float32)
    yield _case(rng, "a vocabulary of one token", 2, 3, 0, (1, 4, 2, 1, 3, 1)).holds("vocab_size…")
    yield _case(rng, "one token, one head, a batch of one", 1, 1, 0, (3, 2, 1, 1, 1, 1))
    yield from _edges(rng, (5, 4, 2, 3))


@today_model.hidden
def _(rng):
    m, c, d_ff, V = (int(one) for one in rng.permutation([2, 3, 5, 7]))
    n_kv_heads, group = (int(one) for one in rng.permutation([1, 2]))
    sizes = (V, 4 * n_kv_heads * group, n_kv_heads * group, n_kv_heads, d_ff)
    yield _case(rng, "no block yet: the way in and the way out", 2, m, 0, (*sizes, 0))
    yield _case(rng, "two blocks", 2, m, 0, (*sizes, 2))
    base = float(rng.integers(9, 99))
    yield _case(rng, "two blocks and their caches", 2, m, c, (*sizes, 2), base=base)
    yield _case(rng, "three blocks, one new token", 3, 1, c, (*sizes, 3))
    yield _case(rng, "a large eps", 2, m, c, (*sizes, 1), eps=float(rng.uniform(0.5, 2)))
    yield _case(rng, "float32", 2, m, c, (*sizes, 2), dtype=np.float32)
    yield from _edges(rng, (V, 4, 2, d_ff))


def _edges(rng: np.random.Generator, sizes: tuple[int, int, int, int]) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden."""
    V, d_model, n_heads, d_ff = sizes
    case = _case(rng, "large scores", 1, 3, 2, (V, d_model, n_heads, 1, d_ff, 1))
    assert case.setup
    weights = {
        name: Tensor(one.array * 2000 if "W_q" in name else one.array)
        for name, one in case.setup.weights.items()
    }
    yield replace(case, setup=replace(case.setup, weights=weights))
    low = (V, d_model, n_heads, n_heads, d_ff, 1)
    case = _case(rng, "scores below any stand-in for infinity", 2, 3, 0, low)
    yield replace(case, setup=below_any(case.setup))


def _case(
    rng: np.random.Generator,
    note: str,
    batch: int,
    m: int,
    c: int,
    sizes: tuple[int, ...],
    dtype: type = np.float64,
    **keywords: Any,
) -> Case:
    """`batch` texts of m tokens, with caches of c where c is above 0; sizes: of `TodayModel`."""
    setup = draw_setup(rng, solutions.TodayModel, *sizes, dtype=dtype, **keywords)
    tokens = Tensor(rng.integers(sizes[0], size=(batch, m)))
    shape = (batch, sizes[3], c, sizes[1] // sizes[2])
    caches = [
        tuple(Tensor(rng.normal(size=shape).astype(dtype), gradient=False) for _ in range(2))
        for _ in range(sizes[5])
    ]
    return Case(note, (tokens, caches) if c else (tokens,), setup=setup)
