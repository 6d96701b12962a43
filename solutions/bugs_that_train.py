"""Ten bugs with which a small decoder still learns: each changes one part of the correct model.

Each is a short version of a bug that public code has had; the chapter cites the sources.
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
"""Added to the scores that the mask hides."""


class Attention(nn.Module):
    """Multi-head attention; each of its four steps is a method that a bug can override."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        """d_model: the features of a token. n_heads: the number of heads that share them."""
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
        """Return the queries, keys and values of every head, each (batch, n_heads, n, d_head)."""
        return self.split(self.W_q(X)), self.split(self.W_k(X)), self.split(self.W_v(X))

    def split(self, X: torch.Tensor) -> torch.Tensor:
        """Split X: (batch, n, d_model) to (batch, n_heads, n, d_head)."""
        return X.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def for_heads(self, mask: torch.Tensor) -> torch.Tensor:
        """Return the mask with an axis for the heads: (batch, 1, n, n)."""
        return mask[:, None]

    def normalise(self, scores: torch.Tensor) -> torch.Tensor:
        """Return weights that sum to 1 for every query."""
        return scores.softmax(dim=-1)

    def merge(self, heads: torch.Tensor) -> torch.Tensor:
        """Merge the heads: (batch, n_heads, n, d_head) to (batch, n, d_model)."""
        return heads.transpose(1, 2).flatten(-2)


class MergedWithoutTranspose(Attention):
    """The heads are merged by a reshape alone, which mixes tokens."""

    def merge(self, heads: torch.Tensor) -> torch.Tensor:
        """Return the correct shape, filled in memory order."""
        batch, n_heads, n, d_head = heads.shape
        return heads.reshape(batch, n, n_heads * d_head)


class SharedProjection(Attention):
    """The tokens are cut into heads first, and one small matrix serves them all."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        """Create W_q, W_k and W_v with shape (d_head, d_head)."""
        super().__init__(d_model, n_heads)
        d_head = d_model // n_heads
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_head, d_head) for _ in range(3))

    def project(self, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Project each head's features of the token by the same matrix."""
        heads = self.split(X)
        return self.W_q(heads), self.W_k(heads), self.W_v(heads)


class SoftmaxOverQueries(Attention):
    """The softmax runs over the queries, an axis of the same length as that of the keys."""

    def normalise(self, scores: torch.Tensor) -> torch.Tensor:
        """Return weights that sum to 1 for every key."""
        return scores.softmax(dim=-2)


class ValuesFromKeys(Attention):
    """The values are computed with the keys' projection; the values' projection is never used."""

    def project(self, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the same numbers as keys and as values."""
        return self.split(self.W_q(X)), self.split(self.W_k(X)), self.split(self.W_k(X))


class PaddingAgainstHeads(Attention):
    """The order of the repeated masks differs from the order of the heads in the folded batch."""

    def for_heads(self, mask: torch.Tensor) -> torch.Tensor:
        """Return masks in the order 1, 2, ..., 1, 2, ...; the heads have the order 1, 1, ..."""
        repeated = mask.repeat(self.n_heads, 1, 1)  # sequence 1, 2, ..., 1, 2, ...
        return repeated.unflatten(0, (len(mask), self.n_heads))  # read as 1, 1, ..., 2, 2, ...


class NormOverTime(nn.Module):
    """A layer norm with mean and variance over the tokens of a sequence, not over the features."""

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
        """parts: the classes of the attention and of the norms."""
        super().__init__()
        self.attention = parts.attention(d_model, n_heads)
        self.norm_1, self.norm_2 = parts.norm(d_model), parts.norm(d_model)
        self.W_1, self.W_2 = nn.Linear(d_model, 2 * d_model), nn.Linear(2 * d_model, d_model)

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        X = X + self.attention(self.norm_1(X), mask)
        return X + self.W_2(F.relu(self.W_1(self.norm_2(X))))


class NormOnResidual(Block):
    """The norm's output replaces the token on the residual path too."""

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        X = self.norm_1(X)
        X = X + self.attention(X, mask)
        X = self.norm_2(X)
        return X + self.W_2(F.relu(self.W_1(X)))


def causal_and_real(tokens: torch.Tensor) -> torch.Tensor:
    """Return the mask (batch, n, n): each token sees itself and the real tokens before it."""
    n = tokens.shape[1]
    return torch.ones(n, n, dtype=torch.bool).tril() & (tokens != PAD)[:, None]


def flipped(tokens: torch.Tensor) -> torch.Tensor:
    """Return the transposed causal mask: each token sees itself and the tokens after it."""
    n = tokens.shape[1]
    return torch.ones(n, n, dtype=torch.bool).triu() & (tokens != PAD)[:, None]


def next_token(tokens: torch.Tensor) -> tuple[slice, slice]:
    """Return slices of the logits and their targets: the target of each token is the next token."""
    return slice(None, -1), slice(1, None)


def same_token(tokens: torch.Tensor) -> tuple[slice, slice]:
    """Return slices of the logits and their targets: the target is the token just read."""
    return slice(None), slice(None)


@dataclass(frozen=True)
class Parts:
    """The parts of a model; a bug changes one of them.

    `mask` makes the mask of the first block, and of the others too unless `later_mask` is given.
    """

    attention: type[Attention] = Attention
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    block: type[Block] = Block
    mask: Callable[[torch.Tensor], torch.Tensor] = causal_and_real
    later_mask: Callable[[torch.Tensor], torch.Tensor] | None = None
    scored: Callable[[torch.Tensor], tuple[slice, slice]] = next_token


def causal_alone(tokens: torch.Tensor) -> torch.Tensor:
    """Return the causal mask, with padding treated as real tokens."""
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
"""Name of a bug -> the correct parts with one of them changed."""


class Decoder(nn.Module):
    """Embeddings of tokens and positions, blocks, a norm, and logits for every position."""

    def __init__(
        self, parts: Parts, vocabulary: int, d_model: int, n_heads: int, n_layers: int, longest: int
    ) -> None:
        """vocabulary: the number of tokens. longest: the largest number of positions."""
        super().__init__()
        self.parts = parts
        self.token, self.position = (
            nn.Embedding(vocabulary, d_model),
            nn.Embedding(longest, d_model),
        )
        self.blocks = nn.ModuleList(parts.block(parts, d_model, n_heads) for _ in range(n_layers))
        self.norm, self.read_out = parts.norm(d_model), nn.Linear(d_model, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (batch, n, vocabulary). tokens: (batch, n), padded at the front."""
        positions = ((tokens != PAD).cumsum(dim=1) - 1).clamp(min=0)  # 0 for the first real token
        X = self.token(tokens) + self.position(positions)
        first = self.parts.mask(tokens)
        later = self.parts.later_mask(tokens) if self.parts.later_mask else first
        for at, block in enumerate(self.blocks):
            X = block(X, later if at else first)
        return self.read_out(self.norm(X))
