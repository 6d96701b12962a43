"""The exercise `attend_then_transform`: a block, and what its residual path carries. To debug."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import mended as solutions

attend_then_transform = Declaration(
    solutions.attend_then_transform,
    points=4,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "Set every matrix to 0: the block should return its input. Does it?",
        "After an assignment, a name keeps its new value. Which lines read `X` after it was "
        "normalised?",
        "Section “Ten wrong lines”; chapter 8, “The encoder block”, on where the norm goes.",
    ),
)


@attend_then_transform.right
def ready_made_attention(X, W_q, W_k, W_v, W_1, W_2):
    Y = F.layer_norm(X, X.shape[-1:])
    X = X + F.scaled_dot_product_attention(Y @ W_q, Y @ W_k, Y @ W_v)
    Y = F.layer_norm(X, X.shape[-1:])
    return X + torch.clamp(Y @ W_1, min=0) @ W_2


@attend_then_transform.right
def by_hand(X, W_q, W_k, W_v, W_1, W_2):
    def normalised(Y):
        variance, mean = torch.var_mean(Y, dim=-1, correction=0, keepdim=True)
        return (Y - mean) / torch.sqrt(variance + 1e-5)

    Q, K, V = (normalised(X) @ W for W in (W_q, W_k, W_v))
    weights = torch.softmax(torch.einsum("bqc,bkc->bqk", Q, K) / Q.shape[-1] ** 0.5, dim=2)
    middle = X + torch.einsum("bqk,bkd->bqd", weights, V)
    return middle + (normalised(middle) @ W_1).relu() @ W_2


@attend_then_transform.right
def two_functions(X, W_q, W_k, W_v, W_1, W_2):
    def attend(Y):
        scores = Y @ W_q @ W_k.T @ Y.mT / W_q.shape[-1] ** 0.5
        return scores.softmax(dim=-1) @ Y @ W_v

    def transform(Y):
        return F.relu(Y @ W_1) @ W_2

    for sublayer in (attend, transform):
        X = X + sublayer(F.layer_norm(X, X.shape[-1:]))
    return X


@attend_then_transform.right
def plain(X, W_q, W_k, W_v, W_1, W_2):
    normed = F.layer_norm(X, X.shape[-1:])
    scores = (normed @ W_q) @ (normed @ W_k).transpose(-2, -1) / W_q.shape[-1] ** 0.5
    X = X + scores.softmax(dim=-1) @ (normed @ W_v)
    normed = F.layer_norm(X, X.shape[-1:])
    return X + F.relu(normed @ W_1) @ W_2


norm_on_the_residual = attend_then_transform.wrong(
    "the norm on the residual path",
    "Set all weights to 0. What should come out of a block that adds nothing?",
    plain.edit("normed", "X", times=6),
    released=True,
)
attend_then_transform.wrong(
    "only the first sublayer corrected",
    "How many residual sums does a block have?",
    plain.edit(
        "normed = F.layer_norm(X, X.shape[-1:])\nreturn X + F.relu(normed @ W_1) @ W_2",
        "X = F.layer_norm(X, X.shape[-1:])\nreturn X + F.relu(X @ W_1) @ W_2",
    ),
)
attend_then_transform.wrong(
    "only the second sublayer corrected",
    "How many residual sums does a block have?",
    norm_on_the_residual.edit(
        "X = F.layer_norm(X, X.shape[-1:])\nreturn X + F.relu(X @ W_1) @ W_2",
        "normed = F.layer_norm(X, X.shape[-1:])\nreturn X + F.relu(normed @ W_1) @ W_2",
    ),
)
no_norm = plain.edit("F.layer_norm(X, X.shape[-1:])", "X", times=2)
attend_then_transform.wrong(
    "the norm after the sum",
    "The task asks for the norm before each sublayer. What is normalised here?",
    no_norm.edit(
        "X + scores.softmax(dim=-1) @ (normed @ W_v)",
        "F.layer_norm(X + scores.softmax(dim=-1) @ (normed @ W_v), X.shape[-1:])",
    ).edit(
        "X + F.relu(normed @ W_1) @ W_2",
        "F.layer_norm(X + F.relu(normed @ W_1) @ W_2, X.shape[-1:])",
    ),
)
attend_then_transform.wrong(
    "no norm at all", "What do W_q and W_1 read when the tokens are large?", no_norm
)
attend_then_transform.wrong(
    "the values not normalised",
    "Which three of the matrices read the normalised tokens?",
    plain.edit("normed @ W_v", "X @ W_v"),
)
attend_then_transform.wrong(
    "the tokens added, not what attention made of them",
    "What does the second sublayer add its result to?",
    plain.edit(
        "X = X + scores.softmax(dim=-1) @ (normed @ W_v)\nnormed = F.layer_norm(X, X.shape[-1:])",
        "Y = X + scores.softmax(dim=-1) @ (normed @ W_v)\nnormed = F.layer_norm(Y, X.shape[-1:])",
    ),
)


@attend_then_transform.public
def _(rng):
    yield Case("two tokens of three features", _inputs(rng, 1, 2, 3, 2, 4)).holds(
        "scores are divided by the root of d_k"
    )
    yield Case("a batch, tokens far from 0", _inputs(rng, 2, 3, 4, 3, 5, shift=9.0)).holds(
        "X: (batch, n, d). W_q and W_k: (d, d_k). W_v: (d, d). W_1: (d, d_ff). W_2: (d_ff, d)."
    )
    yield Case("the same sizes, other numbers", _inputs(rng, 2, 3, 4, 3, 5))
    yield Case("large tokens", _inputs(rng, 2, 4, 3, 2, 6, size=50.0)).holds(
        "the tokens are normalised by `F.layer_norm`, without scale and shift; the residual path "
        "is not"
    )
    yield Case("one tiny feature", _inputs(rng, 2, 3, 1, 2, 4, size=1e-9))
    yield Case("tiny tokens", _inputs(rng, 1, 3, 4, 4, 4, size=0.05)).holds("the tokens…")
    yield Case("one token", _inputs(rng, 2, 1, 4, 3, 3)).holds(
        "Then each token goes through W_1, a ReLU and W_2"
    )
    yield Case("float32", _inputs(rng, 2, 3, 5, 4, 6, dtype=np.float32)).holds(
        "Returns the shape of X"
    )


@attend_then_transform.hidden
def _(rng):
    n, d, d_k = (int(one) for one in rng.permutation([3, 4, 5]))
    yield Case("another block", _inputs(rng, 2, n, d, d_k, 6))
    yield Case("tokens far from 0", _inputs(rng, 3, n, d, d_k, 4, shift=-7.0))
    yield Case("large tokens", _inputs(rng, 2, n, d, d_k, 5, size=50.0))
    yield Case("as many tokens as features", _inputs(rng, 2, d, d, d_k, 5))
    yield Case("float32", _inputs(rng, 1, n, d, d_k, 6, dtype=np.float32))


def _inputs(
    rng: np.random.Generator,
    batch: int,
    n: int,
    d: int,
    d_k: int,
    d_ff: int,
    size: float = 1.0,
    shift: float = 0.0,
    dtype: type = np.float64,
) -> tuple[Tensor, ...]:
    """Tokens of that size, moved by `shift`, and the five matrices."""
    X = size * rng.normal(size=(batch, n, d)) + shift
    shapes = ((d, d_k), (d, d_k), (d, d), (d, d_ff), (d_ff, d))
    return tuple(Tensor(one.astype(dtype)) for one in (X, *(rng.normal(size=s) for s in shapes)))
