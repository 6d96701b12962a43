"""What `test_sees_no_future` tells apart: language models that look back, and mutants that look on.

Each is written out, because only its own lines reach the process in which it runs. The weights of a
model are any numbers that differ.
"""

from __future__ import annotations

import torch

from ...judging.written_tests import mutant, right

TORCH = "import torch"


def masked_attention(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    X = X + torch.cos(torch.arange(n)[:, None] * torch.arange(1, 9) / 3)
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = (X @ X.mT / 8).masked_fill(future, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def position_by_position(tokens):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    logits = torch.zeros(*tokens.shape, 10)
    for at in range(tokens.shape[1]):
        seen = table[tokens[:, : at + 1]]
        weights = (seen @ seen[:, -1:].mT).softmax(dim=1)
        logits[:, at] = (seen * weights).sum(dim=1) @ table.T
    return logits


def recurrent(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    state = torch.zeros(len(tokens), 8)
    logits = []
    for token in tokens.T:
        state = torch.tanh(0.9 * state.roll(1, dims=1) + table[token])
        logits.append(state @ table.T)
    return torch.stack(logits, dim=1)


def all_but_the_rest(tokens):
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9))
    after = X.flip(1).cumsum(1).flip(1) - X
    before = X.sum(dim=1, keepdim=True) - after
    return torch.tanh(before) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def flipped(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    X = X + torch.cos(torch.arange(n)[:, None] * torch.arange(1, 9) / 3)
    past = torch.ones(n, n, dtype=torch.bool).tril(-1)
    weights = (X @ X.mT / 8).masked_fill(past, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def one_ahead(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    future = torch.ones(n, n, dtype=torch.bool).triu(2)
    weights = (X @ X.mT / 8).masked_fill(future, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def no_mask(tokens):
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    weights = (X @ X.mT / 8).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def normed_over_time(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    X = (X - X.mean(dim=1, keepdim=True)) / (X.var(dim=1, keepdim=True, correction=0) + 1e-5).sqrt()
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = (X @ X.mT / 8).masked_fill(future, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def not_itself(tokens):
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9))
    before = X.cumsum(dim=1) - X
    return torch.tanh(before) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def small_penalty(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    future = torch.ones(n, n).triu(1)
    weights = (X @ X.mT / 8 - 5 * future).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def over_the_queries(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = (X @ X.mT / 8).masked_fill(future, -1e9).softmax(dim=-2)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def mask_for_eight(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    future = torch.zeros(n, n, dtype=torch.bool)
    future[:8, :8] = torch.ones(8, 8, dtype=torch.bool).triu(1)[:n, :n]
    future[:8, 8:] = True
    weights = (X @ X.mT / 8).masked_fill(future, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


def forgets(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens]
    last = X + 0.5 * torch.cat((torch.zeros_like(X[:, :1]), X[:, :-1]), dim=1)
    return torch.tanh(last) @ table.T


def neighbours_in_the_batch(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens].cumsum(dim=1)
    X = X - X.mean(dim=0, keepdim=True) / 2
    return torch.tanh(X) @ table.T


def ends_first(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens]
    X = X.cumsum(dim=1) + 0.3 * X[:, -1:]
    return torch.tanh(X) @ table.T


STYLES = (
    right("attention with a causal mask", masked_attention, TORCH),
    right("the sum of all, less what comes after", all_but_the_rest, TORCH),
    right("position by position", position_by_position, TORCH),
    right("a recurrent network", recurrent, TORCH),
)
PUBLIC = (
    mutant("the mask the wrong way round", flipped, TORCH),
    mutant("each position sees one token ahead", one_ahead, TORCH),
    mutant("a norm over the positions of a sequence", normed_over_time, TORCH),
    mutant("a token does not see itself", not_itself, TORCH),
    mutant("the last token reaches every position", ends_first, TORCH),
    mutant("a mask that is made for eight positions, and there are more", mask_for_eight, TORCH),
    mutant("sequences of a batch see each other", neighbours_in_the_batch, TORCH),
)
UNSEEN = (
    mutant("no mask at all", no_mask, TORCH),
    mutant("hidden by too small a penalty", small_penalty, TORCH),
    mutant("a softmax over the queries", over_the_queries, TORCH),
    mutant("nothing is remembered for longer than one position", forgets, TORCH),
)
