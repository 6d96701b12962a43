"""A model of today: a decoder with rotary positions, shared keys, gates, and no biases.

The design is that of LLaMA (Touvron et al. 2023): rotary positions (Su et al. 2021), RMSNorm before
each part (Zhang and Sennrich 2019), SwiGLU (Shazeer 2020); with the grouped queries of Ainslie et
al. (2023). SmolLM2 (Ben Allal et al. 2025), whose weights the chapter reads, has this design.
"""

import re
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

from .transformer_block import RMSNorm, SwiGLU, split_heads

Cache = tuple[torch.Tensor, torch.Tensor]
"""Keys and values of the tokens so far: (..., n_kv_heads, c, d_head) each; the keys are turned."""

_NAMES = {
    "attn_norm": "norm_1",
    "attn_q": "attention.W_q",
    "attn_k": "attention.W_k",
    "attn_v": "attention.W_v",
    "attn_output": "attention.W_o",
    "ffn_norm": "norm_2",
    "ffn_gate": "feed_forward.W_gate",
    "ffn_up": "feed_forward.W_up",
    "ffn_down": "feed_forward.W_down",
}


def turned(X: torch.Tensor, first: int, base: float) -> torch.Tensor:
    """Turn queries or keys by their positions: `rotary` of chapter 7, in torch, with any base.

    X: (..., n, d), d even, n tokens at the positions first, first + 1 and so on. Features 2i and
    2i + 1 are a pair, turned counter-clockwise by position / base^(2i/d). Returns the same shape.
    """
    n, d = X.shape[-2:]
    speeds = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)  # (d/2,)
    angles = torch.arange(first, first + n)[:, None] * speeds  # (n, d/2)
    cosines, sines = angles.cos().to(X.dtype), angles.sin().to(X.dtype)
    x, y = X[..., ::2], X[..., 1::2]  # (..., n, d/2) each
    pairs = torch.stack([x * cosines - y * sines, x * sines + y * cosines], dim=-1)
    return pairs.flatten(-2)


class GroupedQueryAttention(nn.Module):
    """Causal self-attention with rotary positions, and groups of query heads that share keys.

    Its projections `W_q`, `W_k`, `W_v` and `W_o` have no bias. Sources: Ainslie et al.
    (2023), section 2.2; Su et al. (2021).
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, base: float = 10_000.0) -> None:
        """d_model: the features of a token, n_heads times an even width of a head.

        n_kv_heads: the heads of keys and values; n_heads is a multiple of it. base: of the turning.
        Raises ValueError, with both numbers in its message, if d_model is not divisible by n_heads,
        or n_heads by n_kv_heads.
        """
        super().__init__()
        for whole, part, what in (
            (d_model, n_heads, "features cannot be shared out equally to {} heads"),
            (n_heads, n_kv_heads, "query heads cannot share {} heads of keys equally"),
        ):
            if part < 1 or whole % part:
                raise ValueError(f"{whole} {what.format(part)}")
        self.n_heads, self.n_kv_heads, self.base = n_heads, n_kv_heads, base
        d_kv = d_model // n_heads * n_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """X: (..., m, d_model), the m newest tokens, m at least 1. Returns (output, cache).

        cache: the tuple of the keys, turned, and the values of the c tokens before them,
        (..., n_kv_heads, c, d_head) each; None for c = 0. The newest tokens stand at the positions
        c to c + m - 1. Each attends to the c tokens, to itself and to the new tokens before it. The
        first d_head features of a query belong to the first head, and so on; the first
        n_heads / n_kv_heads query heads share the first head of keys and values. Scores are scaled
        dot products of turned queries and turned keys. The output is (..., m, d_model); the cache
        that is returned is a new tuple, (..., n_kv_heads, c + m, d_head) each. Gradients flow
        through both.
        """
        c = 0 if cache is None else cache[0].shape[-2]
        Q = turned(split_heads(self.W_q(X), self.n_heads), c, self.base)
        K = turned(split_heads(self.W_k(X), self.n_kv_heads), c, self.base)
        V = split_heads(self.W_v(X), self.n_kv_heads)
        if cache is not None:
            K, V = torch.cat([cache[0], K], dim=-2), torch.cat([cache[1], V], dim=-2)
        m = X.shape[-2]
        seen = torch.ones(m, c + m, dtype=torch.bool).tril(diagonal=c)
        found = F.scaled_dot_product_attention(Q, K, V, seen, enable_gqa=True)
        return self.W_o(found.transpose(-3, -2).flatten(-2)), (K, V)  # (..., m, d_model)


class TodayBlock(nn.Module):
    """One block of a model of today: attend, transform, each after an RMSNorm, and add.

    Its parts are called `norm_1`, `attention`, `norm_2` and `feed_forward`. Source: Touvron et al.
    (2023), section 2.2.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        d_ff: int,
        base: float = 10_000.0,
        eps: float = 1e-5,
    ) -> None:
        """The sizes of `GroupedQueryAttention` and of `SwiGLU`. eps: of both norms."""
        super().__init__()
        self.norm_1 = RMSNorm(d_model, eps)
        self.attention = GroupedQueryAttention(d_model, n_heads, n_kv_heads, base)
        self.norm_2 = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, X: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """X: (..., m, d_model), the newest tokens. Returns (output, cache), as the attention does.

        What a part returns is added to what went into its norm, unnormalised.
        """
        found, cache = self.attention(self.norm_1(X), cache)
        X = X + found
        return X + self.feed_forward(self.norm_2(X)), cache


class TodayModel(nn.Module):
    """Read the tokens so far, and score what may come next.

    Its parts are called `embedding`, `blocks` and `norm`. Source: Touvron et al. (2023), section 2;
    the embedding reads and writes, as in chapter 10.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        d_ff: int,
        n_layers: int,
        base: float = 10_000.0,
        eps: float = 1e-5,
    ) -> None:
        """vocab_size: the ids go from 0 up to it. n_layers: 0 or more. The rest is a block's."""
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            TodayBlock(d_model, n_heads, n_kv_heads, d_ff, base, eps) for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model, eps)

    def forward(
        self, tokens: torch.Tensor, caches: Sequence[Cache] | None = None
    ) -> tuple[torch.Tensor, tuple[Cache, ...]]:
        """tokens: ids (batch, m), the newest ones, m at least 1. Returns (logits, caches).

        caches: what the last call returned, one a block, for the tokens before; None if there are
        none. The logits are (batch, m, vocab_size): row i scores what follows token i, by the dot
        product of each candidate's embedding with the stream after the last norm.
        """
        X = self.embedding(tokens)  # (batch, m, d_model)
        longer = []
        for block, cache in zip(
            self.blocks, [None] * len(self.blocks) if caches is None else caches, strict=True
        ):
            X, cache = block(X, cache)
            longer.append(cache)
        return self.norm(X) @ self.embedding.weight.T, tuple(longer)


def today_names(names: Sequence[str]) -> dict[str, str]:
    """Return the names in `TodayModel` of a published model's weights.

    names: the names in a GGUF file of the design `llama` with tied embeddings, in any order:
    `token_embd.weight`, `output_norm.weight`, and for block 3 `blk.3.attn_q.weight` and so on.
    Returns published name -> name in `TodayModel`. Raises ValueError, with the name in its message,
    for a name that the design does not have.
    """
    found = {"token_embd.weight": "embedding.weight", "output_norm.weight": "norm.weight"}
    for name in names:
        part = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
        if part and part[2] in _NAMES:
            found[name] = f"blocks.{part[1]}.{_NAMES[part[2]]}.weight"
        elif name not in found:
            raise ValueError(f"no part of the model is called {name!r}")
    return {name: found[name] for name in names}
