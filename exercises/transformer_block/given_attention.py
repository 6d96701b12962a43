# Given. The grader uses its own copy: write code of yours into the notebook.
"""Attention for the exercises on blocks, so that they need no earlier exercise."""

import torch
import torch.nn.functional as F
from torch import nn


class GivenAttention(nn.Module):
    """torch's multi-head attention for a batch of sequences."""

    def __init__(self, d_model, n_heads):
        """d_model: the features of a token, divisible by n_heads."""
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        """X: (batch, n_q, d_model), which asks the context, (batch, n_k, d_model), or itself.

        mask: broadcasts to (batch, n_q, n_k), True where a token may attend. Returns X's shape.
        """
        context = X if context is None else context
        if mask is not None:  # in torch's mask True hides a token, and each head has a mask
            mask = ~mask.expand(len(X), X.shape[1], context.shape[1])
            mask = mask.repeat_interleave(self.n_heads, dim=0)
            mask = mask if mask.numel() else None  # torch refuses an empty mask
        output, _ = F.multi_head_attention_forward(
            query=X.transpose(0, 1),
            key=context.transpose(0, 1),
            value=context.transpose(0, 1),
            embed_dim_to_check=self.d_model,
            num_heads=self.n_heads,
            in_proj_weight=None,
            in_proj_bias=torch.cat([self.W_q.bias, self.W_k.bias, self.W_v.bias]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.W_o.weight,
            out_proj_bias=self.W_o.bias,
            need_weights=False,
            attn_mask=mask,
            use_separate_proj_weight=True,
            q_proj_weight=self.W_q.weight,
            k_proj_weight=self.W_k.weight,
            v_proj_weight=self.W_v.weight,
        )
        return output.transpose(0, 1)
