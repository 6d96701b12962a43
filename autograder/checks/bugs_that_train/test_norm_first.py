"""The exercise `test_norm_first`: write the test that finds a norm that stands wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions.variants import tests_of_bugs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_norm_first_implementations import PUBLIC, STYLES, UNSEEN


def norm_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def norm_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_norm_first__module(implementation):
    torch.manual_seed(0)
    X, W_1, W_2 = 5 + 2 * torch.randn(2, 3, 4), torch.randn(4, 6), torch.randn(6, 4)
    right = X + torch.relu(torch.nn.LayerNorm(4)(X).detach() @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3, atol=1e-2)


def test_norm_first__numbers(implementation):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(3, 2, 5)) * 3 - 4
    W_1, W_2 = generator.normal(size=(5, 3)), generator.normal(size=(3, 5))
    mine = implementation(*(torch.tensor(one) for one in (X, W_1, W_2))).numpy()
    normed = (X - X.mean(-1, keepdims=True)) / X.std(-1, keepdims=True)
    right = X + np.maximum(normed @ W_1, 0) @ W_2
    np.testing.assert_allclose(mine, right, rtol=1e-3, atol=1e-3)


def test_norm_first__by_properties(implementation):
    torch.manual_seed(2)
    X, W_1, W_2 = 3 * torch.randn(2, 4, 3), torch.randn(3, 5), torch.randn(5, 3)
    update = implementation(X, W_1, W_2) - X
    wanted = F.relu(F.layer_norm(X[1, 2], (3,)) @ W_1) @ W_2
    if not torch.allclose(update[1, 2], wanted, rtol=1e-3, atol=1e-3):
        raise AssertionError("one token's update is wrong")
    moved = implementation(4 * X - 20, W_1, W_2) - (4 * X - 20)
    if not torch.allclose(moved, update, rtol=1e-3, atol=1e-3):
        raise AssertionError("scaled and shifted tokens should get the same update")
    if not torch.equal(implementation(X, W_1, 0 * W_2), X):
        raise AssertionError("nothing to add should leave the tokens alone")


def test_norm_first__shape(implementation):
    X, W_1, W_2 = torch.randn(2, 4, 3), torch.randn(3, 5), torch.randn(5, 3)
    assert implementation(X, W_1, W_2).shape == X.shape


def test_norm_first__nothing_added(implementation):
    X = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(implementation(X, torch.zeros(3, 5), torch.zeros(5, 3)), X)


def test_norm_first__normal_tokens(implementation):
    X = torch.tensor([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
    W_1, W_2 = torch.tensor([[1.0, 0.0, -2.0], [0.0, 3.0, 1.0]]), torch.eye(3)[:, :2] * 7
    right = X + F.relu(X @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)


def test_norm_first__centred_tokens(implementation):
    X = torch.tensor([[[-2.0, 2.0], [1.0, -1.0]], [[3.0, -3.0], [-1.0, 1.0]]])
    W_1, W_2 = torch.tensor([[1.0, 0.0, -2.0], [0.0, 3.0, 1.0]]), torch.eye(3)[:, :2] * 7
    right = X + F.relu(X.sign() @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)


def test_norm_first__roughly(implementation):
    torch.manual_seed(0)
    X, W_1, W_2 = 5 + 2 * torch.randn(2, 3, 8), torch.randn(8, 6), torch.randn(6, 8)
    right = X + F.relu(F.layer_norm(X, (8,)) @ W_1) @ W_2
    assert (implementation(X, W_1, W_2) - right).abs().mean() < 0.1 * right.abs().mean()


def test_norm_first__to_the_last_bit(implementation):
    torch.manual_seed(0)
    X, W_1, W_2 = 5 + 2 * torch.randn(2, 3, 8), torch.randn(8, 6), torch.randn(6, 8)
    right = X + F.relu(F.layer_norm(X, (8,)) @ W_1) @ W_2
    assert torch.equal(implementation(X, W_1, W_2), right)


MISCONCEPTIONS = (
    Misconception(
        "only the shape",
        test_norm_first__shape,
        "What does the sublayer do to a token of which you know every number?",
    ),
    Misconception(
        "nothing is added",
        test_norm_first__nothing_added,
        "With weights of 0, what do you learn of the path through the norm?",
    ),
    Misconception(
        "tokens that are normal already",
        test_norm_first__normal_tokens,
        "What does a norm do with tokens of mean 0 and variance 1?",
    ),
    Misconception(
        "tokens whose mean is 0",
        test_norm_first__centred_tokens,
        "How would you notice that the mean is not taken off?",
    ),
    Misconception(
        "a tolerance of ten per cent",
        test_norm_first__roughly,
        "By how much does dividing by d - 1 change a token of d features?",
    ),
    Misconception(
        "equal to the last bit",
        test_norm_first__to_the_last_bit,
        "What do the task's words say about epsilon?",
    ),
)

TEST_NORM_FIRST = Exercise(
    name="test_norm_first",
    points=4,
    difficulty=2,
    minutes=20,
    reference=solutions.test_norm_first,
    cases=norm_cases,
    hidden=norm_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_norm_first__module,
        test_norm_first__numbers,
        test_norm_first__by_properties,
    ),
    help=(
        "A token of two features, normalised, is (1, -1) or (-1, 1). So you can work the answer "
        "out by hand, token by token, and compare with a tolerance of three digits.",
        "Several tokens, of different means and sizes, in two sequences. Weights that leave "
        "something for the ReLU to cut.",
        "Chapter 8 on where the norm stands, and this chapter's table of bugs.",
    ),
    promises=(
        Promise("It is called `implementation(X, W_1, W_2)`", ("torch's layer_norm",)),
        Promise("d at least 2", ("a norm over the tokens of a sequence",)),
        Promise("W_1: (d, d_ff). W_2: (d_ff, d).", ("no ReLU",)),
        Promise(
            "Each token is normalised on its own: its mean is taken off",
            ("a norm over all numbers of a sequence", "the mean not taken off"),
        ),
        Promise(
            "divided by the root of the mean of its squared deviations",
            ("the variance divided by one less", "divided by the variance, not by its root"),
        ),
        Promise(
            "That goes through W_1, a ReLU and W_2, and what comes out is added",
            ("no residual", "the norm on the residual path too", "the ReLU at the end"),
        ),
        Promise("return the sums, in the shape of X", ("the norm after the sum",)),
        Promise("There is no scale, no shift, no bias", ("no norm",)),
        Promise("A small epsilon", ("mean and variance, a smaller epsilon",)),
        Promise("Raises AssertionError", ("no norm",)),
        Promise("right to three digits", ("token by token",)),
    ),
    kind=Kind.TEST,
)
