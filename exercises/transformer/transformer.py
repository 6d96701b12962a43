"""The exercise `Transformer`: chapter 8's blocks, put together."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Declaration
from solutions import transformer as solutions

from .. import forbidden
from . import transformer_cases

transformer = Declaration(
    solutions.Transformer,
    points=5,
    difficulty=4,
    minutes=40,
    forbidden=forbidden.TRANSFORMER,
    help=(
        "Two stacks. Each embeds its tokens, adds their positions, runs its blocks one after "
        "another, and normalises once more. The decoder's blocks get the encoder's result as "
        "their context; the decoder's output is mapped to one logit for each token.",
        "Write a class for each stack; a name such as `encoder.blocks.0` comes from "
        "`self.encoder` and, in it, an `nn.ModuleList` called `blocks`. There are three "
        "attentions and three masks: which masks are about the source, and which about the "
        "target? The source's mask has one number per token; a block expects an axis for the "
        "queries, too.",
        "Sections “What enters a stack” and “From ids to logits”; chapter 8 for the blocks, and "
        "chapter 7 for the positions.",
    ),
)


class Functions(nn.Module):
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


functions = transformer.right(Functions)


@transformer.right
class FromTorch(nn.Module):
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


@transformer.right
class Einsum(nn.Module):
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


transformer.wrong(
    "embeddings not scaled",
    "At first an entry of an embedding is hardly larger than 1 / sqrt(d_model), and an entry of "
    "a position is up to 1. Which one drowns out the other, if you do not scale?",
    functions.edit("X * d_model**0.5 + waves", "X + waves"),
)
transformer.wrong(
    "the positions scaled too",
    "What is multiplied by sqrt(d_model): the embedding, or its sum with the position?",
    functions.edit("X * d_model**0.5 + waves", "(X + waves) * d_model**0.5"),
)
transformer.wrong(
    "no positions",
    "Exchange two words of the source. Does anything in your encoder notice?",
    functions.edit("X * d_model**0.5 + waves", "X * d_model**0.5"),
)
transformer.wrong(
    "no positions in the target",
    "Both stacks read tokens. Which of your two stacks tells them their positions?",
    functions.edit(
        "self.embed(self.decoder, inputs)",
        'self.decoder["embedding"](inputs) * self.decoder["norm"].weight.numel() ** 0.5',
    ),
)
transformer.wrong(
    "probabilities for logits",
    "The loss takes a softmax of your output. What have you applied to it already?",
    functions.edit('(self.decoder["norm"](X))', '(self.decoder["norm"](X)).softmax(dim=-1)'),
)
transformer.wrong(
    "the encoder without its last norm",
    "In blocks with the norm before each sublayer, nothing normalises the sum that leaves the "
    "last block. What does that in your encoder?",
    functions.edit('self.encoder["norm"](X)', "X"),
)
transformer.wrong(
    "the decoder without its last norm",
    "In blocks with the norm before each sublayer, nothing normalises the sum that leaves the "
    "last block. What does that before your logits?",
    functions.edit('self.decoder["norm"](X)', "X"),
)
transformer.wrong(
    "the decoder attends to the embeddings of the source",
    "What has your decoder's `context` gone through: one embedding, or all blocks of the encoder?",
    functions.edit('self.encoder["norm"](X)', "self.embed(self.encoder, sources)"),
)
transformer.wrong(
    "each block attends to the encoder's block of the same number",
    "When does the first block of the decoder run: after the first block of the encoder, or after "
    "the last?",
    functions.edit(
        'X = X + self.transform(block["feed_forward"], block["norm_2"](X))',
        'X = X + self.transform(block["feed_forward"], block["norm_2"](X))\n'
        'heights.append(self.encoder["norm"](X))',
    )
    .edit(
        "X = self.embed(self.encoder, sources)",
        "X, heights = self.embed(self.encoder, sources), []",
    )
    .edit(
        'for block in self.decoder["blocks"]:',
        'for block, context in zip(self.decoder["blocks"], heights, strict=True):',
    ),
)
transformer.wrong(
    "one block, several times",
    "How many blocks does your list hold? And how many different ones?",
    functions.edit(
        "nn.ModuleList(block(*attentions) for _ in range(n_layers))",
        "nn.ModuleList([block(*attentions)] * n_layers)",
    ),
)
transformer.wrong(
    "no causal mask",
    "In training the whole target is there. What keeps a place from looking at the token that it "
    "should predict?",
    functions.edit("Y, Y, causal", "Y, Y, None"),
)
transformer.wrong(
    "the mask leaks one token",
    "Row i of the inputs predicts the token in row i + 1. May it attend to row i + 1?",
    functions.edit(".tril()", ".tril(1)"),
)
transformer.wrong(
    "a token may not attend to itself",
    "The inputs are shifted already. May a place read its own input?",
    functions.edit(".tril()", ".tril(-1)"),
)
transformer.wrong(
    "the causal mask transposed",
    "Row i of the mask belongs to the query of token i. On which side of the diagonal are the "
    "tokens before it?",
    functions.edit(".tril()", ".triu()"),
)
transformer.wrong(
    "the source's mask not passed on to the decoder",
    "The padding of the source is hidden while it is read. Is it hidden from the decoder, too?",
    functions.edit('block["norm_2"](X), context, mask', 'block["norm_2"](X), context, None'),
)
transformer.wrong(
    "the source's mask not passed on to the encoder",
    "The padding of the source is hidden from the decoder. Do the words of the source look at it?",
    functions.edit("Y, Y, mask", "Y, Y, None"),
)
transformer.wrong(
    "the source's mask not used",
    "What does your module do with the argument `source_mask`?",
    functions.edit("source_mask if source_mask is None else source_mask[:, None, :]", "None"),
)
transformer.wrong(
    "the source's mask inverted",
    "Does `True` say that there is a token, or that there is padding?",
    functions.edit("source_mask[:, None, :]", "~source_mask[:, None, :]"),
)
transformer.wrong(
    "the source's mask on the target's own attention",
    "Which tokens is the source's mask about? In which of the decoder's two attentions do the "
    "keys come from them?",
    functions.edit("Y, Y, causal", "Y, Y, causal if mask is None else causal & mask").edit(
        'block["norm_2"](X), context, mask', 'block["norm_2"](X), context, None'
    ),
)
transformer.public(transformer_cases.public)
transformer.hidden(transformer_cases.hidden)


transformer.lets_through("-10000 for a hidden score", "the norm keeps scores far above it")
transformer.lets_through("-1e+09 for a hidden score", "the norm keeps scores far above it")
