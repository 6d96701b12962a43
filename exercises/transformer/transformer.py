"""The exercise `Transformer`: chapter 8's blocks, put together."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Declaration
from solutions import transformer as solutions

from .. import forbidden
from . import transformer_answers, transformer_cases

transformer = Declaration(
    solutions.Transformer,
    points=5,
    difficulty=4,
    minutes=40,
    forbidden=forbidden.TRANSFORMER,
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
)


functions = transformer.right(transformer_answers.Functions)
transformer.right(transformer_answers.FromTorch)
transformer.right(transformer_answers.Einsum)
transformer.wrong(
    "embeddings not scaled",
    "At first an entry of an embedding is hardly larger than 1 / sqrt(d_model), and an entry of a "
    "position is up to 1. Which one drowns the other, if nothing is done?",
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
    functions.edit(
        "n, d_model = X.shape[1:]\n"
        "angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / "
        "d_model)\n"
        "waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)\n"
        "return X * d_model**0.5 + waves",
        "d_model = X.shape[-1]\nreturn X * d_model**0.5",
    ),
)
transformer.wrong(
    "no positions in the target",
    "Both stacks read tokens. Which of your two tells them their places?",
    functions.edit(
        "self.embed(self.decoder, inputs)",
        'self.decoder["embedding"](inputs) * self.decoder["norm"].weight.numel() ** 0.5',
    ),
)
transformer.wrong(
    "probabilities for logits",
    "The loss takes a softmax of what you return. What have you taken already?",
    functions.edit(
        'self.decoder["to_logits"](self.decoder["norm"](X))',
        'self.decoder["to_logits"](self.decoder["norm"](X)).softmax(dim=-1)',
    ),
)
transformer.wrong(
    "the encoder without its last norm",
    "In blocks with the norm before each sublayer, nothing normalises the sum that leaves the "
    "last block. Who does it in your encoder?",
    functions.edit('context = self.encoder["norm"](X)', "context = X"),
)
transformer.wrong(
    "the decoder without its last norm",
    "In blocks with the norm before each sublayer, nothing normalises the sum that leaves the "
    "last block. Who does it before your logits?",
    functions.edit(
        'self.decoder["to_logits"](self.decoder["norm"](X))', 'self.decoder["to_logits"](X)'
    ),
)
transformer.wrong(
    "the decoder asks the embeddings of the source",
    "What has your decoder's `context` gone through: one embedding, or all blocks of the encoder?",
    functions.edit('self.encoder["norm"](X)', "self.embed(self.encoder, sources)"),
)


@transformer.wrong(
    "each block asks the encoder's block of the same height",
    "When does the first block of the decoder run: after the first block of the encoder, or after "
    "the last?",
)
class AsksTheSameHeight(nn.Module):
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
        X, heights = self.embed(self.encoder, sources), []
        for block in self.encoder["blocks"]:
            Y = block["norm_1"](X)
            X = X + self.attend(block["attention"], Y, Y, mask)
            X = X + self.transform(block["feed_forward"], block["norm_2"](X))
            heights.append(self.encoder["norm"](X))
        m = inputs.shape[1]
        causal = torch.ones(1, m, m, dtype=torch.bool).tril()
        X = self.embed(self.decoder, inputs)
        for block, context in zip(self.decoder["blocks"], heights, strict=True):
            Y = block["norm_1"](X)
            X = X + self.attend(block["self_attention"], Y, Y, causal)
            X = X + self.attend(block["cross_attention"], block["norm_2"](X), context, mask)
            X = X + self.transform(block["feed_forward"], block["norm_3"](X))
        return self.decoder["to_logits"](self.decoder["norm"](X))


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
    "is to predict?",
    functions.edit(
        "m = inputs.shape[1]\ncausal = torch.ones(1, m, m, dtype=torch.bool).tril()", ""
    ).edit(
        'self.attend(block["self_attention"], Y, Y, causal)',
        'self.attend(block["self_attention"], Y, Y, None)',
    ),
)
transformer.wrong(
    "the mask leaks one token",
    "Row i of the inputs predicts what stands in row i + 1. May it attend to row i + 1?",
    functions.edit(
        "torch.ones(1, m, m, dtype=torch.bool).tril()",
        "torch.ones(1, m, m, dtype=torch.bool).tril(1)",
    ),
)
transformer.wrong(
    "a token may not attend to itself",
    "The inputs are shifted already. May a place read its own input?",
    functions.edit(
        "torch.ones(1, m, m, dtype=torch.bool).tril()",
        "torch.ones(1, m, m, dtype=torch.bool).tril(-1)",
    ),
)
transformer.wrong(
    "the causal mask turned round",
    "Row i of the mask is the token that asks. On which side of the diagonal stand the tokens "
    "before it?",
    functions.edit(
        "torch.ones(1, m, m, dtype=torch.bool).tril", "torch.ones(1, m, m, dtype=torch.bool).triu"
    ),
)
transformer.wrong(
    "the source's mask not passed on to the decoder",
    "The padding of the source is hidden while it is read. Is it hidden from the decoder, too?",
    functions.edit(
        'self.attend(block["cross_attention"], block["norm_2"](X), context, mask)',
        'self.attend(block["cross_attention"], block["norm_2"](X), context, None)',
    ),
)
transformer.wrong(
    "the source's mask not passed on to the encoder",
    "The padding of the source is hidden from the decoder. Do the words of the source look at it?",
    functions.edit(
        'self.attend(block["attention"], Y, Y, mask)', 'self.attend(block["attention"], Y, Y, None)'
    ),
)
transformer.wrong(
    "the source's mask not used",
    "What does your module do with the argument `source_mask`?",
    functions.edit("mask = source_mask if source_mask is None else source_mask[:, None, :]", "")
    .edit(
        'self.attend(block["attention"], Y, Y, mask)', 'self.attend(block["attention"], Y, Y, None)'
    )
    .edit(
        'self.attend(block["cross_attention"], block["norm_2"](X), context, mask)',
        'self.attend(block["cross_attention"], block["norm_2"](X), context, None)',
    ),
)
transformer.wrong(
    "the source's mask inverted",
    "Does `True` say that there is a token, or that there is padding?",
    functions.edit(
        "source_mask if source_mask is None else source_mask[:, None, :]",
        "source_mask if source_mask is None else ~source_mask[:, None, :]",
    ),
)
transformer.wrong(
    "the source's mask on the target's own attention",
    "Whose tokens does the source's mask speak of? In which of the decoder's two attentions do "
    "they give the keys?",
    functions.edit(
        "causal = torch.ones(1, m, m, dtype=torch.bool).tril()",
        "causal = torch.ones(1, m, m, dtype=torch.bool).tril()\n"
        "seen = causal if mask is None else causal & mask",
    )
    .edit(
        'self.attend(block["self_attention"], Y, Y, causal)',
        'self.attend(block["self_attention"], Y, Y, seen)',
    )
    .edit(
        'self.attend(block["cross_attention"], block["norm_2"](X), context, mask)',
        'self.attend(block["cross_attention"], block["norm_2"](X), context, None)',
    ),
)
transformer.public(transformer_cases.public)
transformer.hidden(transformer_cases.hidden)
