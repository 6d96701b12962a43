"""The exercise `test_norm_first`: write the test that finds a norm that stands wrong.

It tells sublayers with the norm first apart, right ones and mutants. Each stands alone: only its
own lines reach the process in which it runs.
"""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_bugs as solutions

test_norm_first = Declaration(
    solutions.test_norm_first,
    points=4,
    difficulty=2,
    minutes=20,
    kind=Kind.TEST,
    imports=("import torch", "import torch.nn.functional as F"),
    help=(
        "A token of two features, normalised, is (1, -1) or (-1, 1). So you can work out the "
        "answer by hand, token by token, and compare to three digits.",
        "Use several tokens, with different means and sizes, in two sequences. Choose weights "
        "that give the ReLU something to cut off.",
        "Section “Ten wrong lines”; chapter 8, “The encoder block”, on where the norm goes.",
    ),
)


@test_norm_first.right
def module(implementation):
    torch.manual_seed(0)
    X, W_1, W_2 = 5 + 2 * torch.randn(2, 3, 4), torch.randn(4, 6), torch.randn(6, 4)
    right = X + torch.relu(torch.nn.LayerNorm(4)(X).detach() @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3, atol=1e-2)


@test_norm_first.right
def numbers(implementation):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(3, 2, 5)) * 3 - 4
    W_1, W_2 = generator.normal(size=(5, 3)), generator.normal(size=(3, 5))
    mine = implementation(*(torch.tensor(one) for one in (X, W_1, W_2))).numpy()
    normed = (X - X.mean(-1, keepdims=True)) / X.std(-1, keepdims=True)
    right = X + np.maximum(normed @ W_1, 0) @ W_2
    np.testing.assert_allclose(mine, right, rtol=1e-3, atol=1e-3)


@test_norm_first.right
def by_properties(implementation):
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


@test_norm_first.right
def plain(implementation):
    torch.manual_seed(0)
    X, W_1, W_2 = 5 + 2 * torch.randn(2, 3, 8), torch.randn(8, 6), torch.randn(6, 8)
    right = X + F.relu(F.layer_norm(X, (8,)) @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)


@test_norm_first.wrong(
    "nothing is added", "With weights of 0, what do you learn about the path through the norm?"
)
def _(implementation):
    X = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(implementation(X, torch.zeros(3, 5), torch.zeros(5, 3)), X)


@test_norm_first.wrong(
    "tokens that are normalised already",
    "What does a norm do with tokens of mean 0 and variance 1?",
)
def normal_tokens(implementation):
    X = torch.tensor([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
    W_1, W_2 = torch.tensor([[1.0, 0.0, -2.0], [0.0, 3.0, 1.0]]), torch.eye(3)[:, :2] * 7
    right = X + F.relu(X @ W_1) @ W_2
    assert torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)


test_norm_first.wrong(
    "tokens whose mean is 0",
    "How would you notice that the mean is not subtracted?",
    normal_tokens.edit(
        "[[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]]",
        "[[[-2.0, 2.0], [1.0, -1.0]], [[3.0, -3.0], [-1.0, 1.0]]]",
    ).edit("X @ W_1", "X.sign() @ W_1"),
)
test_norm_first.wrong(
    "a tolerance of ten per cent",
    "By what percentage does a normalised token change if the variance divides by d - 1 instead of "
    "d? Would your tolerance notice?",
    plain.edit(
        "torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)",
        "(implementation(X, W_1, W_2) - right).abs().mean() < 0.1 * right.abs().mean()",
    ),
)
test_norm_first.wrong(
    "equal to the last bit",
    "What does the task say about epsilon?",
    plain.edit(
        "torch.allclose(implementation(X, W_1, W_2), right, rtol=1e-3)",
        "torch.equal(implementation(X, W_1, W_2), right)",
    ),
)


@test_norm_first.accepts(
    "torch's layer_norm", holds=("It is called `implementation(X, W_1, W_2)`",)
)
def with_layer_norm(X, W_1, W_2):
    return X + F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1) @ W_2


@test_norm_first.accepts("token by token", holds=("right to three digits",))
def token_by_token(X, W_1, W_2):
    rows = []
    for token in X.flatten(0, 1):
        centred = token - token.sum() / len(token)
        length = torch.linalg.vector_norm(centred) / len(token) ** 0.5
        hidden = centred / length.clamp(min=1e-3) @ W_1
        rows.append(token + hidden.where(hidden > 0, 0.0) @ W_2)
    return torch.stack(rows).reshape(X.shape)


@test_norm_first.accepts("mean and variance, a smaller epsilon", holds=("A small epsilon",))
def with_var(X, W_1, W_2):
    variance, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
    return torch.clamp((X - mean) * torch.rsqrt(variance + 1e-6) @ W_1, min=0) @ W_2 + X


@test_norm_first.accepts("computed in float64")
def in_double(X, W_1, W_2):
    wide = X.double()
    normed = (wide - wide.mean(-1, keepdim=True)) / wide.std(-1, keepdim=True, correction=0)
    update = torch.einsum("bnd,df,fe->bne", normed, W_1.double(), torch.eye(W_1.shape[1]).double())
    return (wide + update.relu() @ W_2.double()).to(X.dtype)


@test_norm_first.rejects("a norm over the tokens of a sequence", holds=("d at least 2",))
def over_the_tokens(X, W_1, W_2):
    centred = X - X.mean(dim=1, keepdim=True)
    normed = centred / torch.sqrt(centred.square().mean(dim=1, keepdim=True) + 1e-5)
    return X + F.relu(normed @ W_1) @ W_2


@test_norm_first.rejects(
    "the norm on the residual path too",
    holds=("That goes through W_1, a ReLU and W_2, and what comes out is added",),
)
def _(X, W_1, W_2):
    X = F.layer_norm(X, X.shape[-1:])
    return X + F.relu(X @ W_1) @ W_2


@test_norm_first.rejects("the norm after the sum", holds=("return the sums, in the shape of X",))
def _(X, W_1, W_2):
    return F.layer_norm(X + F.relu(X @ W_1) @ W_2, X.shape[-1:])


test_norm_first.rejects(
    "no residual", with_layer_norm.edit("X + F.relu", "F.relu"), holds=("That goes…",)
)
test_norm_first.rejects(
    "no norm",
    with_layer_norm.edit("F.layer_norm(X, X.shape[-1:]) @ W_1", "X @ W_1"),
    holds=("There is no scale, no shift, no bias", "Raises AssertionError"),
)


@test_norm_first.rejects(
    "the variance divided by one less",
    holds=("divided by the root of the mean of its squared deviations",),
)
def _(X, W_1, W_2):
    normed = (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


@test_norm_first.rejects(
    "the mean not taken off", holds=("Each token is normalised on its own: its mean is taken off",)
)
def _(X, W_1, W_2):
    normed = X / torch.sqrt(X.square().mean(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


test_norm_first.rejects(
    "a leak of a fiftieth in the ReLU",
    with_layer_norm.edit(
        "F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1)",
        "F.leaky_relu(F.layer_norm(X, X.shape[-1:]) @ W_1, 0.02)",
    ),
    holds=("That goes…",),
)


@test_norm_first.rejects("the first token's mean and deviation for all", holds=("Each token…",))
def of_the_first(X, W_1, W_2):
    first = X[:1, :1]
    normed = (X - first.mean()) / (first.std(correction=0) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


test_norm_first.rejects(
    "each sequence's first token normalised, and the others left as they are",
    of_the_first.edit(
        "first = X[:1, :1]\nnormed = (X - first.mean()) / (first.std(correction=0) + 1e-6)",
        "normed = torch.cat((F.layer_norm(X[:, :1], X.shape[-1:]), X[:, 1:]), dim=1)",
    ),
    shown=False,
    holds=("Each token…",),
)
test_norm_first.rejects(
    "the mean deviation of the tokens so far",
    of_the_first.edit(
        "first = X[:1, :1]\nnormed = (X - first.mean()) / (first.std(correction=0) + 1e-6)",
        "deviations = X.std(dim=-1, correction=0, keepdim=True).cumsum(dim=1)\n"
        "deviations = deviations / torch.arange(1, X.shape[1] + 1)[:, None]\n"
        "normed = (X - X.mean(dim=-1, keepdim=True)) / (deviations + 1e-6)",
    ),
)
test_norm_first.rejects(
    "a norm over all numbers of a sequence",
    with_layer_norm.edit("X.shape[-1:]", "X.shape[1:]"),
    shown=False,
    holds=("Each token…",),
)


test_norm_first.rejects(
    "a norm over the batch",
    over_the_tokens.edit("dim=1, keepdim=True", "dim=(0, 1)", times=2),
    shown=False,
)


@test_norm_first.rejects(
    "divided by the variance, not by its root", shown=False, holds=("divided by…",)
)
def _(X, W_1, W_2):
    centred = X - X.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


test_norm_first.rejects(
    "no ReLU",
    with_layer_norm.edit(
        "F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1)", "F.layer_norm(X, X.shape[-1:]) @ W_1"
    ),
    shown=False,
    holds=("W_1: (d, d_ff). W_2: (d_ff, d).",),
)


@test_norm_first.rejects("the ReLU at the end", shown=False, holds=("That goes…",))
def _(X, W_1, W_2):
    return F.relu(X + F.layer_norm(X, X.shape[-1:]) @ W_1 @ W_2)


@test_norm_first.rejects("the norm behind the transformation", shown=False)
def _(X, W_1, W_2):
    return X + F.layer_norm(F.relu(X @ W_1) @ W_2, X.shape[-1:])
