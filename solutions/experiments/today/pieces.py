"""Chapter 10's GPT, whose pieces can be replaced by those of a model of today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...today import turned
from ...transformer_block import FeedForward, LayerNorm, SwiGLU, split_heads

VOCABULARY_STD = 0.02
BASE = 10_000.0


@dataclass(frozen=True)
class Pieces:
    """The pieces of a model; by default, those of chapter 10's GPT.

    positions: "learned", "rotary" or "none". norm: makes a norm. gated: SwiGLU instead of ReLU.
    n_kv_heads: the number of heads of keys and values. window: the number of earlier tokens that a
    token sees in every block except the last; None for all. sink: each head has a learned score
    without a token, so that its weights on the tokens may sum to less than 1. d_ff: the hidden
    width.
    """

    positions: str = "learned"
    norm: Callable[[int], nn.Module] = LayerNorm
    gated: bool = False
    n_kv_heads: int = 4
    window: int | None = None
    sink: bool = False
    d_ff: int = 384


class Attention(nn.Module):
    """Causal self-attention with the chosen pieces."""

    def __init__(self, d_model: int, n_heads: int, pieces: Pieces, window: int | None) -> None:
        """window: the number of earlier tokens that a token sees; None for all."""
        super().__init__()
        self.n_heads, self.pieces, self.window = n_heads, pieces, window
        d_kv = d_model // n_heads * pieces.n_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_kv)
        self.W_v = nn.Linear(d_model, d_kv)
        self.W_o = nn.Linear(d_model, d_model)
        if pieces.sink:
            self.sink = nn.Parameter(torch.zeros(n_heads))

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        n, pieces = X.shape[-2], self.pieces
        Q = split_heads(self.W_q(X), self.n_heads)  # (batch, n_heads, n, d_head)
        K, V = (split_heads(W(X), pieces.n_kv_heads) for W in (self.W_k, self.W_v))
        if pieces.positions == "rotary":
            Q, K = turned(Q, 0, BASE), turned(K, 0, BASE)
        seen = torch.ones(n, n, dtype=torch.bool).tril()
        if self.window is not None:
            seen = seen.triu(diagonal=-self.window)
        if pieces.sink:
            scores = (Q @ K.mT / Q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
            nothing = self.sink[:, None, None].expand(*scores.shape[:-1], 1)
            weights = torch.cat([scores, nothing], dim=-1).softmax(dim=-1)[..., :-1]
            found = weights @ V
        else:
            found = F.scaled_dot_product_attention(Q, K, V, seen, enable_gqa=True)
        return self.W_o(found.transpose(-3, -2).flatten(-2))


class Block(nn.Module):
    """Attend and transform, each after a norm."""

    def __init__(self, d_model: int, n_heads: int, pieces: Pieces, window: int | None) -> None:
        """window: the window of the attention."""
        super().__init__()
        self.norm_1, self.norm_2 = pieces.norm(d_model), pieces.norm(d_model)
        self.attention = Attention(d_model, n_heads, pieces, window)
        make = SwiGLU if pieces.gated else FeedForward
        self.feed_forward = make(d_model, pieces.d_ff)

    def forward(self, X: Tensor) -> Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        X = X + self.attention(self.norm_1(X))
        return X + self.feed_forward(self.norm_2(X))


class Model(nn.Module):
    """GPT, or a variant of it with other pieces."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        max_len: int,
        pieces: Pieces,
    ) -> None:
        """The sizes are those of `GPT`. max_len: the number of learned positions, if any."""
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        tables = [self.embedding]
        self.positions = None
        if pieces.positions == "learned":
            self.positions = nn.Embedding(max_len, d_model)
            tables.append(self.positions)
        for table in tables:
            nn.init.normal_(table.weight, std=VOCABULARY_STD)
        windows = [pieces.window] * (n_layers - 1) + [None]
        self.blocks = nn.ModuleList(Block(d_model, n_heads, pieces, one) for one in windows)
        self.norm = pieces.norm(d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (batch, n, vocab_size). tokens: ids (batch, n)."""
        X = self.embedding(tokens)
        if self.positions is not None:
            X = X + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            X = block(X)
        return self.norm(X) @ self.embedding.weight.T
