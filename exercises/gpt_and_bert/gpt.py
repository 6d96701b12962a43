"""The exercise `GPT`: chapter 8's encoder block, under a causal mask."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Raises, Setup, Tensor, draw_setup
from solutions import gpt_and_bert as solutions

from .. import forbidden

gpt = Declaration(
    solutions.GPT,
    points=5,
    difficulty=3,
    minutes=30,
    forbidden=(*forbidden.ENCODER_LAYER, *forbidden.TRANSFORMER),
    help=(
        "Look up the tokens and their positions, add, run the blocks under a causal mask, "
        "normalise, and compare with every embedding.",
        "The blocks are an `nn.ModuleList` called `blocks`, the mask is `torch.ones(n, n, "
        "dtype=torch.bool).tril()`, and the last step multiplies by `embedding.weight`, "
        "transposed.",
        "Section “Keep the decoder”; chapter 8 for the block.",
    ),
)


class Functions(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            block = nn.ModuleDict({f"norm_{i}": nn.LayerNorm(d_model) for i in (1, 2)})
            maps = {f"W_{one}": nn.Linear(d_model, d_model) for one in "qkvo"}
            block["attention"] = nn.ModuleDict(maps)
            maps = {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
            block["feed_forward"] = nn.ModuleDict(maps)
            self.blocks.append(block)
        self.norm = nn.LayerNorm(d_model)

    def attend(self, maps, X):
        Q, K, V = (maps[f"W_{one}"](X).unflatten(-1, (self.n_heads, -1)) for one in "qkv")
        scores = torch.einsum("bihd,bjhd->bhij", Q, K) / Q.shape[-1] ** 0.5
        n = X.shape[1]
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -1e30).softmax(-1)
        return maps["W_o"](torch.einsum("bhij,bjhd->bihd", weights, V).flatten(-2))

    def transform(self, maps, X):
        return maps["W_2"](maps["W_1"](X).relu())

    def run(self, block, X):
        X = X + self.attend(block["attention"], block["norm_1"](X))
        X = X + self.transform(block["feed_forward"], block["norm_2"](X))
        return X

    def forward(self, tokens):
        n, max_len = tokens.shape[1], len(self.positions.weight)
        if n > max_len:
            raise ValueError(f"{n} tokens, {max_len} positions")
        X = self.embedding(tokens) + self.positions(torch.arange(n))
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


functions = gpt.right(Functions)


@gpt.right
class FromTorch(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        def block():
            maps = {f"W_{one}": nn.Linear(d_model, d_model) for one in "oqkv"}
            network = {"W_2": nn.Linear(d_ff, d_model), "W_1": nn.Linear(d_model, d_ff)}
            parts = {"feed_forward": nn.ModuleDict(network), "attention": nn.ModuleDict(maps)}
            norms = {"norm_1": nn.LayerNorm(d_model), "norm_2": nn.LayerNorm(d_model)}
            return nn.ModuleDict({**parts, **norms})

        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList(block() for _ in range(n_layers))
        self.positions = nn.Embedding(max_len, d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.heads = n_heads

    def forward(self, tokens):
        n, most = tokens.shape[-1], len(self.positions.weight)
        if n > most:
            raise ValueError(f"a text of {n} tokens, but at most {most} are allowed")
        X = self.embedding(tokens) + self.positions(torch.arange(n)).unsqueeze(0)
        for block in self.blocks:
            X = self.one_block(block, X)
        return F.linear(self.norm(X), self.embedding.weight)

    def one_block(self, block, X):
        maps, Y = block["attention"], block["norm_1"](X)
        Q, K, V = (
            maps[name](Y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for name in ("W_q", "W_k", "W_v")
        )
        Y = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
        X = X + maps["W_o"](Y.transpose(1, 2).flatten(-2))
        maps = block["feed_forward"]
        return X + maps["W_2"](F.relu(maps["W_1"](block["norm_2"](X))))


@gpt.right
class TokenByToken(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            maps = {f"W_{one}": nn.Linear(d_model, d_model) for one in "kvqo"}
            network = {"W_1": nn.Linear(d_model, d_ff), "W_2": nn.Linear(d_ff, d_model)}
            norms = {f"norm_{one}": nn.LayerNorm(d_model) for one in (2, 1)}
            parts = {"attention": nn.ModuleDict(maps), "feed_forward": nn.ModuleDict(network)}
            self.blocks.append(nn.ModuleDict({**norms, **parts}))
        self.sizes = (n_heads, max_len)

    def forward(self, tokens):
        n_heads, max_len = self.sizes
        if tokens.shape[1] > max_len:
            raise ValueError(f"{tokens.shape[1]} tokens are more than {max_len}")
        X = self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            X = self.one_block(block, X, n_heads)
        return torch.einsum("bnd,vd->bnv", self.norm(X), self.embedding.weight)

    def one_block(self, block, X, n_heads):
        maps, Y, found = block["attention"], block["norm_1"](X), []
        Q, K, V = (maps[f"W_{one}"](Y).chunk(n_heads, -1) for one in "qkv")
        for q, k, v in zip(Q, K, V, strict=True):
            rows = []
            for i in range(X.shape[1]):
                scores = (k[:, : i + 1] @ q[:, i, :, None])[..., 0] / q.shape[-1] ** 0.5
                rows.append(scores.softmax(-1)[:, None] @ v[:, : i + 1])
            found.append(torch.cat(rows, 1) if rows else v)
        X = X + maps["W_o"](torch.cat(found, -1))
        hidden = block["feed_forward"]["W_1"](block["norm_2"](X)).relu()
        return X + block["feed_forward"]["W_2"](hidden)


gpt.wrong(
    "no causal mask",
    "Change the last token of a text. Which rows of the logits may change?",
    functions.edit("triu(1)", "triu(n)"),
)
gpt.wrong(
    "a token does not see itself",
    "Row i scores what follows token i. May it see token i?",
    functions.edit("triu(1)", "triu(0)"),
)
gpt.wrong(
    "the mask transposed",
    "In a mask made by torch's `tril`, is the row the token that attends, or the one that is "
    "attended to?",
    functions.edit("triu(1)", "tril(-1)"),
)
gpt.wrong(
    "one token ahead in view",
    "Row i should predict token i + 1. Does it see that token?",
    functions.edit("triu(1)", "triu(2)"),
)
gpt.wrong(
    "no positions",
    "A text repeats one token five times. Can your model tell the five positions apart?",
    functions.edit(" + self.positions(torch.arange(n))", ""),
)
gpt.wrong(
    "one position for all",
    "Which row of the table belongs to the second token?",
    functions.edit("self.positions(torch.arange(n))", "self.positions.weight[0]"),
)
gpt.wrong(
    "positions counted from 1",
    "Which row of the table belongs to the first token?",
    functions.edit("torch.arange(n)", "torch.arange(1, n + 1).clamp(max=max_len - 1)"),
)
gpt.wrong(
    "the embedding scaled",
    "Chapter 9 multiplied the embedding by a root. Does the docstring ask for it here?",
    functions.edit(
        "self.embedding(tokens)", "self.embedding(tokens) * self.norm.weight.numel() ** 0.5"
    ),
)
gpt.wrong(
    "a text that is too long accepted",
    "What does your module do with a text that has more tokens than there are positions?",
    functions.edit(
        'if n > max_len:\n    raise ValueError(f"{n} tokens, {max_len} positions")', ""
    ).edit("torch.arange(n)", "torch.arange(n).clamp(max=max_len - 1)"),
)
gpt.wrong(
    "the norm after",
    "Set all weights of a block to 0. What comes out of it? Where are its norms?",
    functions.edit(
        'X = X + self.attend(block["attention"], block["norm_1"](X))\n'
        'X = X + self.transform(block["feed_forward"], block["norm_2"](X))',
        'X = block["norm_1"](X + self.attend(block["attention"], X))\n'
        'X = block["norm_2"](X + self.transform(block["feed_forward"], X))',
    ),
)
gpt.wrong(
    "no norm at the end", "Where does your module use `norm`?", functions.edit("self.norm(X)", "X")
)
gpt.wrong(
    "the first block again and again",
    "Make a model of two blocks. Do gradients reach the second one?",
    functions.edit("in self.blocks", "in [self.blocks[0] for _ in self.blocks]"),
)
gpt.wrong(
    "probabilities in place of logits",
    "Can a row of your output contain a negative number?",
    functions.edit(
        "self.norm(X) @ self.embedding.weight.T",
        "(self.norm(X) @ self.embedding.weight.T).softmax(-1)",
    ),
)


@gpt.public
def _(rng):
    yield _case(rng, "no block yet: the way in and the way out", 1, 3, (5, 4, 2, 3, 0, 6)).holds(
        "Its parts are called `embedding`, `positions`, `blocks` and `norm`.",
        "vocab_size: the ids go from 0 up to it. max_len: as many positions are learned.",
        "d_model, n_heads, d_ff: the sizes of the blocks, which have the norm before. n_layers: "
        "how many blocks there are, 0 or more.",
        "A token's embedding and that of its position are added, pass through the blocks, and "
        "are normalised once more.",
        "The logit of a candidate is the dot product with its embedding: the matrix that reads "
        "is the one that writes.",
    )
    yield _case(rng, "one block", 1, 3, (5, 4, 2, 3, 1, 6)).holds(
        "Its parts…",
        "d_model, n_heads…",
        "Row i of the logits scores what follows token i, and depends on no later token.",
    )
    yield _case(rng, "two blocks", 2, 4, (7, 6, 3, 4, 2, 8)).holds(
        "d_model, n_heads…", "A token's…", "Row i of…"
    )
    yield _case(rng, "as many tokens as positions", 2, 4, (6, 4, 2, 6, 1, 4)).holds(
        "vocab_size: the…"
    )
    yield _case(rng, "float32, three texts", 3, 5, (9, 6, 2, 5, 1, 7), np.float32).holds(
        "Returns logits (batch, n, vocab_size)."
    )
    yield _case(rng, "one block, another text", 1, 3, (5, 4, 2, 3, 1, 6)).holds("Row i of…")
    yield _case(rng, "a vocabulary of one token", 2, 3, (1, 4, 2, 3, 1, 5)).holds(
        "vocab_size: the…"
    )
    yield from _edges(rng, (5, 4, 2, 3))


@gpt.hidden
def _(rng):
    n_heads, d_head = rng.permutation([(2, 4), (3, 2), (2, 3)])[0].tolist()
    d_ff, V = (int(one) for one in rng.permutation([5, 7, 9])[:2])
    n = int(rng.integers(3, 6))
    sizes = (V, n_heads * d_head, n_heads, d_ff)
    yield _case(rng, "no block yet: the way in and the way out", 2, n, (*sizes, 0, n + 2))
    yield _case(rng, "one block", 2, n, (*sizes, 1, n + 3))
    yield _case(rng, "two blocks", 2, n, (*sizes, 2, n + 1))
    yield _case(rng, "float32, three texts", 3, n, (*sizes, 1, n + 2), np.float32)
    yield from _edges(rng, sizes)


def _edges(rng: np.random.Generator, sizes: tuple[int, ...]) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden."""
    yield _case(rng, "one token, a batch of one", 1, 1, (*sizes, 1, 3)).holds(
        "tokens: ids (batch, n), n may be 0."
    )
    yield _case(rng, "no token", 2, 0, (*sizes, 1, 3)).holds("tokens: ids…")
    case = _case(rng, "large scores", 1, 3, (*sizes, 1, 4)).holds("Row i of…")
    assert case.setup
    weights = {
        name: Tensor(one.array * 2000 if name.endswith("W_q.weight") else one.array)
        for name, one in case.setup.weights.items()
    }
    yield replace(case, setup=replace(case.setup, weights=weights))
    most = int(rng.integers(3, 6))
    for note, more in (("more tokens than positions", 3), ("one token more than positions", 1)):
        setup = draw_setup(rng, solutions.GPT, *sizes, 1, most)
        tokens = Tensor(rng.integers(sizes[0], size=(2, most + more)))
        refused = Raises("ValueError", (str(most + more), str(most)))
        yield Case(note, (tokens,), setup=setup, raises=refused).holds(
            "Raises ValueError, with both numbers in its message, if n is larger than max_len."
        )


def _case(
    rng: np.random.Generator,
    note: str,
    batch: int,
    n: int,
    sizes: tuple[int, ...],
    dtype: type = np.float64,
) -> Case:
    """`batch` texts of n tokens; sizes: the arguments of `GPT`, in their order."""
    setup: Setup = draw_setup(rng, solutions.GPT, *sizes, dtype=dtype)
    return Case(note, (Tensor(rng.integers(sizes[0], size=(batch, n))),), setup=setup)


gpt.lets_through("-1e+09 for a hidden score", "the norm keeps scores far above it")
gpt.mutant(
    "one token more than positions not refused",
    "n > self.positions.num_embeddings",
    "n > self.positions.num_embeddings + 1",
)
