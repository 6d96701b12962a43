"""The exercise `Transformer`: chapter 8's blocks, put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from solutions import transformer as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Promise, Tensor, draw_setup
from .transformer_wrong.causal import WRONG_CAUSAL
from .transformer_wrong.ends import WRONG_ENDS
from .transformer_wrong.padding import WRONG_PADDING
from .transformer_wrong.wiring import WRONG_WIRING


def machine_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "no blocks yet: the way in and the way out", 1, 3, 2, (5, 6, 4, 2, 3, 0))
    yield _case(rng, "one block in each stack", 1, 3, 2, (5, 6, 4, 2, 3, 1))
    yield _case(rng, "two blocks in each stack", 2, 4, 3, (7, 5, 6, 3, 4, 2))
    yield _case(rng, "a padded source", 2, 4, 3, (7, 5, 4, 2, 6, 2), (2, 4))
    yield _case(rng, "as many sources as targets, padded", 2, 3, 3, (6, 7, 4, 2, 3, 1), (3, 1))
    sizes = (6, 8, 6, 3, 5, 1)
    yield _case(rng, "float32, one source is all padding", 3, 4, 2, sizes, (2, 0, 4), np.float32)
    yield _case(rng, "one block, other sentences", 1, 3, 2, (5, 6, 4, 2, 3, 1))
    yield from _edges(rng, (5, 4, 4, 2, 3), 520)


def machine_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head = rng.permutation([(2, 4), (3, 2), (3, 4)])[0].tolist()
    d_ff, source_size, target_size = (int(one) for one in rng.permutation([5, 7, 9]))
    n, m = (int(one) for one in rng.permutation([3, 4, 5])[:2])
    sizes = (source_size, target_size, n_heads * d_head, n_heads, d_ff)
    lengths = tuple(rng.permutation([1, n - 1]).tolist())
    yield _case(rng, "no blocks yet: the way in and the way out", 2, n, m, (*sizes, 0))
    yield _case(rng, "one block in each stack", 2, n, m, (*sizes, 1))
    yield _case(rng, "two blocks in each stack, one token in, one out", 2, 1, 1, (*sizes, 2))
    yield _case(rng, "a padded source", 2, n, m, (*sizes, 2), lengths)
    yield _case(rng, "as many sources as targets, padded", 2, n, n, (*sizes, 1), lengths)
    lengths = tuple(rng.permutation([0, n - 1, n]).tolist())
    note = "float32, one source is all padding"
    yield _case(rng, note, 3, n, m, (*sizes, 1), lengths, np.float32)
    yield from _edges(rng, sizes, int(rng.integers(1100, 1200)))


def _edges(rng: np.random.Generator, sizes: tuple[int, ...], far: int) -> Iterator[Case]:
    """What is at an edge, in public and in hidden cases; `far` is a place in a target."""
    yield _case(rng, "no token in the source", 2, 0, 3, (*sizes, 1), (0, 0))
    yield _case(rng, "no token in the target", 2, 3, 0, (*sizes, 1), (3, 1))
    case = _case(rng, "large scores", 1, 3, 3, (*sizes, 1), (2,))
    assert case.setup
    weights = {
        name: Tensor(one.array * 2000 if name.endswith("W_q.weight") else one.array)
        for name, one in case.setup.weights.items()
    }
    yield replace(case, setup=replace(case.setup, weights=weights))
    short = (sizes[0], 1, 4, 2, 3, 0)
    yield _case(rng, "a target longer than most tables", 1, 1, far, short, dtype=np.float32)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: int,
    n: int,
    m: int,
    sizes: tuple[int, ...],
    lengths: tuple[int, ...] | None = None,
    dtype: type = np.float64,
) -> Case:
    """A case with `batch` sources of n tokens, of `lengths` where they are padded, and m targets.

    sizes: the arguments of `Transformer`, in their order.
    """
    setup = draw_setup(rng, solutions.Transformer, *sizes, dtype=dtype)
    sources, inputs = (
        Tensor(rng.integers(size, size=(batch, length)))
        for size, length in zip(sizes[:2], (n, m), strict=True)
    )
    keywords: dict[str, Any] = {}
    if lengths is not None:
        keywords["source_mask"] = Tensor(np.arange(n) < np.array(lengths)[:, None])
    return Case(note, (sources, inputs), keywords, setup)


class Transformer__functions(nn.Module):
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
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, mask)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


class Transformer__from_torch(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.sizes = (d_model, n_heads, d_ff, 0.0)
        self.encoder = self.stack(n_layers, source_size, "attention")
        self.decoder = self.stack(n_layers, target_size, "self_attention", "cross_attention")
        self.to_logits = nn.Linear(d_model, target_size)
        self.decoder["to_logits"] = self.to_logits

    def stack(self, n_layers, size, *attentions):
        d_model, _, d_ff, _ = self.sizes
        blocks = nn.ModuleList()
        for _ in range(n_layers):
            block = nn.ModuleDict()
            for name in attentions:
                maps = {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"}
                block[name] = nn.ModuleDict(maps)
            wide, narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            block["feed_forward"] = nn.ModuleDict({"W_1": wide, "W_2": narrow})
            for number in range(len(attentions) + 1):
                block[f"norm_{number + 1}"] = nn.LayerNorm(d_model)
            blocks.append(block)
        parts = {"embedding": nn.Embedding(size, d_model), "norm": nn.LayerNorm(d_model)}
        return nn.ModuleDict({"blocks": blocks, **parts})

    def run(self, kind, block, *tokens, **masks):
        masks = {n: None if one is None or one.numel() == 0 else one for n, one in masks.items()}
        theirs = {"attention": "self_attn", "self_attention": "self_attn"}
        theirs["cross_attention"] = "multihead_attn"
        weights = {}
        for name, part in block.items():
            own = dict(part.named_parameters())
            for end in ("weight", "bias"):
                if name in theirs:
                    whole = torch.cat([own[f"W_{x}.{end}"] for x in "qkv"])
                    weights[f"{theirs[name]}.in_proj_{end}"] = whole
                    weights[f"{theirs[name]}.out_proj.{end}"] = own[f"W_o.{end}"]
                elif name == "feed_forward":
                    weights[f"linear1.{end}"] = own[f"W_1.{end}"]
                    weights[f"linear2.{end}"] = own[f"W_2.{end}"]
                else:
                    weights[f"{name.replace('_', '')}.{end}"] = own[end]
        layer = kind(*self.sizes, batch_first=True, norm_first=True)
        return torch.func.functional_call(layer, weights, tokens, masks)

    def embed(self, stack, tokens):
        X = stack["embedding"](tokens)
        places = torch.zeros_like(X[0])
        for i in range(0, X.shape[-1], 2):
            angle = torch.arange(len(places)) / 10000.0 ** (i / X.shape[-1])
            places[:, i], places[:, i + 1] = torch.sin(angle), torch.cos(angle)
        return X.shape[-1] ** 0.5 * X + places

    def forward(self, sources, inputs, source_mask=None):
        m, hidden, hidden_from_m = inputs.shape[1], None, None
        if source_mask is not None:
            hidden = ~source_mask[:, None].repeat_interleave(self.sizes[1], 0)
            hidden_from_m = hidden.expand(-1, m, -1)
            hidden = hidden.expand(-1, sources.shape[1], -1)
        X = self.embed(self.encoder, sources)
        for block in self.encoder["blocks"]:
            X = self.run(nn.TransformerEncoderLayer, block, X, src_mask=hidden)
        context, X = self.encoder["norm"](X), self.embed(self.decoder, inputs)
        later = torch.ones(m, m, dtype=torch.bool).triu(1)
        for block in self.decoder["blocks"]:
            masks = {"tgt_mask": later, "memory_mask": hidden_from_m}
            X = self.run(nn.TransformerDecoderLayer, block, X, context, **masks)
        return self.to_logits(self.decoder["norm"](X))


class Transformer__einsum(nn.Module):
    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.heads = (n_heads, d_model // n_heads)

        def add(path, part):
            *parents, name = path.split(".")
            owner = self
            for parent in parents:
                if not hasattr(owner, parent):
                    owner.add_module(parent, nn.Module())
                owner = getattr(owner, parent)
            owner.add_module(name, part)

        self.layers = range(n_layers)
        add("decoder.to_logits", nn.Linear(d_model, target_size))
        kinds = (("encoder", source_size, 1), ("decoder", target_size, 2))
        for side, size, attentions in kinds:
            add(f"{side}.norm", nn.LayerNorm(d_model))
            add(f"{side}.embedding", nn.Embedding(size, d_model))
            for i in self.layers:
                names = ("self_attention", "cross_attention") if attentions > 1 else ("attention",)
                for name in names:
                    for x in "ovkq":
                        add(f"{side}.blocks.{i}.{name}.W_{x}", nn.Linear(d_model, d_model))
                add(f"{side}.blocks.{i}.feed_forward.W_1", nn.Linear(d_model, d_ff))
                add(f"{side}.blocks.{i}.feed_forward.W_2", nn.Linear(d_ff, d_model))
                for number in range(attentions + 1):
                    add(f"{side}.blocks.{i}.norm_{number + 1}", nn.LayerNorm(d_model))

    def start(self, side, tokens):
        X = self.get_submodule(f"{side}.embedding")(tokens)
        d_model = X.shape[-1]
        column = torch.arange(d_model)
        angles = torch.arange(X.shape[1])[:, None] * 10000.0 ** (-(column - column % 2) / d_model)
        return X * d_model**0.5 + torch.where(column % 2 == 0, angles.sin(), angles.cos())

    def attend(self, name, X, context, mask):
        Q, K, V = (
            self.get_submodule(f"{name}.W_{x}")(Y).unflatten(-1, self.heads)
            for x, Y in zip("qkv", (X, context, context), strict=True)
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", Q, K) / self.heads[1] ** 0.5
        mask = mask[:, None].expand(scores.shape)
        weights = scores.masked_fill(~mask, -1e30).softmax(-1) * mask
        found = torch.einsum("bhqk,bkhd->bqhd", weights, V).flatten(-2)
        return self.get_submodule(f"{name}.W_o")(found)

    def stack(self, side, X, attentions):
        for i in self.layers:
            for number, (name, context, mask) in enumerate(attentions, start=1):
                Y = self.get_submodule(f"{side}.blocks.{i}.norm_{number}")(X)
                other = Y if context is None else context
                X = X + self.attend(f"{side}.blocks.{i}.{name}", Y, other, mask)
            Y = self.get_submodule(f"{side}.blocks.{i}.norm_{len(attentions) + 1}")(X)
            for name in ("W_1", "W_2"):
                Y = Y.clamp(min=0) if name == "W_2" else Y
                Y = self.get_submodule(f"{side}.blocks.{i}.feed_forward.{name}")(Y)
            X = X + Y
        return self.get_submodule(f"{side}.norm")(X)

    def forward(self, sources, inputs, source_mask=None):
        seen = torch.ones_like(sources, dtype=torch.bool) if source_mask is None else source_mask
        seen = seen.unsqueeze(1)
        place = torch.arange(inputs.shape[1])
        causal = (place[:, None] >= place)[None]
        X = self.start("encoder", sources)
        context = self.stack("encoder", X, [("attention", None, seen)])
        attentions = [("self_attention", None, causal), ("cross_attention", context, seen)]
        X = self.stack("decoder", self.start("decoder", inputs), attentions)
        return self.get_submodule("decoder.to_logits")(X)


TRANSFORMER = Exercise(
    name="Transformer",
    points=5,
    difficulty=4,
    minutes=40,
    reference=solutions.Transformer,
    cases=machine_cases,
    hidden=machine_hidden,
    misconceptions=(*WRONG_ENDS, *WRONG_WIRING, *WRONG_CAUSAL, *WRONG_PADDING),
    alternatives=(Transformer__functions, Transformer__from_torch, Transformer__einsum),
    help=(
        "Two stacks. Each embeds its tokens, adds their places, runs its blocks one after another, "
        "and normalises once more. The decoder's blocks get the encoder's result as their context; "
        "what leaves the decoder is mapped to one logit for each token.",
        "Write a class for each stack; a name such as `encoder.blocks.0` comes from "
        "`self.encoder` and, in it, an `nn.ModuleList` called `blocks`. Three attentions, three "
        "masks: which of them speaks of the source, and which of the target? The source's mask "
        "has one number a token; a block wants an axis for those who ask.",
        "Chapter 9, 'What enters a stack'; chapter 8 for the blocks, and chapter 7 for the "
        "positions.",
    ),
    promises=(
        Promise(
            "Each is a stack: an `embedding` (`nn.Embedding`), n_layers `blocks`, and a last "
            "`norm`; the decoder ends in `to_logits`, a linear map with a bias.",
            ("no blocks yet: the way in and the way out", "one block in each stack"),
        ),
        Promise(
            "What enters a stack is the embedding of each token times sqrt(d_model), plus the "
            "sinusoids of its place.",
            ("no blocks yet: the way in and the way out", "a target longer than most tables"),
        ),
        Promise(
            "The blocks are chapter 8's, with the norm before each sublayer, and the parameters of "
            "block i are called as there, behind `encoder.blocks.i.` or `decoder.blocks.i.`.",
            ("one block in each stack", "two blocks in each stack", "large scores"),
        ),
        Promise("The last norm is one of the same kind.", ("two blocks in each stack",)),
        Promise(
            "source_size, target_size: of the vocabularies. n_layers: blocks in each stack, 0 or "
            "more.",
            (
                "no blocks yet: the way in and the way out",
                "one block in each stack",
                "two blocks in each stack",
            ),
        ),
        Promise(
            "d_model, n_heads, d_ff: the sizes of the blocks; d_model is even and divisible by "
            "n_heads.",
            ("two blocks in each stack", "as many sources as targets, padded"),
        ),
        Promise(
            "sources: ids (batch, n). inputs: ids (batch, m), the targets shifted right.",
            (
                "one block in each stack",
                "one block, other sentences",
                "two blocks in each stack, one token in, one out",
            ),
        ),
        Promise(
            "source_mask: boolean (batch, n), True where a token stands and False where a row is "
            "padded; None if no row is.",
            ("a padded source", "two blocks in each stack"),
        ),
        Promise(
            "No token attends to padding, neither in the encoder nor in the decoder",
            ("a padded source", "as many sources as targets, padded"),
        ),
        Promise("a source may be all padding", ("float32, one source is all padding",)),
        Promise(
            "Returns logits (batch, m, target_size): row i scores what follows token i of "
            "`inputs`, and no later token has a part in it.",
            ("one block in each stack", "two blocks in each stack"),
        ),
        Promise("n and m may be 0", ("no token in the source", "no token in the target")),
        Promise("have no upper limit", ("a target longer than most tables",)),
    ),
    forbidden=forbidden.TRANSFORMER,
)
