"""The mistakes of `GPT` in what enters the blocks, and in how much of it."""

from __future__ import annotations

import torch
from torch import nn

from ....judging.exercise import Misconception


class GPT__no_positions(nn.Module):
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
        X = self.embedding(tokens)
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__first_position_for_all(nn.Module):
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
        X = self.embedding(tokens) + self.positions.weight[0]
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__positions_from_1(nn.Module):
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
        X = self.embedding(tokens) + self.positions(
            torch.arange(1, n + 1).clamp(max=self.positions.num_embeddings - 1)
        )
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__scaled_embedding(nn.Module):
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
        X = self.embedding(tokens) * self.embedding.embedding_dim**0.5 + self.positions(
            torch.arange(n)
        )
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


class GPT__too_long_a_text(nn.Module):
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
        X = self.embedding(tokens) + self.positions(
            torch.arange(n).clamp(max=self.positions.num_embeddings - 1)
        )
        for block in self.blocks:
            X = self.run(block, X)
        return self.norm(X) @ self.embedding.weight.T


WRONG_POSITIONS = (
    Misconception(
        "no positions",
        GPT__no_positions,
        "A text of one token five times: does a token of it know where it stands?",
    ),
    Misconception(
        "one position for all",
        GPT__first_position_for_all,
        "Which row of the table belongs to the second token?",
    ),
    Misconception(
        "positions counted from 1",
        GPT__positions_from_1,
        "Which row of the table belongs to the first token?",
    ),
    Misconception(
        "the embedding scaled",
        GPT__scaled_embedding,
        "Chapter 9 multiplied the embedding by a root. Does the docstring ask for it here?",
    ),
    Misconception(
        "a text that is too long taken",
        GPT__too_long_a_text,
        "What becomes of a text with more tokens than there are positions?",
    ),
)
