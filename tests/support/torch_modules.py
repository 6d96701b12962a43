"""Our modules and torch's, with the same weights."""

import torch
from torch import nn

from solutions.transformer_block import LayerNorm, MultiHeadAttention

TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-5}


def scrambled(module, dtype):
    """The module with random weights everywhere, also where it starts with ones and zeros."""
    for one in module.parameters():
        nn.init.normal_(one, std=one.shape[-1] ** -0.5 if one.ndim > 1 else 0.5)
    return module.to(dtype)


PARTS = {  # our name of a block's part -> torch's; "" is torch's block itself
    "attention": "self_attn",
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "feed_forward": "",
    "W_1": "linear1",
    "W_2": "linear2",
    "norm_1": "norm1",
    "norm_2": "norm2",
    "norm_3": "norm3",
}


def matched(ours, theirs):
    """(our parameters, torch's parameter that holds them one below the other), for all of ours."""
    if isinstance(ours, MultiHeadAttention):
        maps = (ours.W_q, ours.W_k, ours.W_v)
        yield [one.weight for one in maps], theirs.in_proj_weight
        yield [one.bias for one in maps], theirs.in_proj_bias
        yield from matched(ours.W_o, theirs.out_proj)
    elif isinstance(ours, nn.Linear | LayerNorm):
        yield [ours.weight], theirs.weight
        yield [ours.bias], theirs.bias
    else:
        for name, part in ours.named_children():
            other = PARTS[name]
            yield from matched(part, getattr(theirs, other) if other else theirs)
