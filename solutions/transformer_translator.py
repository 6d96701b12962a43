"""The Transformer in the interface of the translators of chapters 1 and 2."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .seq2seq import Memory
from .transformer import DecoderStack, EncoderStack


class TransformerEncoder(nn.Module):
    """Every source token looks at all others; there is no vector for the whole sentence."""

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """Build the stack of these sizes, see `EncoderStack`."""
        super().__init__()
        self.stack = EncoderStack(vocabulary_size, d_model, n_heads, d_ff, n_layers)

    def forward(self, sources: Tensor, lengths: Tensor) -> Memory:
        """sources: (B, n) ids, padded on the right; lengths: (B,), at least 1 each."""
        mask = torch.arange(sources.shape[1], device=sources.device) < lengths[:, None]
        return Memory(self.stack(sources, mask[:, None]), mask)


class TransformerDecoder(nn.Module):
    """Its state is the target as far as it is written, and it reads all of it at every step."""

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """Build the stack of these sizes, see `DecoderStack`."""
        super().__init__()
        self.stack = DecoderStack(vocabulary_size, d_model, n_heads, d_ff, n_layers)

    def start(self, memory: Memory) -> Tensor:
        """Return the ids written so far, (B, 0)."""
        return torch.zeros(len(memory.mask), 0, dtype=torch.long, device=memory.mask.device)

    def step(
        self, previous: Tensor, state: Tensor, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Decoder.step`; which of its many maps to show is left to `transformer_maps`."""
        state = torch.cat([state, previous[:, None]], dim=1)  # (B, i)
        logits, _ = self(state, memory)
        return logits[:, -1], state, None

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """See `Decoder.forward`: all places at once, since none waits for another."""
        return self.stack(inputs, memory.states, memory.mask[:, None]), None
