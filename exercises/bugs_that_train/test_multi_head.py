"""The exercise `test_multi_head`: write the test that finds what is wrong with the heads.

It tells several heads of attention apart, right ones and mutants. Each stands alone: only its own
lines reach the process in which it runs.
"""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_bugs as solutions

test_multi_head = Declaration(
    solutions.test_multi_head,
    points=5,
    difficulty=3,
    minutes=25,
    kind=Kind.TEST,
    imports=("import torch",),
    help=(
        "Draw X and four different matrices from a generator with a seed. Work the answer out in "
        "the slowest and plainest way that you trust, head by head, and compare with "
        "`torch.allclose` and a tolerance.",
        "Use more than one sequence and more than one head, and a number of tokens that no other "
        "axis has: if two axes have the same length, you cannot see that they were exchanged.",
        "The section “A test is an experiment”, and chapter 6 on splitting and merging heads.",
    ),
)


@test_multi_head.right
def ready_made(implementation):
    torch.manual_seed(0)
    X, weights = torch.randn(3, 4, 8), torch.randn(4, 8, 8)
    Q, K, V = ((X @ W).unflatten(-1, (4, 2)).transpose(1, 2) for W in weights[:3])
    right = F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2) @ weights[3]
    assert torch.allclose(implementation(X, *weights, 4), right, rtol=1e-3, atol=1e-3)


@test_multi_head.right
def plain_numbers(implementation):
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


@test_multi_head.right
def torch_layer(implementation):
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


@test_multi_head.wrong(
    "one head only", "With one head, what is there to split, to share or to merge?"
)
def _(implementation):
    torch.manual_seed(0)
    X, (W_q, W_k, W_v, W_o) = torch.randn(1, 5, 6), torch.randn(4, 6, 6)
    right = F.scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v) @ W_o
    mine = implementation(X, W_q, W_k, W_v, W_o, 1)
    assert torch.allclose(mine, right, rtol=1e-3, atol=1e-3)


test_multi_head.wrong(
    "a batch of one",
    "How would you notice if the second sequence were treated like the first?",
    ready_made.edit("torch.randn(3, 4, 8)", "torch.randn(1, 4, 8)"),
)


@test_multi_head.wrong(
    "the identity for every matrix",
    "If all projections are the same, how would you notice that one is used in place of another?",
)
def _(implementation):
    torch.manual_seed(0)
    X, W = torch.randn(3, 4, 8), torch.eye(8)
    Q = X.unflatten(-1, (4, 2)).transpose(1, 2)
    right = F.scaled_dot_product_attention(Q, Q, Q).transpose(1, 2).flatten(2)
    assert torch.allclose(implementation(X, W, W, W, W, 4), right, rtol=1e-3, atol=1e-3)


@test_multi_head.wrong(
    "all scores equal",
    "If all queries are 0, every softmax is flat. Would you notice if it ran over the wrong axis?",
)
def _(implementation):
    torch.manual_seed(0)
    X, (W_v, W_o) = torch.randn(2, 5, 6), torch.randn(2, 6, 6)
    W_k = torch.randn(6, 6)
    right = (X.mean(dim=1, keepdim=True) @ W_v @ W_o).expand(2, 5, 6)
    mine = implementation(X, torch.zeros(6, 6), W_k, W_v, W_o, 3)
    assert torch.allclose(mine, right, rtol=1e-3, atol=1e-3)


@test_multi_head.wrong(
    "equal to the last bit", "Do two right programs add their numbers in the same order?"
)
def _(implementation):
    torch.manual_seed(0)
    X, weights = torch.randn(3, 16, 32), torch.randn(4, 32, 32)
    Q, K, V = ((X @ W).unflatten(-1, (4, 8)).transpose(1, 2) for W in weights[:3])
    weighted = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1) @ V
    right = weighted.transpose(1, 2).flatten(-2) @ weights[3]
    assert torch.equal(implementation(X, *weights, 4), right)


@test_multi_head.accepts(
    "heads as an axis", holds=("It is called `implementation(X, W_q, W_k, W_v, W_o, n_heads)`",)
)
def split_by_unflatten(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


@test_multi_head.accepts("head by head, and added", holds=("right to four digits",))
def head_by_head(X, W_q, W_k, W_v, W_o, n_heads):
    d_head = W_q.shape[1] // n_heads
    output = torch.zeros_like(X)
    for first in range(0, W_q.shape[1], d_head):
        own = slice(first, first + d_head)
        scores = (X @ W_q[:, own]) @ (X @ W_k[:, own]).transpose(-2, -1) / d_head**0.5
        output = output + torch.softmax(scores, dim=-1) @ X @ W_v[:, own] @ W_o[own]
    return output


@test_multi_head.accepts("with einsum")
def with_einsum(X, W_q, W_k, W_v, W_o, n_heads):
    d, wide = W_q.shape
    Q, K, V = (
        torch.einsum("bnd,dhc->bhnc", X, W.reshape(d, n_heads, wide // n_heads))
        for W in (W_q, W_k, W_v)
    )
    weights = torch.einsum("bhqc,bhkc->bhqk", Q, K).div((wide // n_heads) ** 0.5).softmax(-1)
    heads = torch.einsum("bhqk,bhkc->bqhc", weights, V)
    return torch.einsum("bqhc,hcd->bqd", heads, W_o.reshape(n_heads, wide // n_heads, -1))


@test_multi_head.accepts("heads folded into the batch")
def folded_into_the_batch(X, W_q, W_k, W_v, W_o, n_heads):
    batch, n, _ = X.shape
    d_head = W_q.shape[1] // n_heads
    folded = []
    for W in (W_q, W_k, W_v):
        heads = (X @ W).reshape(batch, n, n_heads, d_head).permute(0, 2, 1, 3)
        folded.append(heads.reshape(batch * n_heads, n, d_head))
    Q, K, V = folded
    weights = torch.softmax(torch.bmm(Q, K.mT) * d_head**-0.5, dim=2)
    heads = torch.bmm(weights, V).reshape(batch, n_heads, n, d_head).permute(0, 2, 1, 3)
    return heads.reshape(batch, n, n_heads * d_head) @ W_o


test_multi_head.rejects(
    "merged without the transpose",
    split_by_unflatten.edit(
        "(weights @ V).transpose(1, 2).flatten(-2)", "(weights @ V).reshape(len(X), X.shape[1], -1)"
    ),
    holds=("side by side in their order, times W_o",),
)
test_multi_head.rejects(
    "one projection for all heads",
    split_by_unflatten.edit(
        "Q, K, V =",
        "d_head = W_q.shape[1] // n_heads\n"
        "W_q, W_k, W_v = (W[:, :d_head].repeat(1, n_heads) for W in (W_q, W_k, W_v))\n"
        "Q, K, V =",
    ),
    holds=("n_heads divides d: the first d / n_heads features",),
)
test_multi_head.rejects(
    "a softmax over the queries",
    split_by_unflatten.edit("dim=-1", "dim=-2"),
    holds=("Raises AssertionError",),
)
test_multi_head.rejects(
    "values made with the keys' projection",
    split_by_unflatten.edit("(W_q, W_k, W_v)", "(W_q, W_k, W_k)"),
    holds=("W_q, W_k, W_v and W_o: (d, d)",),
)
test_multi_head.rejects(
    "scores divided by the root of the whole width",
    split_by_unflatten.edit("Q.shape[-1]", "W_q.shape[1]"),
    holds=("divided by the root of d / n_heads",),
)
test_multi_head.rejects(
    "the output projection left out",
    split_by_unflatten.edit(" @ W_o", ""),
    holds=("side by side…",),
)
test_multi_head.rejects(
    "the first sequence attends for all",
    split_by_unflatten.edit("Q @ K.transpose(-2, -1)", "Q[:1] @ K[:1].transpose(-2, -1)"),
    holds=("X: (batch, n, d)",),
)
test_multi_head.rejects(
    "a hundredth added to the softmax's denominator",
    split_by_unflatten.edit(
        "weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)",
        "scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5\n"
        "shares = torch.exp(scores - scores.amax(dim=-1, keepdim=True))\n"
        "weights = shares / (shares.sum(dim=-1, keepdim=True) + 0.01)",
    ),
)
test_multi_head.rejects(
    "split without the transpose",
    split_by_unflatten.edit("Q, K, V =", "batch, n, _ = X.shape\nQ, K, V =").edit(
        "unflatten(-1, (n_heads, -1)).transpose(1, 2)", "reshape(batch, n_heads, n, -1)"
    ),
    shown=False,
)
test_multi_head.rejects(
    "a softmax over the heads", split_by_unflatten.edit("dim=-1", "dim=1"), shown=False
)
test_multi_head.rejects(
    "queries and keys exchanged",
    split_by_unflatten.edit("(W_q, W_k, W_v)", "(W_k, W_q, W_v)"),
    shown=False,
    holds=("W_q, W_k…",),
)
test_multi_head.rejects(
    "scores never divided",
    split_by_unflatten.edit(" / Q.shape[-1] ** 0.5", ""),
    shown=False,
    holds=("divided by…",),
)
test_multi_head.rejects(
    "features dealt to the heads in turn",
    split_by_unflatten.edit(
        "unflatten(-1, (n_heads, -1)).transpose(1, 2)",
        "unflatten(-1, (-1, n_heads)).movedim(-1, 1)",
    ),
    shown=False,
    holds=("n_heads divides…",),
)


@test_multi_head.rejects("one wide head", shown=False, holds=("n_heads divides…",))
def _(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    weights = (Q @ K.transpose(-2, -1) / (Q.shape[-1] / n_heads) ** 0.5).softmax(dim=-1)
    return weights @ V @ W_o
