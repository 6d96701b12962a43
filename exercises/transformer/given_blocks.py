# Given. The grader uses its own copy: write code of yours into the notebook.
"""Blocks and positions for the exercise `Transformer`, so that it needs no earlier exercise.

Inside a block torch's own layer does the work; its parameters have the names of the course.
"""

import torch
from torch import nn


class GivenBlock(nn.Module):
    """One of torch's layers, with the norm before each sublayer and the course's parameters."""

    def __init__(self, kind, attentions, d_model, n_heads, d_ff):
        """Make a block around a layer of this `kind`.

        attentions: the course's name of each attention -> torch's name.
        """
        super().__init__()
        self.n_heads, self.attentions = n_heads, attentions
        layer = kind(d_model, n_heads, d_ff, dropout=0.0, batch_first=True, norm_first=True)
        self.layer = [layer]  # in a list, so that its own parameters do not count
        for ours in attentions:
            maps = {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"}
            self.add_module(ours, nn.ModuleDict(maps))
        maps = {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
        self.feed_forward = nn.ModuleDict(maps)
        for number in range(1, len(attentions) + 2):
            self.add_module(f"norm_{number}", nn.LayerNorm(d_model))

    def weights(self):
        """Return the parameters under torch's names."""
        weights = {}
        for end in ("weight", "bias"):
            for ours, theirs in self.attentions.items():
                q, k, v, o = (getattr(self.get_submodule(f"{ours}.W_{x}"), end) for x in "qkvo")
                weights[f"{theirs}.in_proj_{end}"] = torch.cat([q, k, v])
                weights[f"{theirs}.out_proj.{end}"] = o
            for number, name in enumerate(("W_1", "W_2"), start=1):
                weights[f"linear{number}.{end}"] = getattr(self.feed_forward[name], end)
            for number in range(1, len(self.attentions) + 2):
                norm = self.get_submodule(f"norm_{number}")
                weights[f"norm{number}.{end}"] = getattr(norm, end)
        return weights

    def run(self, inputs, **masks):
        """Call torch's layer. In its masks True hides a key, and each head has a mask."""
        for name, mask in masks.items():
            if mask is not None:
                n_keys = inputs[-1 if name == "memory_mask" else 0].shape[1]
                mask = mask.expand(len(inputs[0]), inputs[0].shape[1], n_keys)
                mask = ~mask.repeat_interleave(self.n_heads, dim=0)
                masks[name] = mask if mask.numel() else None  # torch refuses an empty mask
        return torch.func.functional_call(self.layer[0], self.weights(), inputs, masks)


class GivenEncoderBlock(GivenBlock):
    """Chapter 8's encoder block."""

    def __init__(self, d_model, n_heads, d_ff):
        """Make the block."""
        attentions = {"attention": "self_attn"}
        super().__init__(nn.TransformerEncoderLayer, attentions, d_model, n_heads, d_ff)

    def forward(self, X, mask=None):
        """X: (batch, n, d_model). mask: broadcasts to (batch, n, n). Returns X's shape."""
        return self.run((X,), src_mask=mask)


class GivenDecoderBlock(GivenBlock):
    """Chapter 8's decoder block."""

    def __init__(self, d_model, n_heads, d_ff):
        """Make the block."""
        attentions = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
        super().__init__(nn.TransformerDecoderLayer, attentions, d_model, n_heads, d_ff)

    def forward(self, X, context, mask=None, context_mask=None):
        """X: (batch, m, d_model). context: (batch, n, d_model). Returns X's shape.

        mask and context_mask broadcast to (batch, m, m) and (batch, m, n).
        """
        return self.run((X, context), tgt_mask=mask, memory_mask=context_mask)


def sinusoidal_positions(n, d_model):
    """Return the positions of chapter 7, (n, d_model), as a tensor of torch's default dtype."""
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1).flatten(1)
