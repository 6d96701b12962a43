"""Write with GPT: reading all tokens again for each new one, or keeping keys and values."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ...gpt_and_bert import GPT, sample_next
from ...transformer_block import EncoderBlock, split_heads

Cache = list[tuple[Tensor, Tensor]]
"""For each block, the keys and the values of all tokens so far: (1, n_heads, n, d_head) each."""


@torch.no_grad()
def write(
    model: GPT,
    ids: Tensor,
    n_tokens: int,
    seed: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Continue ids, (n,), by n_tokens; n + n_tokens is at most the model's positions."""
    generator = np.random.default_rng(seed)
    for _ in range(n_tokens):
        logits = model(ids[None])[0, -1].double().numpy()
        chosen = sample_next(logits, temperature, top_k, top_p, generator)
        ids = torch.cat([ids, torch.tensor([int(chosen)])])
    return ids


@torch.no_grad()
def write_with_cache(
    model: GPT, ids: Tensor, n_tokens: int, seed: int, temperature: float = 1.0
) -> Tensor:
    """Write the same tokens as `write`, passing each through the blocks once."""
    generator = np.random.default_rng(seed)
    cache: Cache = []
    logits = last_logits(model, ids, cache)
    for _ in range(n_tokens):
        chosen = sample_next(logits.double().numpy(), temperature, None, None, generator)
        ids = torch.cat([ids, torch.tensor([int(chosen)])])
        logits = last_logits(model, ids[-1:], cache)
    return ids


def last_logits(model: GPT, new: Tensor, cache: Cache) -> Tensor:
    """Return the logits after the last of the new tokens (m,), and add all of them to the cache."""
    before = cache[0][0].shape[2] if cache else 0
    positions = model.positions.weight[before : before + len(new)]
    X = (model.embedding(new) + positions)[None]  # (1, m, d_model)
    for number, block in enumerate(model.blocks):
        assert isinstance(block, EncoderBlock)
        attention, Y = block.attention, block.norm_1(X)
        Q, K, V = (
            split_heads(one(Y), attention.n_heads)
            for one in (attention.W_q, attention.W_k, attention.W_v)
        )
        if before:
            K, V = (torch.cat(two, dim=2) for two in zip(cache[number], (K, V), strict=True))
            cache[number] = K, V
        else:
            cache.append((K, V))
        mask = torch.ones(len(new), before + len(new), dtype=torch.bool).tril(before)
        found = F.scaled_dot_product_attention(Q, K, V, mask)  # (1, n_heads, m, d_head)
        X = X + attention.W_o(found.transpose(1, 2).flatten(-2))
        X = X + block.feed_forward(block.norm_2(X))
    return (model.norm(X) @ model.embedding.weight.T)[0, -1]
