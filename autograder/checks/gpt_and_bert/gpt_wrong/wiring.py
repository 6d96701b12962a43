"""The mistakes of `GPT` in what is done to a token on its way."""

from __future__ import annotations

import torch
from torch import nn

from ....judging.exercise import Misconception


class GPT__norm_after(nn.Module):
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
        X = block["norm_1"](X + self.attend(block["attention"], X))
        X = block["norm_2"](X + self.transform(block["feed_forward"], X))
        return X

    def forward(self, tokens):
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, {self.positions.num_embeddings} positions")
        X = self.embedding(tokens) + self.positions(torch.arange(n))
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__no_last_norm(nn.Module):
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
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, {self.positions.num_embeddings} positions")
        X = self.embedding(tokens) + self.positions(torch.arange(n))
        for block in self.blocks:
            X = self.run(block, X)
        return X @ self.embedding.weight.T


class GPT__blocks_share_the_first(nn.Module):
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
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, {self.positions.num_embeddings} positions")
        X = self.embedding(tokens) + self.positions(torch.arange(n))
        for block in [self.blocks[0] for _ in self.blocks]:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__probabilities(nn.Module):
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
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, {self.positions.num_embeddings} positions")
        X = self.embedding(tokens) + self.positions(torch.arange(n))
        for block in self.blocks:
            X = self.run(block, X)
        return (self.norm(X) @ self.embedding.weight.T).softmax(-1)


WRONG_WIRING = (
    Misconception(
        "the norm after",
        GPT__norm_after,
        "With all weights of a block 0, what comes out of it? Where do its norms stand?",
    ),
    Misconception(
        "no norm at the end",
        GPT__no_last_norm,
        "Where does your module use `norm`?",
    ),
    Misconception(
        "the first block again and again",
        GPT__blocks_share_the_first,
        "Two blocks: do your gradients reach the second one?",
    ),
    Misconception(
        "probabilities in place of logits",
        GPT__probabilities,
        "Can a row of your output hold a negative number?",
    ),
)
