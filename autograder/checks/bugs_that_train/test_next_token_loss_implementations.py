"""What `test_next_token_loss` tells apart: language model losses, right ones and mutants.

Each is written out, because only its own lines reach the process in which it runs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ...judging.written_tests import mutant, right

TORCH = ("import torch", "import torch.nn.functional as F")


def ignoring_index(logits, tokens, pad):
    targets = tokens[:, 1:]
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=pad)


def by_gather(logits, tokens, pad):
    logs = logits.log_softmax(dim=-1)[:, :-1]
    picked = logs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    real = tokens[:, 1:] != pad
    return -(picked * real).sum() / real.sum()


def token_by_token(logits, tokens, pad):
    losses = [
        torch.logsumexp(logits[row, at - 1], 0) - logits[row, at - 1, tokens[row, at]]
        for row in range(len(tokens))
        for at in range(1, tokens.shape[1])
        if tokens[row, at] != pad
    ]
    return torch.stack(losses).mean()


def rolled(logits, tokens, pad):
    targets = torch.roll(tokens, -1, dims=1)
    targets[:, -1] = pad
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    real = targets != pad
    return losses[real].mean()


def not_shifted(logits, tokens, pad):
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), ignore_index=pad)


def shifted_back(logits, tokens, pad):
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten(), ignore_index=pad)


def shifted_twice(logits, tokens, pad):
    return F.cross_entropy(logits[:, :-2].flatten(0, 1), tokens[:, 2:].flatten(), ignore_index=pad)


def padding_counted(logits, tokens, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def divided_by_all(logits, tokens, pad):
    total = F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )
    return total / tokens[:, 1:].numel()


def never_divided(logits, tokens, pad):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )


def mean_of_means(logits, tokens, pad):
    means = [
        F.cross_entropy(own[:-1], row[1:], ignore_index=pad)
        for own, row in zip(logits, tokens, strict=True)
    ]
    return torch.stack(means).mean()


def padding_is_zero(logits, tokens, pad):
    targets = tokens[:, 1:]
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=0)


def no_logarithm(logits, tokens, pad):
    shares = logits.softmax(dim=-1)[:, :-1].gather(-1, tokens[:, 1:, None]).squeeze(-1)
    real = tokens[:, 1:] != pad
    return ((1 - shares) * real).sum() / real.sum()


def softmax_twice(logits, tokens, pad):
    shares = logits.softmax(dim=-1)[:, :-1]
    return F.cross_entropy(shares.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad)


def padded_logits_left_out(logits, tokens, pad):
    targets = tokens[:, 1:].clone()
    ends = (tokens[:, 1:] != pad) & (torch.roll(tokens, -2, 1)[:, :-1] == pad)
    targets[ends] = pad
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=pad)


STYLES = (
    right("cross_entropy that ignores the padding", ignoring_index, *TORCH),
    right("logarithms, gathered", by_gather, *TORCH),
    right("token by token", token_by_token, *TORCH),
    right("targets rolled by one", rolled, *TORCH),
)
PUBLIC = (
    mutant("not shifted: each token is scored by itself", not_shifted, *TORCH),
    mutant("shifted the other way", shifted_back, *TORCH),
    mutant("the padding is counted", padding_counted, *TORCH),
    mutant("divided by all positions, padding too", divided_by_all, *TORCH),
    mutant("a mean of each sequence's mean", mean_of_means, *TORCH),
    mutant("the padding is taken to be 0, whatever `pad` says", padding_is_zero, *TORCH),
)
UNSEEN = (
    mutant("shifted twice", shifted_twice, *TORCH),
    mutant("never divided", never_divided, *TORCH),
    mutant("no logarithm", no_logarithm, *TORCH),
    mutant("a softmax of a softmax", softmax_twice, *TORCH),
    mutant("the last real token is not scored", padded_logits_left_out, *TORCH),
)
