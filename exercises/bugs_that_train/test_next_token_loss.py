"""The exercise `test_next_token_loss`: write the test that finds what a loss does not count.

It tells the losses of language models apart, right ones and mutants. Each stands alone: only its
own lines reach the process in which it runs.
"""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_bugs as solutions

test_next_token_loss = Declaration(
    solutions.test_next_token_loss,
    points=4,
    difficulty=2,
    minutes=20,
    kind=Kind.TEST,
    imports=("import torch", "import torch.nn.functional as F"),
    help=(
        "Make two short sequences of different lengths, and pad the shorter one. Work out the "
        "loss token by token, in a loop that you trust, and compare with a tolerance.",
        "`pad` should not be 0, since careless code takes 0 for the padding; and 0 should be a "
        "real token somewhere. The logits should differ from position to position.",
        "The section “Where the loss looks”, and chapter 9 on shifted targets.",
    ),
)


@test_next_token_loss.right
def sum_by_hand(implementation):
    torch.manual_seed(0)
    logits = 2 * torch.randn(3, 6, 9)
    tokens = torch.randint(0, 7, (3, 6))
    tokens[0, 4:] = tokens[1, 3:] = 8
    total, count = 0.0, 0
    for row in range(3):
        for at in range(5):
            if tokens[row, at + 1] != 8:
                total -= float(F.log_softmax(logits[row, at], 0)[tokens[row, at + 1]])
                count += 1
    assert abs(float(implementation(logits, tokens, 8)) - total / count) < 1e-4


@test_next_token_loss.right
def cut_off(implementation):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 5, 6, generator=generator, dtype=torch.float64)
    tokens = torch.tensor([[0, 1, 2, 3, 4], [2, 0, 5, 5, 5]])
    logs = [logits[0, :4].log_softmax(-1), logits[1, :1].log_softmax(-1)]
    kept = [logs[0][torch.arange(4), tokens[0, 1:]], logs[1][[0], tokens[1, 1:2]]]
    np.testing.assert_allclose(implementation(logits, tokens, 5), -torch.cat(kept).mean(), 1e-6)


@test_next_token_loss.right
def by_properties(implementation):
    torch.manual_seed(2)
    logits, tokens = torch.randn(2, 5, 7), torch.tensor([[1, 0, 3, 4, 2], [0, 2, 1, 6, 6]])
    loss = implementation(logits, tokens, 6)
    right = [logits[0, i].log_softmax(0)[t] for i, t in enumerate((0, 3, 4, 2))]
    right += [logits[1, i].log_softmax(0)[t] for i, t in enumerate((2, 1))]
    if not torch.isclose(loss, -torch.stack(right).mean(), rtol=1e-4):
        raise AssertionError("not the mean over the six tokens that are foretold")
    noise = logits.clone()
    noise[:, 4], noise[1, 2:] = 9 * torch.randn(2, 7), 9 * torch.randn(3, 7)
    if not torch.isclose(implementation(noise, tokens, 6), loss, rtol=1e-4):
        raise AssertionError("logits about no token should not count")


@test_next_token_loss.right
def plain(implementation):
    torch.manual_seed(0)
    pad = 8
    logits, tokens = torch.randn(3, 6, 9), torch.randint(1, 8, (3, 6))
    tokens[0, 4:] = tokens[1, 3:] = pad
    targets = tokens[:, 1:].flatten()
    right = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets, ignore_index=pad)
    assert torch.isclose(implementation(logits, tokens, pad), right, rtol=1e-4)


@test_next_token_loss.wrong(
    "only that it falls",
    "In this chapter every wrong loss falls too. Which number can you work out beforehand?",
)
def _(implementation):
    tokens = torch.tensor([[1, 2, 1, 2], [3, 1, 3, 1]])
    flat, sure = torch.zeros(2, 4, 5), torch.zeros(2, 4, 5)
    sure[:, :-1] = 4.0 * F.one_hot(tokens[:, 1:], 5)
    assert implementation(sure, tokens, 4) < implementation(flat, tokens, 4)


test_next_token_loss.wrong(
    "no padding",
    "If no sequence has padding, how would you notice that padding is counted?",
    plain.edit("tokens[0, 4:] = tokens[1, 3:] = pad", ""),
)
test_next_token_loss.wrong(
    "the padding is 0",
    "What could a program get wrong about `pad` if `pad` is always 0?",
    plain.edit("pad = 8", "pad = 0"),
)
test_next_token_loss.wrong(
    "sequences of equal length",
    "When does it matter whether every sequence has the same weight, or every token?",
    plain.edit("tokens[0, 4:] = tokens[1, 3:] = pad", "tokens[:, 4:] = pad"),
)


@test_next_token_loss.wrong(
    "a model that knows nothing",
    "With equal logits all targets have the same loss. How would you notice which ones are scored?",
)
def _(implementation):
    tokens = torch.tensor([[1, 2, 3, 1, 0], [2, 1, 4, 4, 4]])
    loss = implementation(torch.zeros(2, 5, 6), tokens, 4)
    assert torch.isclose(loss, torch.log(torch.tensor(6.0)), rtol=1e-4)


@test_next_token_loss.accepts(
    "cross_entropy that ignores the padding",
    holds=("It is called `implementation(logits, tokens, pad)`",),
)
def ignoring_index(logits, tokens, pad):
    targets = tokens[:, 1:]
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=pad)


@test_next_token_loss.accepts("logarithms, gathered", holds=("right to four digits",))
def by_gather(logits, tokens, pad):
    logs = logits.log_softmax(dim=-1)[:, :-1]
    picked = logs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    real = tokens[:, 1:] != pad
    return -(picked * real).sum() / real.sum()


@test_next_token_loss.accepts("token by token")
def token_by_token(logits, tokens, pad):
    losses = [
        torch.logsumexp(logits[row, at - 1], 0) - logits[row, at - 1, tokens[row, at]]
        for row in range(len(tokens))
        for at in range(1, tokens.shape[1])
        if tokens[row, at] != pad
    ]
    return torch.stack(losses).mean()


@test_next_token_loss.accepts("targets rolled by one")
def rolled(logits, tokens, pad):
    targets = torch.roll(tokens, -1, dims=1)
    targets[:, -1] = pad
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    real = targets != pad
    return losses[real].mean()


@test_next_token_loss.accepts("each sequence's mean, times its share of the tokens")
def by_shares(logits, tokens, pad):
    logs = logits[:, :-1] - logits[:, :-1].logsumexp(dim=-1, keepdim=True)
    real = tokens[:, 1:] != pad
    losses = -logs.gather(-1, tokens[:, 1:, None])[..., 0] * real
    means = losses.sum(dim=1) / real.sum(dim=1)
    return (means * real.sum(dim=1) / real.sum()).sum()


@test_next_token_loss.rejects(
    "not shifted: each token is scored by itself",
    holds=("those at position i are about the token at position i + 1",),
)
def _(logits, tokens, pad):
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), ignore_index=pad)


@test_next_token_loss.rejects("shifted the other way", holds=("those at…",))
def _(logits, tokens, pad):
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten(), ignore_index=pad)


@test_next_token_loss.rejects("the padding is counted", holds=("which the loss does not count",))
def _(logits, tokens, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


@test_next_token_loss.rejects(
    "divided by all positions, padding too",
    holds=("the mean cross-entropy of all real tokens but the first of each sequence",),
)
def _(logits, tokens, pad):
    total = F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )
    return total / tokens[:, 1:].numel()


@test_next_token_loss.rejects("a mean of each sequence's mean", holds=("the mean…",))
def _(logits, tokens, pad):
    means = [
        F.cross_entropy(own[:-1], row[1:], ignore_index=pad)
        for own, row in zip(logits, tokens, strict=True)
    ]
    return torch.stack(means).mean()


test_next_token_loss.rejects(
    "the padding is taken to be 0, whatever `pad` says",
    ignoring_index.edit("ignore_index=pad", "ignore_index=0"),
    holds=("which the…",),
)


test_next_token_loss.rejects(
    "labels smoothed by a hundredth",
    ignoring_index.edit("ignore_index=pad", "ignore_index=pad, label_smoothing=0.01"),
    holds=("the mean…",),
)


@test_next_token_loss.rejects("shifted twice", shown=False, holds=("tokens: (batch, n)",))
def _(logits, tokens, pad):
    return F.cross_entropy(logits[:, :-2].flatten(0, 1), tokens[:, 2:].flatten(), ignore_index=pad)


@test_next_token_loss.rejects("never divided", shown=False)
def _(logits, tokens, pad):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )


@test_next_token_loss.rejects("no logarithm", shown=False, holds=("Raises AssertionError",))
def _(logits, tokens, pad):
    shares = logits.softmax(dim=-1)[:, :-1].gather(-1, tokens[:, 1:, None]).squeeze(-1)
    real = tokens[:, 1:] != pad
    return ((1 - shares) * real).sum() / real.sum()


@test_next_token_loss.rejects("a softmax of a softmax", shown=False)
def _(logits, tokens, pad):
    shares = logits.softmax(dim=-1)[:, :-1]
    return F.cross_entropy(shares.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad)


@test_next_token_loss.rejects("the last real token is not scored", shown=False)
def _(logits, tokens, pad):
    targets = tokens[:, 1:].clone()
    ends = (tokens[:, 1:] != pad) & (torch.roll(tokens, -2, 1)[:, :-1] == pad)
    targets[ends] = pad
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=pad)
