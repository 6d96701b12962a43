"""The exercise `mla_absorb`: attend to tokens that left one small vector each."""

import math

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions import cost_of_today as solutions

from .. import forbidden

mla_absorb = Declaration(
    solutions.mla_absorb,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    forbidden=forbidden.ATTENTION,
    help=(
        "A score is q · (c W_uk). Move the matrix over to the other side of the dot product.",
        "Q @ W_uk.mT has r numbers for each query of each head. They meet C itself, which needs "
        "an axis for the heads. The values can wait until the weights have blended C.",
        "Section “Absorb the matrix” of the appendix.",
    ),
)


@mla_absorb.right
def keys_and_values(Q, C, W_uk, W_uv):
    K, V = (C[..., None, :, :] @ W for W in (W_uk, W_uv))
    return torch.softmax(Q @ K.mT * Q.shape[-1] ** -0.5, dim=-1) @ V


@mla_absorb.right
def with_einsum(Q, C, W_uk, W_uv):
    asked = torch.einsum("...hqk,hrk->...hqr", Q, W_uk)
    scores = torch.einsum("...hqr,...nr->...hqn", asked, C) / math.sqrt(W_uk.shape[-1])
    blend = torch.einsum("...hqn,...nr->...hqr", scores.softmax(-1), C)
    return torch.einsum("...hqr,hrv->...hqv", blend, W_uv)


@mla_absorb.right
def head_by_head(Q, C, W_uk, W_uv):
    found = []
    for h in range(W_uk.shape[0]):
        scores = (Q[..., h, :, :] @ W_uk[h].T) @ C.transpose(-1, -2)
        weights = (scores / W_uk.shape[2] ** 0.5).softmax(-1)
        found.append((weights @ C) @ W_uv[h])
    return torch.stack(found, dim=-3)


@mla_absorb.right
def plain(Q, C, W_uk, W_uv):
    asked = Q @ W_uk.mT
    kept = C.unsqueeze(-3)
    scores = asked @ kept.mT / math.sqrt(Q.shape[-1])
    return scores.softmax(-1) @ kept @ W_uv


mla_absorb.wrong(
    "divided by the root of r",
    "Moving a matrix to the other side leaves a score as it is. How wide are the keys that the "
    "docstring divides by?",
    plain.edit("Q.shape[-1]", "C.shape[-1]"),
)
mla_absorb.wrong(
    "not scaled",
    "What are dot products divided by before the softmax?",
    plain.edit(" / math.sqrt(Q.shape[-1])", ""),
)
mla_absorb.wrong(
    "one matrix for all heads",
    "Every head would have keys of its own. Which matrix makes those of the second head?",
    plain.edit("Q @ W_uk.mT", "Q @ W_uk[:1].mT"),
)
mla_absorb.wrong(
    "values of the first head for all",
    "Every head would have values of its own. Which matrix makes those of the second head?",
    plain.edit("kept @ W_uv", "kept @ W_uv[:1]"),
)
mla_absorb.wrong(
    "a softmax over the queries",
    "Over which axis do the weights of one query sum to 1?",
    plain.edit("scores.softmax(-1)", "scores.softmax(-2)"),
)
mla_absorb.wrong(
    "a softmax over the heads",
    "Do the weights of one head's query sum to 1?",
    plain.edit("scores.softmax(-1)", "scores.softmax(-3)"),
)
mla_absorb.wrong(
    "causal",
    "Does the docstring hide any token from a query?",
    plain.edit(
        "scores.softmax(-1)",
        "scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -1e30).softmax(-1)",
    ),
)


@mla_absorb.public
def _(rng):
    yield _case(rng, "one head, two tokens", (), 1, 1, 2, 1, 2, 1).holds(
        "Q: (..., n_heads, n_q, d_k)."
    )
    yield _case(rng, "two heads", (), 2, 3, 4, 3, 2, 2).holds(
        "C: (..., n_k, r), the vectors, the same for all heads.",
        "W_uk: (n_heads, r, d_k) and W_uv: (n_heads, r, d_v): head h would have the keys "
        "C @ W_uk[h] and the values C @ W_uv[h]; neither is ever made.",
    )
    yield _case(rng, "three heads, other widths", (), 3, 2, 5, 4, 3, 2).holds("W_uk: (n_heads…")
    yield _case(rng, "all sizes 2", (2,), 2, 2, 2, 2, 2, 2).holds("C: (...…")
    yield _case(rng, "a batch", (2,), 2, 3, 4, 2, 3, 2).holds(
        "Returns (..., n_heads, n_q, d_v): what attention to these keys and values returns."
    )
    yield _case(rng, "a batch of one", (1,), 2, 2, 3, 3, 2, 4).holds("Q: (...…")
    yield _case(rng, "one of everything", (1,), 1, 1, 1, 1, 1, 1).holds("C: (...…")
    yield _case(rng, "float32, two leading axes", (2, 3), 2, 2, 3, 3, 2, 2, np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2), 2, 2, 3, 3, 2, 2).holds("Q: (...…")
    yield _case(rng, "large scores", (), 2, 3, 4, 3, 2, 2, size=60.0).holds(
        "Scores are divided by the square root of d_k, and may be large."
    )
    yield _case(rng, "tiny values", (), 2, 3, 4, 3, 2, 2, values=1e-14).holds("W_uk: (n_heads…")
    yield _case(rng, "wide keys, a narrow vector", (), 2, 3, 4, 2, 9, 2).holds("Scores are…")


@mla_absorb.hidden
def _(rng):
    n_q, n_k, r, d_k, d_v = (int(one) for one in rng.permutation([2, 3, 4, 5, 6]))
    heads = int(rng.integers(2, 5))
    yield _case(rng, "some heads", (), heads, n_q, n_k, r, d_k, d_v).holds("Q: (...…")
    yield _case(rng, "one head", (), 1, n_q, n_k, r, d_k, d_v).holds("C: (...…")
    yield _case(rng, "a batch", (3,), heads, n_q, n_k, r, d_k, d_v).holds("Returns (...…")
    yield _case(rng, "float32", (2,), heads, n_q, n_k, r, d_k, d_v, np.float32)
    yield _case(rng, "large scores", (2,), heads, n_q, n_k, r, d_k, d_v, size=60.0)
    yield _case(rng, "one new query, many tokens", (), heads, 1, 30, r, d_k, d_v)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    n_heads: int,
    n_q: int,
    n_k: int,
    r: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
    values: float = 1.0,
) -> Case:
    """Random queries, vectors and matrices; `size` multiplies the queries, `values` W_uv."""
    Q = size * rng.normal(size=(*batch, n_heads, n_q, d_k))
    C, W_uk = rng.normal(size=(*batch, n_k, r)), rng.normal(size=(n_heads, r, d_k))
    W_uv = values * rng.normal(size=(n_heads, r, d_v))
    return Case(note, tuple(Tensor(one.astype(dtype)) for one in (Q, C, W_uk, W_uv)))
