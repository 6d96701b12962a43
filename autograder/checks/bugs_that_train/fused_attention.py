"""The exercise `fused_attention`: one matrix for queries, keys and values. To debug."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions.variants import mended as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise, Tensor


def fused_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two heads of one feature", _inputs(rng, 1, 3, 2, 2))
    yield Case("two heads of two features", _inputs(rng, 2, 3, 4, 2))
    yield Case("the same sizes, other numbers", _inputs(rng, 2, 3, 4, 2))
    yield Case("three heads", _inputs(rng, 2, 4, 6, 3))
    yield Case("as many heads as features", _inputs(rng, 1, 5, 4, 4))
    yield Case("one head", _inputs(rng, 2, 3, 3, 1))
    yield Case("one token", _inputs(rng, 2, 1, 4, 2))
    yield Case("float32", _inputs(rng, 2, 3, 6, 2, np.float32))
    yield Case("one tiny feature", _inputs(rng, 2, 3, 1, 1, size=1e-9))


def fused_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head, n = (int(one) for one in rng.permutation([2, 3, 4]))
    yield Case("other sizes", _inputs(rng, 2, n, n_heads * d_head, n_heads))
    yield Case("two heads", _inputs(rng, 3, n, 2 * d_head, 2))
    yield Case("three heads", _inputs(rng, 1, n + 1, 3 * d_head, 3))
    yield Case("as many heads as features", _inputs(rng, 2, n, n_heads, n_heads))
    yield Case("one head", _inputs(rng, 2, n, d_head, 1))
    yield Case("float32", _inputs(rng, 2, n, 6, 3, np.float32))


def _inputs(
    rng: np.random.Generator,
    batch: int,
    n: int,
    d: int,
    n_heads: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[Tensor | int, ...]:
    """X of that size, the matrix and n_heads."""
    X, W = size * rng.normal(size=(batch, n, d)), rng.normal(size=(d, 3 * d))
    return Tensor(X.astype(dtype)), Tensor(W.astype(dtype)), n_heads


def fused__three_blocks(X, W_qkv, n_heads):
    Q, K, V = (
        one.unflatten(-1, (n_heads, -1)).transpose(1, 2) for one in (X @ W_qkv).chunk(3, dim=-1)
    )
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def fused__in_turn(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, -1, 3))
    Q, K, V = fused.permute(4, 0, 2, 1, 3)
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def fused__values_before_keys(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))
    Q, V, K = fused.permute(3, 0, 2, 1, 4)
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def fused__keys_before_queries(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))
    K, Q, V = fused.permute(3, 0, 2, 1, 4)
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def fused__merged_without_transpose(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))
    Q, K, V = fused.permute(3, 0, 2, 1, 4)
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).reshape(X.shape)


def fused__divided_by_the_whole_width(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))
    Q, K, V = fused.permute(3, 0, 2, 1, 4)
    weights = (Q @ K.transpose(-2, -1) / X.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def fused__head_by_head(X, W_qkv, n_heads):
    d_head = X.shape[-1] // n_heads
    found = []
    for columns in W_qkv.split(3 * d_head, dim=1):
        Q, K, V = (X @ W for W in columns.split(d_head, dim=1))
        scores = torch.einsum("bqc,bkc->bqk", Q, K) * d_head**-0.5
        found.append(torch.einsum("bqk,bkc->bqc", scores.softmax(-1), V))
    return torch.cat(found, dim=-1)


def fused__ready_made(X, W_qkv, n_heads):
    batch, n, d = X.shape
    Q, K, V = (X @ W_qkv).view(batch, n, n_heads, 3, d // n_heads).transpose(1, 2).unbind(3)
    return F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).reshape(batch, n, d)


def fused__columns_sorted(X, W_qkv, n_heads):
    d = X.shape[-1]
    order = torch.arange(3 * d).reshape(n_heads, 3, -1).transpose(0, 1).flatten()
    Q, K, V = (
        one.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for one in (X @ W_qkv[:, order]).chunk(3, dim=-1)
    )
    weights = torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


FUSED_ATTENTION = Exercise(
    name="fused_attention",
    points=4,
    difficulty=4,
    minutes=20,
    reference=solutions.fused_attention,
    cases=fused_cases,
    hidden=fused_hidden,
    misconceptions=(
        Misconception(
            "three blocks: all queries, all keys, all values",
            fused__three_blocks,
            "Number the columns of W_qkv from 0 to 11, for two heads of two features. Which of "
            "them make the keys of the first head?",
        ),
        Misconception(
            "dealt out in turn",
            fused__in_turn,
            "How many columns of the queries stand side by side?",
        ),
        Misconception(
            "values before keys",
            fused__values_before_keys,
            "What does the docstring name second?",
        ),
        Misconception(
            "keys before queries",
            fused__keys_before_queries,
            "Who asks, and over whom does the softmax run?",
        ),
        Misconception(
            "merged without the transpose",
            fused__merged_without_transpose,
            "What stands side by side in the memory before the heads are merged?",
        ),
        Misconception(
            "divided by the root of the whole width",
            fused__divided_by_the_whole_width,
            "Over how many features does a dot product of one head run?",
        ),
    ),
    alternatives=(fused__head_by_head, fused__ready_made, fused__columns_sorted),
    help=(
        "The attention itself is right. Follow the columns of W_qkv, for two heads of two features "
        "each, to where they end up.",
        "One axis of 3 d has to become three: heads, the three roles, and features. In which order "
        "do they stand?",
        "Chapter 6 on fused projections, and here the section “Where the loss does not look”.",
    ),
    promises=(
        Promise("n at least 1. n_heads divides d.", ("one token", "as many heads as features")),
        Promise("W_qkv: (d, 3 d), multiplied from the right", ("one head", "one tiny feature")),
        Promise(
            "Its columns are those of the first head, then those of the second, and so on; and of "
            "each head first the d / n_heads columns of its queries",
            ("two heads of two features", "three heads"),
        ),
        Promise("Every token attends to every token", ("two heads of one feature",)),
        Promise("Scores are divided by the root of d / n_heads", ("three heads",)),
        Promise("side by side in their order", ("three heads",)),
    ),
    kind=Kind.DEBUG,
    released=fused__three_blocks,
)
