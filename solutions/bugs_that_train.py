"""Ten bugs under which a small decoder still learns: each changes one part of the right model.

Each is the short form of a bug that public code has had; the chapter cites where.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import nn

PAD, SEP, STOP = 0, 1, 2
"""The first ids: padding, the end of the question, the end of the answer."""

HIDDEN = -1e9
"""What is added to a score that the mask hides."""


class Attention(nn.Module):
    """Multi-head attention; each of its four steps is a method, for a bug to change."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        """d_model: the features of a token. n_heads: the heads that share them out."""
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). mask: (batch, n, n), True where a token may attend."""
        Q, K, V = self.project(X)  # (batch, n_heads, n, d_head)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        weights = self.normalise(scores + HIDDEN * ~self.for_heads(mask))
        return self.W_o(self.merge(weights @ V))

    def project(self, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The queries, keys and values of every head."""
        return self.split(self.W_q(X)), self.split(self.W_k(X)), self.split(self.W_v(X))

    def split(self, X: torch.Tensor) -> torch.Tensor:
        """(batch, n, d_model) to (batch, n_heads, n, d_head)."""
        return X.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def for_heads(self, mask: torch.Tensor) -> torch.Tensor:
        """The mask with an axis for the heads: (batch, 1, n, n)."""
        return mask[:, None]

    def normalise(self, scores: torch.Tensor) -> torch.Tensor:
        """Weights that sum to 1 for every query."""
        return scores.softmax(dim=-1)

    def merge(self, heads: torch.Tensor) -> torch.Tensor:
        """(batch, n_heads, n, d_head) to (batch, n, d_model)."""
        return heads.transpose(1, 2).flatten(-2)


class MergedWithoutTranspose(Attention):
    """The heads are merged by a reshape alone, which mixes tokens."""

    def merge(self, heads: torch.Tensor) -> torch.Tensor:
        """The right shape, filled in the order of the memory."""
        batch, n_heads, n, d_head = heads.shape
        return heads.reshape(batch, n, n_heads * d_head)


class SharedProjection(Attention):
    """The tokens are cut into heads first, and one small matrix serves them all."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        """W_q, W_k and W_v are (d_head, d_head)."""
        super().__init__(d_model, n_heads)
        d_head = d_model // n_heads
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_head, d_head) for _ in range(3))

    def project(self, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Each head reads its own features of the token, through the same matrix."""
        heads = self.split(X)
        return self.W_q(heads), self.W_k(heads), self.W_v(heads)


class SoftmaxOverQueries(Attention):
    """The softmax runs over the wrong one of two axes of equal length."""

    def normalise(self, scores: torch.Tensor) -> torch.Tensor:
        """Weights that sum to 1 for every key."""
        return scores.softmax(dim=-2)


class ValuesFromKeys(Attention):
    """The values are made with the keys' projection; that of the values is never used."""

    def project(self, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Keys and values are the same numbers."""
        return self.split(self.W_q(X)), self.split(self.W_k(X)), self.split(self.W_k(X))


class PaddingAgainstHeads(Attention):
    """The masks are repeated in another order than that of the heads in the folded batch."""

    def for_heads(self, mask: torch.Tensor) -> torch.Tensor:
        """Of the folded axis, which counts the heads of the first sequence first."""
        repeated = mask.repeat(self.n_heads, 1, 1)  # sequence 1, 2, ..., 1, 2, ...
        return repeated.unflatten(0, (len(mask), self.n_heads))  # read as 1, 1, ..., 2, 2, ...


class NormOverTime(nn.Module):
    """A layer norm whose mean and variance run over the tokens of a sequence."""

    def __init__(self, d_model: int) -> None:
        """d_model: the features of a token."""
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        centred = X - X.mean(dim=1, keepdim=True)
        variance = centred.square().mean(dim=1, keepdim=True)
        return centred / torch.sqrt(variance + 1e-5) * self.weight + self.bias


class Block(nn.Module):
    """A block with the norm before each sublayer."""

    def __init__(self, parts: Parts, d_model: int, n_heads: int) -> None:
        """parts: what attention and norms are made of."""
        super().__init__()
        self.attention = parts.attention(d_model, n_heads)
        self.norm_1, self.norm_2 = parts.norm(d_model), parts.norm(d_model)
        self.W_1, self.W_2 = nn.Linear(d_model, 2 * d_model), nn.Linear(2 * d_model, d_model)

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        X = X + self.attention(self.norm_1(X), mask)
        return X + self.W_2(F.relu(self.W_1(self.norm_2(X))))


class NormOnResidual(Block):
    """The norm's result takes the token's place, on the residual path too."""

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        X = self.norm_1(X)
        X = X + self.attention(X, mask)
        X = self.norm_2(X)
        return X + self.W_2(F.relu(self.W_1(X)))


def causal_and_real(tokens: torch.Tensor) -> torch.Tensor:
    """The mask (batch, n, n): each token sees what is real, up to and with itself."""
    n = tokens.shape[1]
    return torch.ones(n, n, dtype=torch.bool).tril() & (tokens != PAD)[:, None]


def flipped(tokens: torch.Tensor) -> torch.Tensor:
    """The causal mask the wrong way round: each token sees itself and what comes after."""
    n = tokens.shape[1]
    return torch.ones(n, n, dtype=torch.bool).triu() & (tokens != PAD)[:, None]


def next_token(tokens: torch.Tensor) -> tuple[slice, slice]:
    """Which logits are scored, and by which tokens: each by the one that follows."""
    return slice(None, -1), slice(1, None)


def same_token(tokens: torch.Tensor) -> tuple[slice, slice]:
    """Each by the token that the model has just read."""
    return slice(None), slice(None)


@dataclass(frozen=True)
class Parts:
    """What a model is made of; a bug changes one of them.

    `mask` is that of the first block, and of the others too unless `later_mask` is given.
    """

    attention: type[Attention] = Attention
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    block: type[Block] = Block
    mask: Callable[[torch.Tensor], torch.Tensor] = causal_and_real
    later_mask: Callable[[torch.Tensor], torch.Tensor] | None = None
    scored: Callable[[torch.Tensor], tuple[slice, slice]] = next_token


def causal_alone(tokens: torch.Tensor) -> torch.Tensor:
    """The causal mask, as if nothing were padding."""
    return (
        torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool)
        .tril()[None]
        .expand(len(tokens), -1, -1)
    )


RIGHT = Parts()
BUGS = {
    "merged_without_transpose": replace(RIGHT, attention=MergedWithoutTranspose),
    "shared_projection": replace(RIGHT, attention=SharedProjection),
    "softmax_over_queries": replace(RIGHT, attention=SoftmaxOverQueries),
    "values_from_keys": replace(RIGHT, attention=ValuesFromKeys),
    "flipped_mask": replace(RIGHT, mask=flipped),
    "mask_not_passed_on": replace(RIGHT, later_mask=causal_alone),
    "norm_over_time": replace(RIGHT, norm=NormOverTime),
    "norm_on_residual": replace(RIGHT, block=NormOnResidual),
    "padding_against_heads": replace(RIGHT, attention=PaddingAgainstHeads),
    "targets_not_shifted": replace(RIGHT, scored=same_token),
}
"""Each bug by its name: the right parts, but for one."""


class Decoder(nn.Module):
    """Embeddings of tokens and positions, blocks, a norm, and logits for every position."""

    def __init__(
        self, parts: Parts, vocabulary: int, d_model: int, n_heads: int, n_layers: int, longest: int
    ) -> None:
        """vocabulary: how many tokens there are. longest: the most positions of a sequence."""
        super().__init__()
        self.parts = parts
        self.token, self.position = (
            nn.Embedding(vocabulary, d_model),
            nn.Embedding(longest, d_model),
        )
        self.blocks = nn.ModuleList(parts.block(parts, d_model, n_heads) for _ in range(n_layers))
        self.norm, self.read_out = parts.norm(d_model), nn.Linear(d_model, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (batch, n), padded at the front. Returns logits, (batch, n, vocabulary)."""
        positions = ((tokens != PAD).cumsum(dim=1) - 1).clamp(min=0)  # of the first real token: 0
        X = self.token(tokens) + self.position(positions)
        first = self.parts.mask(tokens)
        later = self.parts.later_mask(tokens) if self.parts.later_mask else first
        for at, block in enumerate(self.blocks):
            X = block(X, later if at else first)
        return self.read_out(self.norm(X))
