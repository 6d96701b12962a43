"""The exercise `test_next_token_loss`: write the test that finds what a loss does not count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions.variants import tests_of_bugs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_next_token_loss_implementations import PUBLIC, STYLES, UNSEEN


def loss_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def loss_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_next_token_loss__sum_by_hand(implementation):
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


def test_next_token_loss__cut_off(implementation):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 5, 6, generator=generator, dtype=torch.float64)
    tokens = torch.tensor([[0, 1, 2, 3, 4], [2, 0, 5, 5, 5]])
    logs = [logits[0, :4].log_softmax(-1), logits[1, :1].log_softmax(-1)]
    kept = [logs[0][torch.arange(4), tokens[0, 1:]], logs[1][[0], tokens[1, 1:2]]]
    np.testing.assert_allclose(implementation(logits, tokens, 5), -torch.cat(kept).mean(), 1e-6)


def test_next_token_loss__by_properties(implementation):
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


def test_next_token_loss__falls(implementation):
    tokens = torch.tensor([[1, 2, 1, 2], [3, 1, 3, 1]])
    flat, sure = torch.zeros(2, 4, 5), torch.zeros(2, 4, 5)
    sure[:, :-1] = 4.0 * F.one_hot(tokens[:, 1:], 5)
    assert implementation(sure, tokens, 4) < implementation(flat, tokens, 4)


def test_next_token_loss__no_padding(implementation):
    torch.manual_seed(0)
    logits, tokens = torch.randn(3, 6, 9), torch.randint(1, 8, (3, 6))
    right = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    assert torch.isclose(implementation(logits, tokens, 8), right, rtol=1e-4)


def test_next_token_loss__zero_pads(implementation):
    torch.manual_seed(0)
    logits, tokens = torch.randn(3, 6, 9), torch.randint(1, 8, (3, 6))
    tokens[0, 4:] = tokens[1, 3:] = 0
    targets = tokens[:, 1:].flatten()
    right = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets, ignore_index=0)
    assert torch.isclose(implementation(logits, tokens, 0), right, rtol=1e-4)


def test_next_token_loss__equal_lengths(implementation):
    torch.manual_seed(0)
    logits, tokens = torch.randn(3, 6, 9), torch.randint(0, 7, (3, 6))
    tokens[:, 4:] = 8
    targets = tokens[:, 1:].flatten()
    right = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets, ignore_index=8)
    assert torch.isclose(implementation(logits, tokens, 8), right, rtol=1e-4)


def test_next_token_loss__flat(implementation):
    tokens = torch.tensor([[1, 2, 3, 1, 0], [2, 1, 4, 4, 4]])
    loss = implementation(torch.zeros(2, 5, 6), tokens, 4)
    assert torch.isclose(loss, torch.log(torch.tensor(6.0)), rtol=1e-4)


MISCONCEPTIONS = (
    Misconception(
        "only that it falls",
        test_next_token_loss__falls,
        "In this chapter every wrong loss falls too. Which number do you know beforehand?",
    ),
    Misconception(
        "no padding",
        test_next_token_loss__no_padding,
        "If nothing is padded, how would you notice that padding is counted?",
    ),
    Misconception(
        "the padding is 0",
        test_next_token_loss__zero_pads,
        "Which line of a program could go unread if `pad` is always the same number?",
    ),
    Misconception(
        "sequences of equal length",
        test_next_token_loss__equal_lengths,
        "When does it matter whether every sequence counts the same, or every token?",
    ),
    Misconception(
        "a model that knows nothing",
        test_next_token_loss__flat,
        "With flat logits all targets cost the same. How would you notice which ones are scored?",
    ),
)

TEST_NEXT_TOKEN_LOSS = Exercise(
    name="test_next_token_loss",
    points=4,
    difficulty=2,
    minutes=20,
    reference=solutions.test_next_token_loss,
    cases=loss_cases,
    hidden=loss_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_next_token_loss__sum_by_hand,
        test_next_token_loss__cut_off,
        test_next_token_loss__by_properties,
    ),
    help=(
        "Two short sequences of different lengths, the shorter one filled up. Work the loss out "
        "token by token, in a loop that you trust, and compare with a tolerance.",
        "The padding should not be 0, since 0 is the number that a careless line takes for it; and "
        "0 should be a real token somewhere. Logits should be different at every position.",
        "The section “Where the loss looks”, and chapter 9 on shifted targets.",
    ),
    promises=(
        Promise(
            "It is called `implementation(logits, tokens, pad)`",
            ("cross_entropy that ignores the padding",),
        ),
        Promise(
            "those at position i are about the token at position i + 1",
            ("not shifted: each token is scored by itself", "shifted the other way"),
        ),
        Promise("tokens: (batch, n)", ("shifted twice",)),
        Promise(
            "which the loss does not count",
            ("the padding is counted", "the padding is taken to be 0, whatever `pad` says"),
        ),
        Promise(
            "the mean cross-entropy of all real tokens but the first of each sequence",
            ("a mean of each sequence's mean", "divided by all positions, padding too"),
        ),
        Promise("Raises AssertionError", ("no logarithm",)),
        Promise("right to four digits", ("logarithms, gathered",)),
    ),
    kind=Kind.TEST,
)
