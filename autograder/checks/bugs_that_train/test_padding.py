"""The exercise `test_padding`: write the test that finds what a padded batch does to a sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from solutions.variants import tests_of_bugs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_padding_implementations import PUBLIC, STYLES, UNSEEN


def padding_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def padding_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_padding__in_two_batches(implementation):
    torch.manual_seed(0)
    X = torch.randn(1, 3, 4)
    right = implementation(X, torch.tensor([3]), 2)
    for padding, others in ((1, 6), (4, 5)):
        batch = 3 * torch.randn(3, 3 + padding, 4)
        batch[2, :3] = X[0]
        mine = implementation(batch, torch.tensor([others - 2, 3 + padding, 3]).clamp(max=4), 2)
        assert torch.allclose(mine[2, :3], right[0], atol=1e-4)
        mine = implementation(batch.flip(0), torch.tensor([3, 1, 3 + padding]), 2)
        assert torch.allclose(mine[0, :3], right[0], atol=1e-4)
    for token in range(3):
        other = X.clone()
        other[0, token] -= 0.7
        moved = implementation(other, torch.tensor([3]), 2) - right
        assert moved.abs().amax(dim=-1).min() > 1e-4


def test_padding__all_lengths(implementation):
    generator = torch.Generator().manual_seed(5)
    X = torch.randn(4, 4, 6, generator=generator)
    lengths = torch.tensor([3, 1, 4, 2])
    whole = implementation(X, lengths, 3)
    for at in range(4):
        own = X[at, : lengths[at]][None]
        alone = implementation(own, lengths[at, None], 3)
        np.testing.assert_allclose(whole[at, : lengths[at]], alone[0], atol=1e-4)
        for token in range(int(lengths[at])):
            other = own.clone()
            other[0, token] *= -1
            moved = np.abs(implementation(other, lengths[at, None], 3) - alone).numpy()
            assert moved.max(axis=-1).min() > 1e-4


def test_padding__by_noise(implementation):
    torch.manual_seed(1)
    X, lengths = torch.randn(3, 6, 4), torch.tensor([4, 2, 6])
    real = torch.arange(6) < lengths[:, None]
    before = implementation(X, lengths, 2)
    noise = torch.where(real[..., None], X, 5 * torch.randn(3, 6, 4))
    if not torch.allclose(implementation(noise, lengths, 2)[real], before[real], atol=1e-4):
        raise AssertionError("it reads the padding")
    longer = torch.cat((X, torch.randn(3, 3, 4)), dim=1)
    if not torch.allclose(implementation(longer, lengths, 2)[:, :6][real], before[real], atol=1e-4):
        raise AssertionError("it matters how long the padding is")
    for at in range(3):
        for token in range(int(lengths[at])):
            other = X.clone()
            other[at, token] += 2
            moved = (implementation(other, lengths, 2) - before).abs().amax(-1) > 1e-4
            rows = torch.arange(3)[:, None] == at
            if not torch.equal(moved[real], rows.expand(3, 6)[real]):
                raise AssertionError("it should move its own sequence, and no other")


def test_padding__shape(implementation):
    assert implementation(torch.randn(2, 5, 4), torch.tensor([5, 3]), 2).shape == (2, 5, 4)


def test_padding__one_head(implementation):
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([2, 5, 3])
    together = implementation(X, lengths, 1)
    for at, length in enumerate(lengths.tolist()):
        alone = implementation(X[at : at + 1, :length], lengths[at : at + 1], 1)[0]
        assert torch.allclose(together[at, :length], alone, atol=1e-4)
        for token in range(length):
            other = X[at : at + 1, :length].clone()
            other[0, token] += 1
            moved = (implementation(other, lengths[at : at + 1], 1)[0] - alone).abs().amax(dim=-1)
            assert (moved > 1e-4).all()


def test_padding__equal_lengths(implementation):
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([3, 3, 3])
    together = implementation(X, lengths, 2)
    for at in range(3):
        alone = implementation(X[at : at + 1, :3], lengths[:1], 2)[0]
        assert torch.allclose(together[at, :3], alone, atol=1e-4)
        for token in range(3):
            other = X[at : at + 1, :3].clone()
            other[0, token] += 1
            moved = (implementation(other, lengths[:1], 2)[0] - alone).abs().amax(dim=-1)
            assert (moved > 1e-4).all()


def test_padding__content_only(implementation):
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([2, 5, 3])
    real = torch.arange(5) < lengths[:, None]
    loud = torch.where(real[..., None], X, 9.0)
    right = implementation(X, lengths, 2)[real]
    assert torch.allclose(implementation(loud, lengths, 2)[real], right, atol=1e-4)
    for at, token in ((0, 0), (0, 1), (1, 4), (2, 2)):
        other = X.clone()
        other[at, token] += 1
        changed = implementation(other, lengths, 2) - implementation(X, lengths, 2)
        assert (changed[at, : lengths[at]].abs().amax(dim=-1) > 1e-4).all()


def test_padding__no_padding(implementation):
    X = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([4, 4])
    before = implementation(X, lengths, 2)
    for token in range(4):
        other = X.clone()
        other[0, token] += 1
        moved = (implementation(other, lengths, 2) - before).abs().amax(dim=-1) > 1e-4
        assert moved[0].all()
        assert not moved[1].any()


def test_padding__rows_of_zeros(implementation):
    X = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    output = implementation(X, torch.tensor([4, 2]), 2)
    alone = implementation(X[1:, :2], torch.tensor([2]), 2)
    assert torch.allclose(output[1, :2], alone[0], atol=1e-4)
    assert not output[1, 2:].any()


MISCONCEPTIONS = (
    Misconception(
        "only the shape",
        test_padding__shape,
        "What does the output of a padded sequence depend on, and on what should it not?",
    ),
    Misconception(
        "one head only",
        test_padding__one_head,
        "In which order do sequences and heads stand where both are one axis?",
    ),
    Misconception(
        "sequences of equal length",
        test_padding__equal_lengths,
        "If all sequences need the same mask, how would you notice that one got another's?",
    ),
    Misconception(
        "what the padding holds, not how long it is",
        test_padding__content_only,
        "Padding that is 0 takes part in a softmax. What would show that?",
    ),
    Misconception(
        "no padding",
        test_padding__no_padding,
        "How would you notice that the lengths are never read?",
    ),
    Misconception(
        "zeros demanded in the padding",
        test_padding__rows_of_zeros,
        "What does the task say about the rows of the padding?",
    ),
)

TEST_PADDING = Exercise(
    name="test_padding",
    points=5,
    difficulty=5,
    minutes=30,
    reference=solutions.test_padding,
    cases=padding_cases,
    hidden=padding_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_padding__in_two_batches,
        test_padding__all_lengths,
        test_padding__by_noise,
    ),
    help=(
        "You do not know what the encoder makes of a sequence, but you can ask it: alone, without "
        "padding. In a batch it should make the same of it.",
        "Three sequences of three lengths, two heads, and noise for the padding. Then change one "
        "real token at a time, to see that it is read.",
        "The section “Change one thing, and see what moves”, and chapter 6 on folded heads.",
    ),
    promises=(
        Promise("It is called `implementation(X, lengths, n_heads)`", ("heads as an axis",)),
        Promise("X: (batch, n, d)", ("the mask is ignored",)),
        Promise(
            "whole numbers from 1 to n: so many tokens of each sequence are real, and come first",
            ("the longest sequence's mask for all", "one position of the padding is seen"),
        ),
        Promise(
            "behind them stand any numbers, up to a thousand in size",
            ("the mask is ignored", "exponentials of the real scores"),
        ),
        Promise(
            "The least influence: with at most 8 tokens of at most 8 features",
            ("heads as an axis", "no token reads another"),
        ),
        Promise("n_heads: 1 or more", ("masks in another order than the heads",)),
        Promise("tensor of shape (batch, n, d)", ("heads as an axis",)),
        Promise(
            "that depends on every real token of it, and on nothing else",
            ("the last real token is hidden too", "the padding is set to 0, and attended to"),
        ),
        Promise(
            "What stands in the rows of the padding does not matter",
            ("one sequence at a time, and zeros for the padding",),
        ),
        Promise("has two layers", ("the mask is not passed on to the second layer",)),
        Promise("Raises AssertionError", ("no token reads another",)),
        Promise("may differ in the fifth digit", ("exponentials of the real scores",)),
    ),
    kind=Kind.TEST,
)
