"""The exercise `fused_attention`: one matrix for queries, keys and values. To debug."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import mended as solutions

fused_attention = Declaration(
    solutions.fused_attention,
    points=4,
    difficulty=4,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "The attention itself is right. Follow the columns of W_qkv, for two heads of two features "
        "each, to where they end up.",
        "One axis of 3 d has to become three: heads, the three roles, and features. In which "
        "order do they come?",
        "Chapter 6 on fused projections, and here the section “Where the loss does not look”.",
    ),
)


@fused_attention.right
def head_by_head(X, W_qkv, n_heads):
    d_head = X.shape[-1] // n_heads
    found = []
    for columns in W_qkv.split(3 * d_head, dim=1):
        Q, K, V = (X @ W for W in columns.split(d_head, dim=1))
        scores = torch.einsum("bqc,bkc->bqk", Q, K) * d_head**-0.5
        found.append(torch.einsum("bqk,bkc->bqc", scores.softmax(-1), V))
    return torch.cat(found, dim=-1)


@fused_attention.right
def ready_made(X, W_qkv, n_heads):
    batch, n, d = X.shape
    Q, K, V = (X @ W_qkv).view(batch, n, n_heads, 3, d // n_heads).transpose(1, 2).unbind(3)
    return F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).reshape(batch, n, d)


@fused_attention.right
def columns_sorted(X, W_qkv, n_heads):
    d = X.shape[-1]
    order = torch.arange(3 * d).reshape(n_heads, 3, -1).transpose(0, 1).flatten()
    Q, K, V = (
        one.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for one in (X @ W_qkv[:, order]).chunk(3, dim=-1)
    )
    weights = torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


@fused_attention.right
def plain(X, W_qkv, n_heads):
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))
    Q, K, V = fused.permute(3, 0, 2, 1, 4)
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


@fused_attention.wrong(
    "three blocks: all queries, all keys, all values",
    "Number the columns of W_qkv from 0 to 11, for two heads of two features. Which of them make "
    "the keys of the first head?",
    released=True,
)
def _(X, W_qkv, n_heads):
    Q, K, V = (
        one.unflatten(-1, (n_heads, -1)).transpose(1, 2) for one in (X @ W_qkv).chunk(3, dim=-1)
    )
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


fused_attention.wrong(
    "dealt out in turn",
    "How many query columns are side by side?",
    plain.edit("(n_heads, 3, -1)", "(n_heads, -1, 3)").edit(
        "fused.permute(3, 0, 2, 1, 4)", "fused.permute(4, 0, 2, 1, 3)"
    ),
)
fused_attention.wrong(
    "values before keys", "What does the docstring name second?", plain.edit("Q, K, V", "Q, V, K")
)
fused_attention.wrong(
    "keys before queries",
    "Do the rows of your scores belong to queries or to keys? Which of the two should the "
    "softmax run over?",
    plain.edit("Q, K, V", "K, Q, V"),
)
fused_attention.wrong(
    "merged without the transpose",
    "Which numbers are side by side in memory before the heads are merged?",
    plain.edit("(weights @ V).transpose(1, 2).flatten(-2)", "(weights @ V).reshape(X.shape)"),
)
fused_attention.wrong(
    "divided by the root of the whole width",
    "How many features does a dot product of one head sum over?",
    plain.edit("Q.shape", "X.shape"),
)


@fused_attention.public
def _(rng):
    yield Case("two heads of one feature", _inputs(rng, 1, 3, 2, 2)).holds(
        "Every token attends to every token"
    )
    yield Case("two heads of two features", _inputs(rng, 2, 3, 4, 2)).holds(
        "Its columns are those of the first head, then those of the second, and so on; and of "
        "each head first the d / n_heads columns of its queries"
    )
    yield Case("the same sizes, other numbers", _inputs(rng, 2, 3, 4, 2))
    yield Case("three heads", _inputs(rng, 2, 4, 6, 3)).holds(
        "Its columns…",
        "Scores are divided by the root of d / n_heads",
        "side by side in their order",
    )
    yield Case("as many heads as features", _inputs(rng, 1, 5, 4, 4)).holds(
        "n at least 1. n_heads divides d."
    )
    yield Case("one head", _inputs(rng, 2, 3, 3, 1)).holds(
        "W_qkv: (d, 3 d), multiplied from the right"
    )
    yield Case("one token", _inputs(rng, 2, 1, 4, 2)).holds("n at least…")
    yield Case("float32", _inputs(rng, 2, 3, 6, 2, np.float32))
    yield Case("one tiny feature", _inputs(rng, 2, 3, 1, 1, size=1e-9)).holds("W_qkv: (d…")


@fused_attention.hidden
def _(rng):
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
