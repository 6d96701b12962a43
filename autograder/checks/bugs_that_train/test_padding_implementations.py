"""What `test_padding` tells apart: encoders of padded batches, right ones and mutants.

Each is written out, because only its own lines reach the process in which it runs. All are two
layers of attention with no weights of their own; each takes the mean of what it found and of what
was there. Scores are divided by 8, so that every real token keeps the influence that the docstring
of `test_padding` promises.
"""

from __future__ import annotations

import torch

from ...judging.written_tests import mutant, right

TORCH = "import torch"


def heads_as_an_axis(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def one_sequence_at_a_time(X, lengths, n_heads):
    output = torch.zeros_like(X)
    for at, length in enumerate(lengths.tolist()):
        own = X[at, :length]
        for _ in range(2):
            parts = [H @ H.T / 8 for H in own.chunk(n_heads, dim=-1)]
            found = [s.softmax(-1) @ H for s, H in zip(parts, own.chunk(n_heads, -1), strict=True)]
            own = (own + torch.cat(found, dim=-1)) / 2
        output[at, :length] = own
    return output


def folded(X, lengths, n_heads):
    batch, n, d = X.shape
    hidden = torch.arange(n) >= lengths[:, None]
    hidden = hidden[:, None].repeat_interleave(n_heads, dim=0)
    for _ in range(2):
        H = X.reshape(batch, n, n_heads, d // n_heads).transpose(1, 2)
        H = H.reshape(batch * n_heads, n, d // n_heads)
        weights = (torch.bmm(H, H.mT) / 8 - 1e9 * hidden).softmax(dim=-1)
        found = torch.bmm(weights, H).reshape(batch, n_heads, n, d // n_heads)
        X = (X + found.transpose(1, 2).reshape(batch, n, d)) / 2
    return X


def exponentials(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1))
        scores = torch.einsum("bqhc,bkhc->bhqk", H, H) / 8
        scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        shares = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        shares = shares / shares.sum(dim=-1, keepdim=True)
        X = (X + torch.einsum("bhqk,bkhc->bqhc", shares, H).flatten(2)) / 2 * real[..., None]
    return X


def mask_ignored(X, lengths, n_heads):
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        X = (X + ((H @ H.mT / 8).softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def not_passed_on(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for layer in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = H @ H.mT / 8
        if layer == 0:
            scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def against_the_heads(X, lengths, n_heads):
    batch, n, d = X.shape
    hidden = torch.arange(n) >= lengths[:, None]
    hidden = hidden[:, None].repeat(n_heads, 1, 1)
    for _ in range(2):
        H = X.reshape(batch, n, n_heads, d // n_heads).transpose(1, 2)
        H = H.reshape(batch * n_heads, n, d // n_heads)
        weights = (torch.bmm(H, H.mT) / 8 - 1e9 * hidden).softmax(dim=-1)
        found = torch.bmm(weights, H).reshape(batch, n_heads, n, d // n_heads)
        X = (X + found.transpose(1, 2).reshape(batch, n, d)) / 2
    return X


def longest_for_all(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths.max()
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real, -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def padding_set_to_zero(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        X = X * real[..., None]
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        X = (X + ((H @ H.mT / 8).softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def one_too_few(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < (lengths - 1).clamp(min=1)[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def one_too_many(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) <= lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def queries_hidden(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, :, None], -1e9)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def first_head_only(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = H @ H.mT / 8
        scores[:, 0] = scores[:, 0].masked_fill(~real[:, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


def reads_nothing(X, lengths, n_heads):
    return 2 * X


def sorted_and_left_so(X, lengths, n_heads):
    order = lengths.argsort(descending=True)
    real = torch.arange(X.shape[1]) < lengths[order][:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


STYLES = (
    right("heads as an axis", heads_as_an_axis, TORCH),
    right("one sequence at a time, and zeros for the padding", one_sequence_at_a_time, TORCH),
    right("heads folded into the batch", folded, TORCH),
    right("exponentials of the real scores", exponentials, TORCH),
)
PUBLIC = (
    mutant("the mask is ignored", mask_ignored, TORCH),
    mutant("the mask is not passed on to the second layer", not_passed_on, TORCH),
    mutant("masks in another order than the heads", against_the_heads, TORCH),
    mutant("the longest sequence's mask for all", longest_for_all, TORCH),
    mutant("the padding is set to 0, and attended to", padding_set_to_zero, TORCH),
    mutant("the last real token is hidden too", one_too_few, TORCH),
)
UNSEEN = (
    mutant("one position of the padding is seen", one_too_many, TORCH),
    mutant("the queries are hidden, and not the keys", queries_hidden, TORCH),
    mutant("only the first head has a mask", first_head_only, TORCH),
    mutant("no token reads another", reads_nothing, TORCH),
    mutant("masks in the order of the lengths", sorted_and_left_so, TORCH),
)
