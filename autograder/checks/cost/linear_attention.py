"""The exercise `linear_attention`: sums of features in place of a softmax."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions import cost as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Tensor


def linear_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "two tokens, all seen", (), 2, 2, 2, False)
    yield _case(rng, "two tokens, the past alone", (), 2, 2, 2, True)
    yield _case(rng, "five tokens, all seen", (), 5, 3, 2, False)
    yield _case(rng, "five tokens, the past alone", (), 5, 2, 3, True)
    yield _case(rng, "a batch, the past alone", (2,), 4, 2, 2, True)
    yield _case(rng, "float32, two leading axes", (2, 3), 3, 2, 3, False, np.float32)
    yield _case(rng, "float32, two leading axes, the past alone", (2, 2), 3, 2, 3, True, np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2), 3, 2, 2, True)
    yield _case(rng, "one token in a batch of one", (1,), 1, 1, 1, True)
    yield _case(rng, "tiny values", (), 3, 2, 2, True, values=1e-9)
    yield _case(rng, "larger numbers, all seen", (), 4, 3, 2, False, size=4.0)
    yield _case(rng, "numbers near 0", (), 4, 3, 2, False, size=1e-9)


def linear_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_k, d_v = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "all seen", (), n, d_k, d_v, False)
    yield _case(rng, "the past alone", (), n, d_k, d_v, True)
    yield _case(rng, "a batch, all seen", (2,), n, d_k, d_v, False)
    yield _case(rng, "a batch, the past alone", (3,), n, d_k, d_v, True)
    yield _case(rng, "float32, two leading axes", (2, 1), n, d_k, d_v, True, np.float32)
    yield _case(rng, "many tokens, the past alone", (), int(rng.integers(40, 60)), 2, 2, True)


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


def linear__not_divided(Q, K, V, causal):
    weights = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    return (weights.tril() if causal else weights) @ V


def linear__causal_ignored(Q, K, V, causal):
    weights = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    return weights @ V / weights.sum(-1, keepdim=True)


def linear__always_causal(Q, K, V, causal):
    weights = ((F.elu(Q) + 1) @ (F.elu(K) + 1).mT).tril()
    return weights @ V / weights.sum(-1, keepdim=True)


def linear__divided_by_all(Q, K, V, causal):
    weights = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    return (weights.tril() if causal else weights) @ V / weights.sum(-1, keepdim=True)


def linear__itself_not_seen(Q, K, V, causal):
    weights = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    weights = weights.tril(-1) if causal else weights
    return weights @ V / weights.sum(-1, keepdim=True).clamp(min=1e-30)


def linear__features_of_the_queries_forgotten(Q, K, V, causal):
    weights = Q @ (F.elu(K) + 1).mT
    weights = weights.tril() if causal else weights
    return weights @ V / weights.sum(-1, keepdim=True)


def linear__no_one_added(Q, K, V, causal):
    weights = F.elu(Q) @ F.elu(K).mT
    weights = weights.tril() if causal else weights
    return weights @ V / weights.sum(-1, keepdim=True)


def linear__relu(Q, K, V, causal):
    weights = (F.relu(Q) + 1) @ (F.relu(K) + 1).mT
    weights = weights.tril() if causal else weights
    return weights @ V / weights.sum(-1, keepdim=True)


def linear__softmax(Q, K, V, causal):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if causal:
        hidden = ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(hidden, -math.inf)
    return scores.softmax(-1) @ V


def linear__by_weights(Q, K, V, causal):
    features = [torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0))) for x in (Q, K)]
    weights = features[0] @ features[1].mT
    if causal:
        weights = torch.tril(weights)
    return (weights / weights.sum(-1, keepdim=True)) @ V


def linear__as_a_recurrence(Q, K, V, causal):
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


def linear__ones_beside_the_values(Q, K, V, causal):
    Q, K = torch.nn.ELU()(Q) + 1, torch.nn.ELU()(K) + 1
    V = torch.cat([V, torch.ones_like(V[..., :1])], -1)
    if causal:
        states = torch.cumsum(torch.einsum("...nk,...nv->...nkv", K, V), -3)
        both = torch.einsum("...nk,...nkv->...nv", Q, states)
    else:
        both = Q @ (K.transpose(-1, -2) @ V)
    return both[..., :-1] / both[..., -1:]


LINEAR_ATTENTION = Exercise(
    name="linear_attention",
    points=4,
    difficulty=3,
    minutes=25,
    reference=solutions.linear_attention,
    cases=linear_cases,
    hidden=linear_hidden,
    misconceptions=(
        Misconception(
            "not divided",
            linear__not_divided,
            "All values are 1. What should come out, whatever the queries and keys are?",
        ),
        Misconception(
            "`causal` ignored",
            linear__causal_ignored,
            "With `causal=True`, what should the first token return? It sees itself alone.",
        ),
        Misconception(
            "causal always",
            linear__always_causal,
            "With `causal=False`, may the first token see the last one?",
        ),
        Misconception(
            "divided by the sum over all keys",
            linear__divided_by_all,
            "The first token sees itself alone. Which products belong into the sum by which it is "
            "divided?",
        ),
        Misconception(
            "oneself not seen",
            linear__itself_not_seen,
            "What should the first token return, if it sees itself?",
        ),
        Misconception(
            "features of the keys alone",
            linear__features_of_the_queries_forgotten,
            "A query with numbers below 0 makes weights below 0. What are its features?",
        ),
        Misconception(
            "no 1 added",
            linear__no_one_added,
            "Which values can elu take? Can a weight be made of them that is never below 0?",
        ),
        Misconception(
            "a bend in place of the exponential",
            linear__relu,
            "Two numbers below 0: are their features the same?",
        ),
        Misconception(
            "a softmax",
            linear__softmax,
            "Where are the exponentials taken: of a score, or of each number of a query and a key?",
        ),
    ),
    alternatives=(
        linear__by_weights,
        linear__as_a_recurrence,
        linear__ones_beside_the_values,
    ),
    help=(
        "The blend of a query q is q times a matrix, the sum over the keys of (features of key) "
        "times (value); what it is divided by is q times the sum of the features.",
        "With `causal`, every token has its own two sums, over the tokens up to itself: "
        "`cumsum` makes them all at once.",
        "Section “Without a softmax”.",
    ),
    promises=(
        Promise(
            "Q and K: (..., n, d_k), with numbers of moderate size.",
            ("five tokens, all seen", "larger numbers, all seen", "numbers near 0"),
        ),
        Promise(
            "V: (..., n, d_v), n at least 1.",
            ("five tokens, the past alone", "one token in a batch of one", "tiny values"),
        ),
        Promise(
            "All have the same leading axes.",
            ("a batch, the past alone", "three leading axes", "float32, two leading axes"),
        ),
        Promise(
            "The weight of a key for a query is the dot product of their features, divided by the "
            "sum of these products over all keys that the query sees.",
            ("two tokens, all seen", "two tokens, the past alone"),
        ),
        Promise(
            "The features of x are elu(x) + 1, number by number: x + 1 above 0, and exp(x) below.",
            ("larger numbers, all seen", "all seen"),
        ),
        Promise("Nothing is divided by the root of d_k.", ("five tokens, all seen",)),
        Promise(
            "causal: with True, a token sees itself and the tokens before it; with False, every "
            "token sees all.",
            ("five tokens, the past alone", "many tokens, the past alone"),
        ),
        Promise("Returns (..., n, d_v).", ("five tokens, the past alone",)),
    ),
)
