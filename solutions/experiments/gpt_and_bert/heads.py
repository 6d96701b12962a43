"""Read the weights of every head of a layer, or of a stack of encoder blocks."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...gpt_and_bert import GPT
from ...published.bert import BERT
from ...transformer_block import EncoderBlock, MultiHeadAttention, split_heads
from ...variants.language_models import induction_score


def map_of(attention: nn.Module, X: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the weights of each head of a layer for X, (batch, n, d_model).

    mask: broadcastable to (batch, n, n). Returns (batch, n_heads, n, n).
    """
    assert isinstance(attention, MultiHeadAttention)
    Q, K = (split_heads(one(X), attention.n_heads) for one in (attention.W_q, attention.W_k))
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(-3), -torch.inf)
    return scores.softmax(dim=-1)


def weights_of(block: nn.Module, X: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the weights of each head in an encoder block for X."""
    assert isinstance(block, EncoderBlock)
    return map_of(block.attention, block.norm_1(X) if block.pre else X, mask)


@torch.no_grad()
def bert_maps(encoder: BERT, ids: Tensor) -> Tensor:
    """Return all maps of a sentence without padding, ids (1, n): (n_layers, n_heads, n, n)."""
    layers = encoder.layers(ids)
    pairs = zip(encoder.blocks, layers[:-1], strict=True)
    return torch.cat([weights_of(block, X) for block, X in pairs])


@torch.no_grad()
def gpt_maps(model: GPT, ids: Tensor) -> Tensor:
    """Return all maps of a text, ids (1, n): (n_layers, n_heads, n, n)."""
    n = ids.shape[1]
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    X = model.embedding(ids) + model.positions.weight[:n]
    found = []
    for block in model.blocks:
        found.append(weights_of(block, X, causal))
        X = block(X, causal)
    return torch.cat(found)


@dataclass(frozen=True)
class Induction:
    """The induction score of each head, (n_layers, n_heads), and that of uniform weights.

    first, second: nats a token in the first copy and in the second.
    """

    scores: Tensor
    chance: float
    first: float
    second: float


@torch.no_grad()
def induction(model: GPT, vocab_size: int, period: int, texts: int, seed: int) -> Induction:
    """Give the model random tokens, repeated once, and measure which heads copy."""
    generator = torch.Generator().manual_seed(seed)
    scores, losses = [], []
    for _ in range(texts):
        once = torch.randperm(vocab_size, generator=generator)[:period]
        ids = torch.cat([once, once])[None]
        maps = gpt_maps(model, ids).double().numpy()  # (n_layers, n_heads, n, n)
        scores.append([[induction_score(head[None], period) for head in layer] for layer in maps])
        logs = model(ids)[:, :-1].log_softmax(dim=-1)
        losses.append(-logs.gather(-1, ids[:, 1:, None])[0, :, 0])
    loss = torch.stack(losses).mean(dim=0)
    first, second = loss[: period - 1].mean().item(), loss[period:].mean().item()
    seen = torch.arange(period + 1, 2 * period + 1)  # by the tokens of the second copy
    chance = (1 / seen).mean().item()
    return Induction(torch.tensor(scores).mean(dim=0), chance, first, second)
