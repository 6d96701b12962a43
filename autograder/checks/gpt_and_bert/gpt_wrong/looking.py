"""The mistakes of `GPT` in what a token sees."""

from __future__ import annotations

import torch
from torch import nn

from ....judging.exercise import Misconception


class GPT__no_mask(nn.Module):
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
        hidden = torch.zeros(n, n, dtype=torch.bool)
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
        return self.norm(X) @ self.embedding.weight.T


class GPT__not_itself(nn.Module):
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
        hidden = torch.ones(n, n, dtype=torch.bool).triu(0)
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
        return self.norm(X) @ self.embedding.weight.T


class GPT__sees_the_past_only_backwards(nn.Module):
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
        hidden = torch.ones(n, n, dtype=torch.bool).tril(-1)
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
        return self.norm(X) @ self.embedding.weight.T


class GPT__one_token_ahead(nn.Module):
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
        hidden = torch.ones(n, n, dtype=torch.bool).triu(2)
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
        return self.norm(X) @ self.embedding.weight.T


WRONG_LOOKING = (
    Misconception(
        "no causal mask",
        GPT__no_mask,
        "Change the last token of a text. Which rows of the logits may change?",
    ),
    Misconception(
        "a token does not see itself",
        GPT__not_itself,
        "Row i scores what follows token i. May it know token i?",
    ),
    Misconception(
        "the mask turned round",
        GPT__sees_the_past_only_backwards,
        "In a mask of torch's `tril`, is the row who attends, or who is attended to?",
    ),
    Misconception(
        "one token ahead in view",
        GPT__one_token_ahead,
        "Row i is to predict token i + 1. Does it see it?",
    ),
)
