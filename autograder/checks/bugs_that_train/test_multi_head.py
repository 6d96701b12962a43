"""The exercise `test_multi_head`: write the test that finds what is wrong with the heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions.variants import tests_of_bugs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_multi_head_implementations import PUBLIC, STYLES, UNSEEN


def heads_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def heads_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_multi_head__ready_made(implementation):
    torch.manual_seed(0)
    X, weights = torch.randn(3, 4, 8), torch.randn(4, 8, 8)
    Q, K, V = ((X @ W).unflatten(-1, (4, 2)).transpose(1, 2) for W in weights[:3])
    right = F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2) @ weights[3]
    assert torch.allclose(implementation(X, *weights, 4), right, rtol=1e-3, atol=1e-3)


def test_multi_head__plain_numbers(implementation):
    generator = np.random.default_rng(0)
    X, weights = generator.normal(size=(2, 3, 4)), generator.normal(size=(4, 4, 4))
    given = [torch.tensor(one) for one in (X, *weights)]
    output = implementation(*given, 2).numpy()
    for sequence, mine in zip(X, output, strict=True):
        Q, K, V = (sequence @ W for W in weights[:3])
        for i in range(3):
            found = []
            for first in (0, 2):
                own = slice(first, first + 2)
                shares = np.exp(K[:, own] @ Q[i, own] / np.sqrt(2))
                found += list(shares @ V[:, own] / shares.sum())
            np.testing.assert_allclose(mine[i], np.array(found) @ weights[3], rtol=1e-5)


def test_multi_head__torch_layer(implementation):
    torch.manual_seed(1)
    layer = torch.nn.MultiheadAttention(6, 3, bias=False, batch_first=True).double().eval()
    X = 2 * torch.randn(2, 5, 6, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.normal_()
        W_q, W_k, W_v = (W.T.contiguous() for W in layer.in_proj_weight.chunk(3))
        right, _ = layer(X, X, X)
        mine = implementation(X, W_q, W_k, W_v, layer.out_proj.weight.T.contiguous(), 3)
    if (mine - right).abs().max() > 1e-6:
        raise AssertionError("not what torch's layer gives")


def test_multi_head__shape(implementation):
    X, W = torch.randn(2, 5, 6), torch.randn(6, 6)
    assert implementation(X, W, W, W, W, 3).shape == (2, 5, 6)


def test_multi_head__one_head(implementation):
    torch.manual_seed(0)
    X, (W_q, W_k, W_v, W_o) = torch.randn(1, 5, 6), torch.randn(4, 6, 6)
    right = F.scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v) @ W_o
    mine = implementation(X, W_q, W_k, W_v, W_o, 1)
    assert torch.allclose(mine, right, rtol=1e-3, atol=1e-3)


def test_multi_head__one_sequence(implementation):
    torch.manual_seed(0)
    X, weights = torch.randn(1, 4, 8), torch.randn(4, 8, 8)
    Q, K, V = ((X @ W).unflatten(-1, (4, 2)).transpose(1, 2) for W in weights[:3])
    right = F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2) @ weights[3]
    assert torch.allclose(implementation(X, *weights, 4), right, rtol=1e-3, atol=1e-3)


def test_multi_head__one_matrix(implementation):
    torch.manual_seed(0)
    X, W = torch.randn(3, 4, 8), torch.eye(8)
    Q = X.unflatten(-1, (4, 2)).transpose(1, 2)
    right = F.scaled_dot_product_attention(Q, Q, Q).transpose(1, 2).flatten(2)
    assert torch.allclose(implementation(X, W, W, W, W, 4), right, rtol=1e-3, atol=1e-3)


def test_multi_head__equal_scores(implementation):
    torch.manual_seed(0)
    X, (W_v, W_o) = torch.randn(2, 5, 6), torch.randn(2, 6, 6)
    W_k = torch.randn(6, 6)
    right = (X.mean(dim=1, keepdim=True) @ W_v @ W_o).expand(2, 5, 6)
    mine = implementation(X, torch.zeros(6, 6), W_k, W_v, W_o, 3)
    assert torch.allclose(mine, right, rtol=1e-3, atol=1e-3)


def test_multi_head__to_the_last_bit(implementation):
    torch.manual_seed(0)
    X, weights = torch.randn(3, 16, 32), torch.randn(4, 32, 32)
    Q, K, V = ((X @ W).unflatten(-1, (4, 8)).transpose(1, 2) for W in weights[:3])
    weighted = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1) @ V
    right = weighted.transpose(1, 2).flatten(-2) @ weights[3]
    assert torch.equal(implementation(X, *weights, 4), right)


MISCONCEPTIONS = (
    Misconception(
        "only the shape",
        test_multi_head__shape,
        "Every bug of this chapter returns the right shape. What else do you know of the output?",
    ),
    Misconception(
        "one head only",
        test_multi_head__one_head,
        "With one head, what is there to split, to share or to merge?",
    ),
    Misconception(
        "a batch of one",
        test_multi_head__one_sequence,
        "How would you notice that the second sequence is treated like the first?",
    ),
    Misconception(
        "the identity for every matrix",
        test_multi_head__one_matrix,
        "If all projections are the same, how would you notice that one stands in for another?",
    ),
    Misconception(
        "all scores equal",
        test_multi_head__equal_scores,
        "With no queries every softmax is flat. Over which axes would you not tell it apart?",
    ),
    Misconception(
        "equal to the last bit",
        test_multi_head__to_the_last_bit,
        "Do two right programs add in the same order?",
    ),
)

TEST_MULTI_HEAD = Exercise(
    name="test_multi_head",
    points=5,
    difficulty=3,
    minutes=25,
    reference=solutions.test_multi_head,
    cases=heads_cases,
    hidden=heads_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_multi_head__ready_made,
        test_multi_head__plain_numbers,
        test_multi_head__torch_layer,
    ),
    help=(
        "Draw X and four different matrices from a generator with a seed. Work the answer out in "
        "the slowest and plainest way that you trust, head by head, and compare by "
        "`torch.allclose`, with tolerances.",
        "More than one sequence, more than one head, and as many tokens as nothing else: equal "
        "lengths of two axes hide that they were exchanged.",
        "The section “A test is an experiment”, and chapter 6 on splitting and merging heads.",
    ),
    promises=(
        Promise(
            "It is called `implementation(X, W_q, W_k, W_v, W_o, n_heads)`", ("heads as an axis",)
        ),
        Promise("X: (batch, n, d)", ("the first sequence attends for all",)),
        Promise(
            "W_q, W_k, W_v and W_o: (d, d)",
            ("values made with the keys' projection", "queries and keys exchanged"),
        ),
        Promise(
            "n_heads divides d: the first d / n_heads features",
            (
                "features dealt to the heads in turn",
                "one projection for all heads",
                "one wide head",
            ),
        ),
        Promise(
            "divided by the root of d / n_heads",
            ("scores divided by the root of the whole width", "scores never divided"),
        ),
        Promise(
            "side by side in their order, times W_o",
            ("merged without the transpose", "the output projection left out"),
        ),
        Promise("Raises AssertionError", ("a softmax over the queries",)),
        Promise("right to four digits", ("head by head, and added",)),
    ),
    kind=Kind.TEST,
)
