"""The next token of a small GPT: from all rows, from the last row only, and with a cache."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from ...gpt_and_bert import GPT
from ...transformer_block import EncoderBlock, split_heads
from .by_length import D_FF, D_MODEL, N_HEADS
from .measuring import seconds

LENGTHS = (64, 256, 1024)
"""The numbers of tokens before the next one."""

VOCABULARY, N_BLOCKS = 256, 2
WAYS = ("all rows", "last row", "cache")
Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of the tokens so far, (1, n_heads, c, d_head) each, for each block."""


def next_logits(
    model: GPT, tokens: Tensor, cache: Cache | None = None, last: bool = True
) -> Tensor:
    """Return the logits of the next token: (VOCABULARY,).

    tokens: ids (m,), all so far or, with a cache, only the newest. cache: of the tokens before
    them; it is extended. last: in the last block, compute the last row only, since nobody reads the
    others; False also computes their logits.
    """
    c = cache[0][0].shape[2] if cache else 0
    X = (model.embedding(tokens) + model.positions.weight[c : c + len(tokens)])[None]
    for number, block in enumerate(model.blocks):
        assert isinstance(block, EncoderBlock)
        attention, Y = block.attention, block.norm_1(X)  # (1, m, D_MODEL)
        rows = 1 if last and number == len(model.blocks) - 1 else len(tokens)
        Q = split_heads(attention.W_q(Y[:, -rows:]), N_HEADS)
        K, V = (split_heads(one(Y), N_HEADS) for one in (attention.W_k, attention.W_v))
        if cache is not None and c:
            K, V = (torch.cat(two, dim=2) for two in zip(cache[number], (K, V), strict=True))
        if cache is not None:
            cache[number : number + 1] = [(K, V)]
        causal = rows > 1 and rows == K.shape[2]
        found = F.scaled_dot_product_attention(Q, K, V, is_causal=causal)
        X = X[:, -rows:] + attention.W_o(found.transpose(1, 2).flatten(-2))
        X = X + block.feed_forward(block.norm_2(X))
    logits = model.norm(X) @ model.embedding.weight.T  # (1, rows, VOCABULARY)
    return logits[0, -1]


def writer(seed: int = 0) -> GPT:
    """Return an untrained GPT; its tokens have no meaning but the same cost."""
    torch.manual_seed(seed)
    return GPT(VOCABULARY, D_MODEL, N_HEADS, D_FF, N_BLOCKS, LENGTHS[-1] + 1)


@torch.no_grad()
def written(model: GPT, n: int) -> dict[str, Tensor]:
    """Return the logits (n, VOCABULARY) of n tokens that each way writes, always the likeliest."""
    found = {}
    for way in WAYS:
        ids, cache, rows = torch.zeros(1, dtype=torch.long), _empty(way), []
        for _ in range(n):
            new = ids[-1:] if way == "cache" else ids
            rows.append(next_logits(model, new, cache, last=way != "all rows"))
            ids = torch.cat([ids, rows[-1].argmax()[None]])
        found[way] = torch.stack(rows)
    return found


def _empty(way: str) -> Cache | None:
    return [] if way == "cache" else None


def _with(model: GPT, new: Tensor, cache: Cache) -> Tensor:
    """Return the logits after a new token, and leave the cache as it was."""
    return next_logits(model, new, list(cache))


def operations(way: str, n: int) -> int:
    """Count the operations of the next token after n: of all matrix products, none skipped.

    In the last block, "last row" makes keys and values of all rows, and the rest of one.
    """
    d, meet = D_MODEL, 4 * D_MODEL * n  # a query's scores and blend
    rows = {"all rows": (n, n, n), "last row": (n, n, 1), "cache": (1, 1, 1)}[way]
    others, keys, last = rows  # in the blocks before the last, and in the last
    before = (N_BLOCKS - 1) * others * (24 * d * d + meet)
    return before + 4 * keys * d * d + last * (20 * d * d + meet + 2 * d * VOCABULARY)


@torch.no_grad()
def compare(model: GPT) -> dict[int, dict[str, float]]:
    """Return the number of tokens -> way -> seconds of the next token; the ways take turns."""
    found = {}
    for n in LENGTHS:
        ids = torch.randint(VOCABULARY, (n,), generator=torch.Generator().manual_seed(n))
        cache: Cache = []
        next_logits(model, ids[:-1], cache)
        calls = {
            "all rows": partial(next_logits, model, ids, last=False),
            "last row": partial(next_logits, model, ids),
            "cache": partial(_with, model, ids[-1:], cache),
        }
        found[n] = seconds(calls)
    return found
