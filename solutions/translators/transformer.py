"""The Transformer, with the interface of the translators of chapters 1 and 2."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn

from ..transformer import DecoderStack, EncoderStack, embed
from ..transformer_block import DecoderBlock, LayerNorm
from .seq2seq import Memory

Stack = TypeVar("Stack", EncoderStack, DecoderStack)


def with_fused_norms(stack: Stack) -> Stack:
    """Replace each of chapter 8's layer norms by PyTorch's, and return the same `stack`.

    PyTorch's has the same parameters with the same names, but one operation instead of nine. A
    training step takes a sixth less time.
    """
    for module in list(stack.modules()):
        for name, norm in module.named_children():
            if isinstance(norm, LayerNorm):
                setattr(module, name, nn.LayerNorm(len(norm.weight), norm.eps))
    return stack


class TransformerEncoder(nn.Module):
    """An encoder in which every source token looks at all others; it makes no sentence vector."""

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """Build the stack with these sizes; see `EncoderStack`."""
        super().__init__()
        stack = EncoderStack(vocabulary_size, d_model, n_heads, d_ff, n_layers)
        self.stack = with_fused_norms(stack)

    def forward(self, sources: Tensor, lengths: Tensor) -> Memory:
        """sources: (B, n) ids, padded on the right; lengths: (B,), at least 1 each."""
        mask = torch.arange(sources.shape[1], device=sources.device) < lengths[:, None]
        return Memory(self.stack(sources, mask[:, None]), mask)


Written = tuple[Tensor, list[Tensor]]
"""The ids so far, (B, i), and for each block the inputs (B, i, d_model) of its self-attention."""


class TransformerDecoder(nn.Module):
    """A decoder that reads the whole target at once in training, and its own output in writing."""

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """Build the stack with these sizes; see `DecoderStack`."""
        super().__init__()
        stack = DecoderStack(vocabulary_size, d_model, n_heads, d_ff, n_layers)
        self.stack = with_fused_norms(stack)

    def start(self, memory: Memory) -> Written:
        """Return the state before the first token."""
        ids = torch.zeros(len(memory.mask), 0, dtype=torch.long, device=memory.mask.device)
        return ids, [memory.states[:, :0] for _ in self.stack.blocks]

    def step(
        self, previous: Tensor, state: Written, memory: Memory
    ) -> tuple[Tensor, Written, Tensor | None]:
        """See `Decoder.step`. Returns no weights, because each step has many maps.

        No token depends on a later one, so earlier tokens need not pass through the blocks again.
        """
        ids = torch.cat([state[0], previous[:, None]], dim=1)  # (B, i)
        x = embed(ids, self.stack.embedding)[:, -1:]  # (B, 1, d_model)
        read = []
        for block, before in zip(self.stack.blocks, state[1], strict=True):
            assert isinstance(block, DecoderBlock)
            x, tokens = _last_token(block, x, before, memory)
            read.append(tokens)
        return self.stack.to_logits(self.stack.norm(x))[:, 0], (ids, read), None

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """See `Decoder.forward`. Computes all positions at once."""
        return self.stack(inputs, memory.states, memory.mask[:, None]), None


def _last_token(
    block: DecoderBlock, x: Tensor, before: Tensor, memory: Memory
) -> tuple[Tensor, Tensor]:
    """Pass the last token, (B, 1, d_model), through a `block` with the norm before."""
    tokens = torch.cat([before, block.norm_1(x)], dim=1)  # (B, i, d_model)
    x = x + block.self_attention(tokens[:, -1:], tokens)
    x = x + block.cross_attention(block.norm_2(x), memory.states, memory.mask[:, None])
    return x + block.feed_forward(block.norm_3(x)), tokens
