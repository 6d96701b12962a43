"""The exercise `linear_attention`: sums of features in place of a softmax."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import cost as solutions

linear_attention = Declaration(
    solutions.linear_attention,
    points=4,
    difficulty=3,
    minutes=25,
    help=(
        "With q for the features of a query, its blend is q times a matrix, the sum over the "
        "keys of (features of key) times (value). Divide it by q times the sum of the features.",
        "With `causal`, every token has its own two sums, over the tokens up to itself: "
        "`cumsum` makes them all at once.",
        "Section “Without a softmax”.",
    ),
)


@linear_attention.right
def by_weights(Q, K, V, causal):
    features = [torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0))) for x in (Q, K)]
    weights = features[0] @ features[1].mT
    if causal:
        weights = torch.tril(weights)
    return (weights / weights.sum(-1, keepdim=True)) @ V


@linear_attention.right
def as_a_recurrence(Q, K, V, causal):
    Q, K = F.elu(Q) + 1, F.elu(K) + 1
    if not causal:
        state, total = torch.einsum("...nk,...nv->...kv", K, V), K.sum(-2, keepdim=True)
        return (Q @ state) / (Q * total).sum(-1, keepdim=True)
    state = torch.zeros(*K.shape[:-2], K.shape[-1], V.shape[-1], dtype=K.dtype)
    total, found = torch.zeros_like(K[..., 0, :]), []
    for t in range(K.shape[-2]):
        state = state + K[..., t, :, None] * V[..., t, None, :]
        total = total + K[..., t, :]
        blend = (Q[..., t, None, :] @ state)[..., 0, :]
        found.append(blend / (Q[..., t, :] * total).sum(-1, keepdim=True))
    return torch.stack(found, dim=-2)


@linear_attention.right
def ones_beside_the_values(Q, K, V, causal):
    Q, K = torch.nn.ELU()(Q) + 1, torch.nn.ELU()(K) + 1
    V = torch.cat([V, torch.ones_like(V[..., :1])], -1)
    if causal:
        states = torch.cumsum(torch.einsum("...nk,...nv->...nkv", K, V), -3)
        both = torch.einsum("...nk,...nkv->...nv", Q, states)
    else:
        both = Q @ (K.transpose(-1, -2) @ V)
    return both[..., :-1] / both[..., -1:]


@linear_attention.right
def plain(Q, K, V, causal):
    weights = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    weights = weights.tril() if causal else weights
    return weights @ V / weights.sum(-1, keepdim=True)


linear_attention.wrong(
    "not divided",
    "Let all values be 1. What should come out, whatever the queries and keys are?",
    plain.edit(" / weights.sum(-1, keepdim=True)", ""),
)
causal_ignored = linear_attention.wrong(
    "`causal` ignored",
    "With `causal=True`, what should the first token return? It sees itself alone.",
    plain.edit("weights = weights.tril() if causal else weights", ""),
)
linear_attention.wrong(
    "causal always",
    "With `causal=False`, may the first token see the last one?",
    plain.edit("weights.tril() if causal else weights", "weights.tril()"),
)
linear_attention.wrong(
    "divided by the sum over all keys",
    "The first token sees itself alone. Which products belong in the sum that you divide by?",
    causal_ignored.edit("weights @ V", "(weights.tril() if causal else weights) @ V"),
)
linear_attention.wrong(
    "a token does not see itself",
    "What should the first token return, if it sees itself?",
    plain.edit("weights.tril()", "weights.tril(-1)").edit(
        "weights.sum(-1, keepdim=True)", "weights.sum(-1, keepdim=True).clamp(min=1e-30)"
    ),
)
linear_attention.wrong(
    "features of the keys alone",
    "A query with negative numbers leads to negative weights. What are its features?",
    plain.edit("(F.elu(Q) + 1)", "Q"),
)
linear_attention.wrong(
    "no 1 added",
    "Which values can elu take? Can you be sure that weights made of them are never negative?",
    plain.edit("(F.elu(Q) + 1) @ (F.elu(K) + 1).mT", "F.elu(Q) @ F.elu(K).mT"),
)
linear_attention.wrong(
    "queries scaled",
    "Of which numbers does the docstring make the features: of the queries, or of the queries "
    "divided by a root?",
    plain.edit("F.elu(Q)", "F.elu(Q / math.sqrt(Q.shape[-1]))"),
)
linear_attention.wrong(
    "ReLU in place of the exponential",
    "Take two different numbers below 0. Are their features the same?",
    plain.edit("F.elu", "F.relu", times=2),
)


@linear_attention.wrong(
    "a softmax",
    "What do you take the exponential of: a score, or each number of a query and a key?",
)
def _(Q, K, V, causal):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if causal:
        hidden = ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(hidden, -math.inf)
    return scores.softmax(-1) @ V


@linear_attention.public
def _(rng):
    yield _case(rng, "two tokens, all seen", (), 2, 2, 2, False).holds(
        "The weight of a key for a query is the dot product of their features, divided by the "
        "sum of these products over all keys that the query sees."
    )
    yield _case(rng, "two tokens, the past alone", (), 2, 2, 2, True).holds("The weight…")
    yield _case(rng, "five tokens, all seen", (), 5, 3, 2, False).holds(
        "Q and K: (..., n, d_k), with numbers of moderate size.",
        "Nothing is divided by the root of d_k.",
    )
    yield _case(rng, "five tokens, the past alone", (), 5, 2, 3, True).holds(
        "V: (..., n, d_v), n at least 1.",
        "causal: with True, a token sees itself and the tokens before it; with False, every "
        "token sees all.",
        "Returns (..., n, d_v).",
    )
    yield _case(rng, "a batch, the past alone", (2,), 4, 2, 2, True).holds(
        "All have the same leading axes."
    )
    yield _case(rng, "float32, two leading axes", (2, 3), 3, 2, 3, False, np.float32).holds(
        "All have…"
    )
    yield _case(rng, "float32, two leading axes, the past alone", (2, 2), 3, 2, 3, True, np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2), 3, 2, 2, True).holds("All have…")
    yield _case(rng, "one token in a batch of one", (1,), 1, 1, 1, True).holds("V: (...…")
    yield _case(rng, "tiny values", (), 3, 2, 2, True, values=1e-9).holds("V: (...…")
    yield _case(rng, "larger numbers, all seen", (), 4, 3, 2, False, size=4.0).holds(
        "Q and K…",
        "The features of x are elu(x) + 1, number by number: x + 1 above 0, and exp(x) below.",
    )
    yield _case(rng, "numbers near 0", (), 4, 3, 2, False, size=1e-9).holds("Q and K…")


@linear_attention.hidden
def _(rng):
    n, d_k, d_v = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "all seen", (), n, d_k, d_v, False).holds("The features…")
    yield _case(rng, "the past alone", (), n, d_k, d_v, True)
    yield _case(rng, "a batch, all seen", (2,), n, d_k, d_v, False)
    yield _case(rng, "a batch, the past alone", (3,), n, d_k, d_v, True)
    yield _case(rng, "float32, two leading axes", (2, 1), n, d_k, d_v, True, np.float32)
    yield _case(
        rng, "many tokens, the past alone", (), int(rng.integers(40, 60)), 2, 2, True
    ).holds("causal: with…")


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    n: int,
    d_k: int,
    d_v: int,
    causal: bool,
    dtype: type = np.float64,
    size: float = 1.5,
    values: float = 1.0,
) -> Case:
    """Random Q, K and V; `size` multiplies Q and K, and `values` V."""

    def drawn(factor: float, d: int) -> Tensor:
        return Tensor((factor * rng.normal(size=(*batch, n, d))).astype(dtype))

    return Case(note, (drawn(size, d_k), drawn(size, d_k), drawn(values, d_v), causal))
