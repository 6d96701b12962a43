"""Compare outputs and gradients of our blocks and PyTorch's, with the same weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from ...transformer_block import DecoderBlock, EncoderBlock, MultiHeadAttention

D_FF = 7


def encoder_difference(seed: int) -> float:
    """Return the largest difference between a random encoder block and PyTorch's, in float64."""
    batch, n, _, n_heads, norm = _sizes(seed)
    d_model = 4 * n_heads
    ours = EncoderBlock(d_model, n_heads, D_FF, norm).double()
    theirs = nn.TransformerEncoderLayer(
        *(d_model, n_heads, D_FF, 0.0), batch_first=True, norm_first=norm == "pre"
    ).double()
    _copy(ours, theirs, {"attention": "self_attn"}, norms=2)
    X = torch.randn(batch, n, d_model, dtype=torch.float64, requires_grad=True)
    mask = (torch.rand(n, n) < 0.5) | torch.eye(n, dtype=torch.bool)
    return _apart(ours(X, mask), theirs(X, src_mask=~mask), (X,))


def decoder_difference(seed: int) -> float:
    """Return the largest difference between a random decoder block and PyTorch's, in float64."""
    batch, n, n_k, n_heads, norm = _sizes(seed)
    d_model = 4 * n_heads
    ours = DecoderBlock(d_model, n_heads, D_FF, norm).double()
    theirs = nn.TransformerDecoderLayer(
        *(d_model, n_heads, D_FF, 0.0), batch_first=True, norm_first=norm == "pre"
    ).double()
    attentions = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
    _copy(ours, theirs, attentions, norms=3)
    X = torch.randn(batch, n, d_model, dtype=torch.float64, requires_grad=True)
    source = torch.randn(batch, n_k, d_model, dtype=torch.float64, requires_grad=True)
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    right = theirs(X, source, tgt_mask=~causal)  # True means "may not attend" in its masks
    return _apart(ours(X, source, causal), right, (X, source))


def _sizes(seed: int) -> tuple[int, int, int, int, str]:
    torch.manual_seed(seed)
    batch, n, n_k, n_heads = torch.randint(1, 6, (4,)).tolist()
    return batch, n, n_k, n_heads, ("post", "pre")[seed % 2]


@torch.no_grad()
def _copy(ours: nn.Module, theirs: nn.Module, attentions: dict[str, str], norms: int) -> None:
    for mine, other in attentions.items():
        _copy_attention(getattr(ours, mine), getattr(theirs, other))
    pairs = {"feed_forward.W_1": "linear1", "feed_forward.W_2": "linear2"}
    pairs |= {f"norm_{i}": f"norm{i}" for i in range(1, norms + 1)}
    for mine, other in pairs.items():
        theirs.get_submodule(other).load_state_dict(ours.get_submodule(mine).state_dict())


def _copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    maps = (ours.W_q, ours.W_k, ours.W_v)
    theirs.in_proj_weight.copy_(torch.cat([one.weight for one in maps]))
    theirs.in_proj_bias.copy_(torch.cat([one.bias for one in maps]))
    theirs.out_proj.load_state_dict(ours.W_o.state_dict())


def _apart(ours: torch.Tensor, theirs: torch.Tensor, inputs: Sequence[torch.Tensor]) -> float:
    """Return the largest difference of two outputs and of their gradients by `inputs`."""
    cotangent = torch.randn_like(ours)
    mine = (ours, *torch.autograd.grad(ours, inputs, cotangent))
    right = (theirs, *torch.autograd.grad(theirs, inputs, cotangent))
    return max((a - b).abs().max().item() for a, b in zip(mine, right, strict=True))
