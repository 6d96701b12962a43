"""Modules of the course and of torch with the same weights."""

import torch
from torch import nn

from solutions.transformer_block import LayerNorm, MultiHeadAttention

TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-5}


def scrambled(module, dtype):
    """Return the module with random weights, also where it starts with ones or zeros."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.5)
    return module.to(dtype)


PARTS = {  # the course's name of a block's part -> torch's; "" is torch's block itself
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


def matched(course_module, torch_module):
    """Yield (the course's parameters, torch's parameter that stacks them) for all parameters."""
    if isinstance(course_module, MultiHeadAttention):
        maps = (course_module.W_q, course_module.W_k, course_module.W_v)
        yield [linear.weight for linear in maps], torch_module.in_proj_weight
        yield [linear.bias for linear in maps], torch_module.in_proj_bias
        yield from matched(course_module.W_o, torch_module.out_proj)
    elif isinstance(course_module, nn.Linear | LayerNorm):
        yield [course_module.weight], torch_module.weight
        yield [course_module.bias], torch_module.bias
    else:
        for name, part in course_module.named_children():
            torch_name = PARTS[name]
            yield from matched(
                part, getattr(torch_module, torch_name) if torch_name else torch_module
            )
