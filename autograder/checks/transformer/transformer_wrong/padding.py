"""The mistakes of `Transformer` with the mask of the source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ....judging.exercise import Misconception


class Transformer__mask_not_in_the_decoder(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        def block(*attentions):
            maps = {a: {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"} for a in attentions}
            maps["feed_forward"] = {
                "W_1": nn.Linear(d_model, d_ff),
                "W_2": nn.Linear(d_ff, d_model),
            }
            norms = {f"norm_{i + 1}": nn.LayerNorm(d_model) for i in range(len(maps))}
            return nn.ModuleDict({**{a: nn.ModuleDict(one) for a, one in maps.items()}, **norms})

        def stack(size, *attentions):
            blocks = nn.ModuleList(block(*attentions) for _ in range(n_layers))
            parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, "blocks": blocks})

        super().__init__()
        self.n_heads = n_heads
        self.encoder = stack(source_size, "attention")
        self.decoder = stack(target_size, "self_attention", "cross_attention")
        self.decoder["to_logits"] = nn.Linear(d_model, target_size)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        n, d_model = X.shape[1:]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return X * d_model**0.5 + waves

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask if mask is None else mask[:, None])
        return maps["W_o"](Y.transpose(1, 2).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def forward(self, sources, inputs, source_mask=None):
        mask = source_mask if source_mask is None else source_mask[:, None, :]
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, mask)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        context = self.encoder["norm"](X)
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        X = self.embed(self.decoder, inputs)
        for block in self.decoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, causal)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, None)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


class Transformer__mask_not_in_the_encoder(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        def block(*attentions):
            maps = {a: {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"} for a in attentions}
            maps["feed_forward"] = {
                "W_1": nn.Linear(d_model, d_ff),
                "W_2": nn.Linear(d_ff, d_model),
            }
            norms = {f"norm_{i + 1}": nn.LayerNorm(d_model) for i in range(len(maps))}
            return nn.ModuleDict({**{a: nn.ModuleDict(one) for a, one in maps.items()}, **norms})

        def stack(size, *attentions):
            blocks = nn.ModuleList(block(*attentions) for _ in range(n_layers))
            parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, "blocks": blocks})

        super().__init__()
        self.n_heads = n_heads
        self.encoder = stack(source_size, "attention")
        self.decoder = stack(target_size, "self_attention", "cross_attention")
        self.decoder["to_logits"] = nn.Linear(d_model, target_size)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        n, d_model = X.shape[1:]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return X * d_model**0.5 + waves

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask if mask is None else mask[:, None])
        return maps["W_o"](Y.transpose(1, 2).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def forward(self, sources, inputs, source_mask=None):
        mask = source_mask if source_mask is None else source_mask[:, None, :]
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, None)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        context = self.encoder["norm"](X)
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        X = self.embed(self.decoder, inputs)
        for block in self.decoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, causal)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, mask)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


class Transformer__mask_nowhere(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        def block(*attentions):
            maps = {a: {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"} for a in attentions}
            maps["feed_forward"] = {
                "W_1": nn.Linear(d_model, d_ff),
                "W_2": nn.Linear(d_ff, d_model),
            }
            norms = {f"norm_{i + 1}": nn.LayerNorm(d_model) for i in range(len(maps))}
            return nn.ModuleDict({**{a: nn.ModuleDict(one) for a, one in maps.items()}, **norms})

        def stack(size, *attentions):
            blocks = nn.ModuleList(block(*attentions) for _ in range(n_layers))
            parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, "blocks": blocks})

        super().__init__()
        self.n_heads = n_heads
        self.encoder = stack(source_size, "attention")
        self.decoder = stack(target_size, "self_attention", "cross_attention")
        self.decoder["to_logits"] = nn.Linear(d_model, target_size)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        n, d_model = X.shape[1:]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return X * d_model**0.5 + waves

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask if mask is None else mask[:, None])
        return maps["W_o"](Y.transpose(1, 2).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def forward(self, sources, inputs, source_mask=None):
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, None)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        context = self.encoder["norm"](X)
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        X = self.embed(self.decoder, inputs)
        for block in self.decoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, causal)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, None)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


class Transformer__mask_inverted(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        def block(*attentions):
            maps = {a: {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"} for a in attentions}
            maps["feed_forward"] = {
                "W_1": nn.Linear(d_model, d_ff),
                "W_2": nn.Linear(d_ff, d_model),
            }
            norms = {f"norm_{i + 1}": nn.LayerNorm(d_model) for i in range(len(maps))}
            return nn.ModuleDict({**{a: nn.ModuleDict(one) for a, one in maps.items()}, **norms})

        def stack(size, *attentions):
            blocks = nn.ModuleList(block(*attentions) for _ in range(n_layers))
            parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, "blocks": blocks})

        super().__init__()
        self.n_heads = n_heads
        self.encoder = stack(source_size, "attention")
        self.decoder = stack(target_size, "self_attention", "cross_attention")
        self.decoder["to_logits"] = nn.Linear(d_model, target_size)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        n, d_model = X.shape[1:]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return X * d_model**0.5 + waves

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask if mask is None else mask[:, None])
        return maps["W_o"](Y.transpose(1, 2).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def forward(self, sources, inputs, source_mask=None):
        mask = source_mask if source_mask is None else ~source_mask[:, None, :]
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, mask)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        context = self.encoder["norm"](X)
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        X = self.embed(self.decoder, inputs)
        for block in self.decoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, causal)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, mask)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


class Transformer__mask_of_the_wrong_attention(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        def block(*attentions):
            maps = {a: {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"} for a in attentions}
            maps["feed_forward"] = {
                "W_1": nn.Linear(d_model, d_ff),
                "W_2": nn.Linear(d_ff, d_model),
            }
            norms = {f"norm_{i + 1}": nn.LayerNorm(d_model) for i in range(len(maps))}
            return nn.ModuleDict({**{a: nn.ModuleDict(one) for a, one in maps.items()}, **norms})

        def stack(size, *attentions):
            blocks = nn.ModuleList(block(*attentions) for _ in range(n_layers))
            parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, "blocks": blocks})

        super().__init__()
        self.n_heads = n_heads
        self.encoder = stack(source_size, "attention")
        self.decoder = stack(target_size, "self_attention", "cross_attention")
        self.decoder["to_logits"] = nn.Linear(d_model, target_size)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        n, d_model = X.shape[1:]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return X * d_model**0.5 + waves

    def attend(self, maps, X, context, mask):
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, Y in (("W_q", X), ("W_k", context), ("W_v", context))
        )
        Y = F.scaled_dot_product_attention(Q, K, V, mask if mask is None else mask[:, None])
        return maps["W_o"](Y.transpose(1, 2).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def forward(self, sources, inputs, source_mask=None):
        mask = source_mask if source_mask is None else source_mask[:, None, :]
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, mask)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        context = self.encoder["norm"](X)
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        seen = causal if mask is None else causal & mask
        X = self.embed(self.decoder, inputs)
        for block in self.decoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, seen)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, None)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


WRONG_PADDING = (
    Misconception(
        "the source's mask not passed on to the decoder",
        Transformer__mask_not_in_the_decoder,
        "The padding of the source is hidden while it is read. Is it hidden from the decoder, too?",
    ),
    Misconception(
        "the source's mask not passed on to the encoder",
        Transformer__mask_not_in_the_encoder,
        "The padding of the source is hidden from the decoder. Do the words of the source look at "
        "it?",
    ),
    Misconception(
        "the source's mask not used",
        Transformer__mask_nowhere,
        "What does your module do with the argument `source_mask`?",
    ),
    Misconception(
        "the source's mask inverted",
        Transformer__mask_inverted,
        "Does `True` say that there is a token, or that there is padding?",
    ),
    Misconception(
        "the source's mask on the target's own attention",
        Transformer__mask_of_the_wrong_attention,
        "Whose tokens does the source's mask speak of? In which of the decoder's two attentions "
        "do they give the keys?",
    ),
)
