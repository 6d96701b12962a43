"""The exercise `continue_attention`: a causal mask in training and in use. To debug."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import mended as solutions

continue_attention = Declaration(
    solutions.continue_attention,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "One line is wrong. Write down the mask for two new tokens out of three, as it is and as "
        "it should be.",
        "In training there are as many queries as keys, and both masks are the same. The last "
        "query belongs to the last key.",
        "The section “Where the loss does not look”, and chapter 5 on the causal mask.",
    ),
)


@continue_attention.right
def token_by_token(Q, K, V):
    m, n = Q.shape[-2], K.shape[-2]
    rows = []
    for at in range(m):
        end = n - m + at + 1
        keys, values = K[..., :end, :], V[..., :end, :]
        scores = (keys @ Q[..., at, :, None]).squeeze(-1) / Q.shape[-1] ** 0.5
        rows.append((scores.softmax(dim=-1)[..., None] * values).sum(dim=-2))
    return torch.stack(rows, dim=-2)


@continue_attention.right
def positions(Q, K, V):
    m, n = Q.shape[-2], K.shape[-2]
    late = torch.arange(n) > torch.arange(n - m, n)[:, None]
    scores = torch.einsum("...qc,...kc->...qk", Q, K) * Q.shape[-1] ** -0.5
    scores = torch.where(late, torch.full_like(scores, -torch.inf), scores)
    return torch.einsum("...qk,...kd->...qd", torch.softmax(scores, -1), V)


@continue_attention.right
def of_the_whole(Q, K, V):
    m, n = Q.shape[-2], K.shape[-2]
    missing = torch.zeros(*Q.shape[:-2], n - m, Q.shape[-1], dtype=Q.dtype)
    scores = torch.cat((missing, Q), dim=-2) @ K.mT / Q.shape[-1] ** 0.5
    future = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    return (scores.masked_fill(future, -torch.inf).softmax(-1) @ V)[..., n - m :, :]


@continue_attention.right
def plain(Q, K, V):
    m, n = Q.shape[-2], K.shape[-2]
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    seen = torch.ones(m, n, dtype=torch.bool).tril(diagonal=n - m)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ V


continue_attention.wrong(
    "the mask begins at the first key",
    "Which position does the first of two new tokens have in the whole sequence?",
    plain.edit("diagonal=n - m", ""),
    released=True,
)
continue_attention.wrong(
    "each token sees one ahead",
    "Which is the last key that the last query may see? And the last key for the query before it?",
    plain.edit("diagonal=n - m", "diagonal=n - m + 1"),
)
continue_attention.wrong(
    "the mask moved by the number of new tokens",
    "One token of four is new. How many keys does your mask let it see? And how many does it let "
    "each token see in training, where all are new?",
    plain.edit("diagonal=n - m", "diagonal=m"),
)
continue_attention.wrong(
    "the mask moved the wrong way",
    "Print your mask for two new tokens out of five. Does a longer past let them see more, or "
    "less?",
    plain.edit("diagonal=n - m", "diagonal=m - n"),
)


continue_attention.wrong(
    "no mask",
    "If two tokens are new, may the first of them see the second?",
    plain.edit("scores.masked_fill(~seen, -torch.inf)", "scores"),
)
continue_attention.wrong(
    "the past is forgotten",
    "What are the keys before the new ones for?",
    plain.edit(
        "seen = torch.ones(m, n, dtype=torch.bool).tril(diagonal=n - m)",
        "seen = torch.zeros(m, n, dtype=torch.bool)\n"
        "seen[:, n - m :] = torch.ones(m, m, dtype=torch.bool).tril()",
    ),
)
continue_attention.wrong(
    "a token does not see itself",
    "In training, does a token see itself?",
    plain.edit(
        "return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ V",
        "seen = seen & ~torch.eye(m, n, dtype=torch.bool).roll(n - m, dims=1)\n"
        "return scores.masked_fill(~seen, -1e30).softmax(dim=-1) @ V",
    ),
)
continue_attention.wrong(
    "the mask the wrong way round",
    "Which corner of the mask is False, and which tokens does that hide from which?",
    plain.edit(".tril(", ".triu("),
)


continue_attention.wrong(
    "a mask only where there is no past",
    "Two new tokens come after three old ones. May the first of the two see the second?",
    plain.edit("tril(diagonal=n - m)", "tril(diagonal=0 if m == n else n)"),
)
continue_attention.wrong(
    "not scaled",
    "What does the docstring divide the dot products by?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
continue_attention.wrong(
    "scaled by the number of keys",
    "Over which axis does the dot product of a query and a key sum? Is the length of that axis the "
    "number of keys?",
    plain.edit("/ Q.shape[-1] ** 0.5", "/ n**0.5"),
)


@continue_attention.public
def _(rng):
    yield Case("two new tokens of three", _inputs(rng, (), 2, 3, 2, 2)).holds(
        "the keys and values of the whole sequence"
    )
    yield Case("all tokens are new, as in training", _inputs(rng, (), 3, 3, 2, 2)).holds(
        "With m equal to n, as in training"
    )
    yield Case("one new token of four", _inputs(rng, (), 1, 4, 3, 2)).holds("m from 1 to n")
    yield Case("a batch, other values", _inputs(rng, (2,), 2, 5, 3, 4)).holds(
        "K: (..., n, d_k).", "the keys…"
    )
    yield Case("heads, three new tokens", _inputs(rng, (2, 3), 3, 4, 2, 2)).holds(
        "Returns (..., m, d_v)"
    )
    yield Case("one token", _inputs(rng, (1,), 1, 1, 2, 3)).holds("m from 1…")
    yield Case("float32", _inputs(rng, (2,), 2, 4, 3, 3, dtype=np.float32))
    yield Case("large scores", _inputs(rng, (2,), 3, 5, 3, 2, size=40.0)).holds("may be large")
    Q, K, V = _inputs(rng, (2,), 2, 4, 3, 1)
    yield Case("values of one tiny feature", (Q, K, Tensor(V.array * 1e-9))).holds("K: (...…")
    queries, keys, values = (one.array for one in _inputs(rng, (2,), 2, 4, 3, 2))
    low = (1e6 * (np.abs(queries) + 0.1), -1e6 * (np.abs(keys) + 0.1), values)
    given = tuple(Tensor(one, gradient=False) for one in low)
    yield Case("scores below any stand-in for infinity", given)


@continue_attention.hidden
def _(rng):
    m = int(rng.integers(3, 5))
    yield Case("new tokens at the end", _inputs(rng, (2,), m, m + 3, 3, 2))
    yield Case("all tokens are new, as in training", _inputs(rng, (3,), m, m, 2, 4))
    yield Case("one new token", _inputs(rng, (2, 2), 1, m + 2, 3, 3))
    yield Case("three leading axes", _inputs(rng, (2, 1, 3), m, m + 1, 2, 3))
    yield Case("one token", _inputs(rng, (), 1, 1, 2, 3))
    yield Case("float32", _inputs(rng, (2,), m, m + 2, 4, 3, dtype=np.float32))
    yield Case("large scores", _inputs(rng, (2,), m, m + 2, 3, 2, size=40.0))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    m: int,
    n: int,
    d_k: int,
    d_v: int,
    size: float = 1.5,
    dtype: type = np.float64,
) -> tuple[Tensor, ...]:
    """Q, K and V; `size` multiplies the first two."""
    arrays = (
        size * rng.normal(size=(*batch, m, d_k)),
        size * rng.normal(size=(*batch, n, d_k)),
        rng.normal(size=(*batch, n, d_v)),
    )
    return tuple(Tensor(one.astype(dtype)) for one in arrays)
