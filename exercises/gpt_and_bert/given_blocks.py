# Given. The grader uses its own copy: write code of yours into the notebook.
"""A block for the exercise `GPT`, so that it needs no earlier exercise."""

import torch.nn.functional as F
from torch import nn


class GivenBlock(nn.Module):
    """Chapter 8's encoder block, with the norm before each sublayer."""

    def __init__(self, d_model, n_heads, d_ff):
        """Make the block."""
        super().__init__()
        self.n_heads = n_heads
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        maps = {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        self.feed_forward = nn.ModuleDict(maps)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, X, mask=None):
        """X: (batch, n, d_model). mask: broadcasts to (batch, n, n). Returns X's shape."""
        Y = self.norm_1(X)
        Q, K, V = (
            self.attention[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name in ("W_q", "W_k", "W_v")
        )  # (batch, n_heads, n, d_head) each
        heads = F.scaled_dot_product_attention(Q, K, V, mask)
        X = X + self.attention["W_o"](heads.transpose(1, 2).flatten(-2))
        return X + self.feed_forward["W_2"](self.feed_forward["W_1"](self.norm_2(X)).relu())
