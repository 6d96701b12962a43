"""BERT, made of chapter 8's blocks: the encoder for the published weights.

Source: Devlin et al. (2019), "BERT: pre-training of deep bidirectional Transformers for language
understanding".
"""

from collections.abc import Callable

import torch
from torch import nn

from ..transformer_block import EncoderBlock, FeedForward


class BERT(nn.Module):
    """An encoder whose tokens all attend to each other: blocks with the norm after each sum.

    Its parts are called `embedding`, `positions`, `segments`, `norm` and `blocks`. Source: Devlin
    et al. (2019), sections 3 and A.2.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        max_len: int,
        block: Callable[[int, int, int], nn.Module] = EncoderBlock,
    ) -> None:
        """block: makes a block of `d_model, n_heads, d_ff`: your own `EncoderBlock`, for example.

        The block's `feed_forward`, `norm_1` and `norm_2` are replaced by BERT's, with GELU and with
        an epsilon of 1e-12. The norms are torch's: they compute the same as chapter 8's, in one
        pass.
        """
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(2, d_model)
        for table in (self.embedding, self.positions, self.segments):
            nn.init.normal_(table.weight, std=0.02)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.blocks = nn.ModuleList(block(d_model, n_heads, d_ff) for _ in range(n_layers))
        for one in self.blocks:
            one.feed_forward = FeedForward(d_model, d_ff, activation="gelu")
            one.norm_1 = nn.LayerNorm(d_model, eps=1e-12)
            one.norm_2 = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """tokens: ids (batch, n). Returns (batch, n, d_model); all tokens are of the first segment.

        mask: boolean (batch, n), True for a token and False for padding. Raises ValueError, with
        both numbers in its message, if n is larger than max_len.
        """
        return self.layers(tokens, mask)[-1]

    def layers(self, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> list[torch.Tensor]:
        """Return the states after the embedding and after each block: n_layers + 1 tensors."""
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, and there are {self.positions.num_embeddings} positions")
        X = self.embedding(tokens) + self.segments.weight[0] + self.positions.weight[:n]
        found = [self.norm(X)]  # (batch, n, d_model)
        for block in self.blocks:
            found.append(block(found[-1], None if mask is None else mask[:, None, :]))
        return found
