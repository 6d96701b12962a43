"""The machine of chapter 1 with a narrower `c`, made by one matrix from unchanged readers.

One matrix maps the encoder's two last states, 256 numbers, to WIDTH numbers. So only `c` is
narrower, and the decoder's columns that read it.
"""

from __future__ import annotations

from torch import Tensor, nn

from ...translators.machines import BOTTLENECK_STEPS, CLAUSES, D_CONTEXT, trained
from ...translators.recurrent import BottleneckDecoder, Encoder
from ...translators.seq2seq import Memory, Seq2Seq
from .testing import LANGUAGE, Tested, tested

WIDTH = 64
"""The numbers in `c`; chapter 1's machine has D_CONTEXT."""


class Squeeze(nn.Module):
    """The encoder of chapter 1, with a matrix from its two last states to `c`."""

    def __init__(self, vocabulary_size: int, d_context: int) -> None:
        """d_context: the width of `c`."""
        super().__init__()
        self.encoder = Encoder(vocabulary_size, D_CONTEXT // 2)
        self.squeeze = nn.Linear(D_CONTEXT, d_context)

    def forward(self, sources: Tensor, lengths: Tensor) -> Memory:
        """sources: (B, n) ids, padded on the right; lengths: (B,), at least 1 each."""
        memory = self.encoder(sources, lengths)
        return Memory(memory.states, memory.mask, self.squeeze(memory.context))


def machine(source_tokens: int, target_tokens: int, d_context: int = WIDTH) -> Seq2Seq:
    """Return an untrained translator with this width of `c`."""
    decoder = BottleneckDecoder(target_tokens, d_context, 128)
    return Seq2Seq(Squeeze(source_tokens, d_context), decoder)


def measure(seed: int) -> Tested:
    """Train the narrow machine on the pairs of chapter 1, for the same number of steps; test it."""
    return tested(*trained(machine, LANGUAGE, CLAUSES, BOTTLENECK_STEPS, seed))
