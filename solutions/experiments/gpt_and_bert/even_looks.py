"""What a block's heads are worth: its loss if they look at all tokens so far evenly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from ...gpt_and_bert import GPT
from ...transformer_block import EncoderBlock, MultiHeadAttention
from .heads import gpt_maps
from .language_model import CONTEXT, mean_loss, windows


class EvenLook(nn.Module):
    """Causal attention whose weights are all the same, with the values and `W_o` of a layer."""

    def __init__(self, attention: MultiHeadAttention) -> None:
        """attention: the layer that looks as it has learned."""
        super().__init__()
        self.W_v, self.W_o = attention.W_v, attention.W_o

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """X: (batch, n, d_model). Returns the same shape. The mask is always causal."""
        n = torch.arange(1, X.shape[1] + 1)[:, None]  # the tokens that each one sees
        return self.W_o(self.W_v(X).cumsum(dim=1) / n)


class NoLook(nn.Module):
    """Attention of which only the bias of `W_o` is left, as if every head gave 0."""

    def __init__(self, attention: MultiHeadAttention) -> None:
        """attention: the layer whose heads are silenced."""
        super().__init__()
        self.W_o = attention.W_o

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """X: (batch, n, d_model). Returns the same shape."""
        return self.W_o.bias.expand_as(X)


@contextmanager
def instead(look: type[EvenLook | NoLook], model: GPT, layer: int) -> Iterator[None]:
    """Replace the attention of a layer."""
    block = model.blocks[layer]
    assert isinstance(block, EncoderBlock)
    own = block.attention
    block.attention = look(own)  # type: ignore[assignment]
    try:
        yield
    finally:
        block.attention = own


def losses(model: GPT, look: type[EvenLook | NoLook], text: Tensor) -> list[float]:
    """Return the loss, in nats a token, if a look replaces that of a layer, layer by layer."""
    found = []
    for layer in range(len(model.blocks)):
        with instead(look, model, layer):
            found.append(mean_loss(model, text))
    return found


@torch.no_grad()
def other_tokens(model: GPT, text: Tensor) -> list[float]:
    """Return how often an even look changes the likeliest token: a share, layer by layer."""
    pieces = windows(text, CONTEXT)
    before = model(pieces).argmax(dim=-1)
    found = []
    for layer in range(len(model.blocks)):
        with instead(EvenLook, model, layer):
            found.append((model(pieces).argmax(dim=-1) != before).double().mean().item())
    return found


def looks_back(model: GPT, text: Tensor) -> tuple[Tensor, Tensor]:
    """Return how many tokens each head looks back on average, and its weight on the token before.

    Both are (n_layers, n_heads), means over the windows of a text and the tokens of a window. An
    even look has (CONTEXT - 1) / 4 and `even_on_the_token_before`.
    """
    place = torch.arange(CONTEXT)
    back = (place[:, None] - place).clamp(min=0)  # (n, n)
    maps = torch.stack([gpt_maps(model, one[None]) for one in windows(text, CONTEXT)])
    before = maps.diagonal(offset=-1, dim1=-2, dim2=-1)  # (windows, layers, heads, n - 1)
    return (maps * back).sum(dim=-1).mean(dim=(0, -1)), before.mean(dim=(0, -1))


def even_on_the_token_before() -> float:
    """Return the mean weight of an even look on the token before."""
    return (1 / torch.arange(2.0, CONTEXT + 1)).mean().item()
