"""The exercise `head_asymmetry`: how far a head's score is from symmetric."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import looking_up as solutions

head_asymmetry = Declaration(
    solutions.head_asymmetry,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "The score of the tokens x and y is x W_q · y W_k. Write it as x M yᵀ: what is M, and what "
        "is its transpose?",
        "`M = W_q @ np.swapaxes(W_k, -1, -2)`, for any leading axes. Take the antisymmetric part, "
        "and divide one sum of squares by the other, a sum for each head.",
        "Section “Heads of a published model”.",
    ),
)


@head_asymmetry.right
def traces(W_q, W_k):
    G_q, G_k = np.swapaxes(W_q, -1, -2) @ W_q, np.swapaxes(W_k, -1, -2) @ W_k
    C = np.swapaxes(W_k, -1, -2) @ W_q
    norm = np.trace(G_q @ G_k, axis1=-2, axis2=-1)
    return 0.5 - 0.5 * np.trace(C @ C, axis1=-2, axis2=-1) / norm


@head_asymmetry.right
def einsum(W_q, W_k):
    norm = np.einsum(
        "...ab,...ab->...",
        np.einsum("...da,...db->...ab", W_q, W_q),
        np.einsum("...da,...db->...ab", W_k, W_k),
    )
    cross = np.einsum("...da,...db->...ab", W_k, W_q)
    return (norm - np.einsum("...ab,...ba->...", cross, cross)) / (2 * norm)


@head_asymmetry.right
def in_a_small_basis(W_q, W_k):
    # an orthonormal basis of all columns: M has the same norm in it, and so has M - Mᵀ
    Q, _ = np.linalg.qr(np.concatenate([W_q, W_k], axis=-1))
    small_q, small_k = np.swapaxes(Q, -1, -2) @ W_q, np.swapaxes(Q, -1, -2) @ W_k
    M = small_q @ np.swapaxes(small_k, -1, -2)
    part = (M - np.swapaxes(M, -1, -2)) / 2
    return (part**2).sum(axis=(-2, -1)) / (M**2).sum(axis=(-2, -1))


@head_asymmetry.right
def direct(W_q, W_k):
    M = W_q @ np.swapaxes(W_k, -1, -2)
    part = (M - np.swapaxes(M, -1, -2)) / 2
    return (part**2).sum(axis=(-2, -1)) / (M**2).sum(axis=(-2, -1))


@head_asymmetry.right
def plain(W_q, W_k):
    T_q, T_k = np.swapaxes(W_q, -1, -2), np.swapaxes(W_k, -1, -2)
    norm = ((T_q @ W_q) * (T_k @ W_k)).sum(axis=(-2, -1))
    mixed = T_k @ W_q
    together = (mixed * np.swapaxes(mixed, -1, -2)).sum(axis=(-2, -1))
    return (1 - together / norm) / 2


head_asymmetry.wrong(
    "never halved",
    "The antisymmetric part is (M - Mᵀ) / 2. What is its share if M = -Mᵀ?",
    plain.edit("(1 - together / norm) / 2", "1 - together / norm"),
)
head_asymmetry.wrong(
    "the share of the symmetric part",
    "Which value should come out if W_q and W_k are the same?",
    plain.edit("(1 - together / norm) / 2", "(1 + together / norm) / 2"),
)
head_asymmetry.wrong(
    "the norm of one matrix only",
    "The norm of M is not the norm of W_q. Multiply W_k by 2: should your answer change?",
    plain.edit("(T_q @ W_q) * (T_k @ W_k)", "(T_q @ W_q) ** 2"),
)
head_asymmetry.wrong(
    "the product of the two norms for the norm of the product",
    "Is the norm of W_q W_kᵀ the product of the norms of W_q and W_k? Try two columns at a right "
    "angle.",
    plain.edit(
        "((T_q @ W_q) * (T_k @ W_k)).sum(axis=(-2, -1))",
        "(W_q**2).sum(axis=(-2, -1)) * (W_k**2).sum(axis=(-2, -1))",
    ),
)
head_asymmetry.wrong(
    "the mixed product with itself, not with its transpose",
    "⟨M, Mᵀ⟩ is the trace of M M. Which entries of W_kᵀ W_q meet in it?",
    plain.edit("mixed * np.swapaxes(mixed, -1, -2)", "mixed * mixed"),
)
head_asymmetry.wrong(
    "a root of the share",
    "The docstring asks for a share of the squared norm. Did you take a root?",
    plain.edit("(1 - together / norm) / 2", "np.sqrt(np.maximum((1 - together / norm) / 2, 0))"),
)
head_asymmetry.wrong(
    "all heads in one sum",
    "How many numbers should come back for three heads?",
    plain.edit("axis=(-2, -1)", "axis=None", times=2),
)


@head_asymmetry.public
def _(rng):
    one = np.eye(2)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    yield Case("a quarter turn, M = -Mᵀ", (one, turn)).holds("to 1 for M = -M^T")
    yield Case("half a turn of half the plane", (one, one + turn)).holds(
        "Returns the share of the antisymmetric part (M - M^T) / 2 in the squared norm of M, the "
        "sum of the squares of its entries"
    )
    yield Case("two symmetric heads and a random one", _symmetric_and_not(rng, 5, 3)).holds(
        "from 0 for a symmetric M"
    )
    yield Case("random matrices", (rng.normal(size=(6, 2)), rng.normal(size=(6, 2)))).holds(
        "M = W_q W_k^T, of shape (..., d, d), gives the score of tokens x and y as x M y^T"
    )
    yield Case(
        "three heads of unequal size", _heads(rng, (3,), 7, 2, np.array([1, 10, 0.1]))
    ).holds("W_q and W_k: (..., d, d_k), any leading axes", "shape (...)")
    yield Case("three leading axes, float32", _heads(rng, (2, 1, 3), 5, 2, dtype=np.float32)).holds(
        "W_q and…", "shape (...)"
    )
    yield Case("a batch of one", _heads(rng, (1,), 2, 1)).holds("M is not 0")
    yield Case("tiny matrices", _heads(rng, (2,), 5, 3, 1e-7)).holds("Returns the…")


@head_asymmetry.hidden
def _(rng):
    d, d_k = (int(size) for size in rng.permutation([6, 9]))
    yield Case("random matrices", _heads(rng, (), d, d_k))
    heads = int(rng.integers(2, 6))
    sizes = 10.0 ** rng.uniform(-2, 2, size=heads)
    yield Case("heads of unequal size", _heads(rng, (heads,), d, d_k, sizes))
    yield Case("two symmetric heads and a random one", _symmetric_and_not(rng, d, d_k))
    yield Case("float32, leading axes", _heads(rng, (2, 3, 1), d, 2, dtype=np.float32))


def _symmetric_and_not(rng: np.random.Generator, d: int, d_k: int) -> tuple[np.ndarray, np.ndarray]:
    """Three heads: an inner product, a symmetric M that is none, and random matrices."""
    W_q = rng.normal(size=(3, d, d_k))
    W_k = W_q.copy()
    W_k[1, :, 0] *= -1
    W_k[2] = rng.normal(size=(d, d_k))
    return W_q, W_k


def _heads(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    d: int,
    d_k: int,
    sizes: float | np.ndarray = 1.0,
    dtype: type = np.float64,
) -> tuple[np.ndarray, np.ndarray]:
    """Random W_q and W_k, correlated, and multiplied by the size of their head."""
    W_q, W_k = rng.normal(size=(2, *batch, d, d_k))
    factor = np.asarray(sizes)[..., None, None]
    return (factor * W_q).astype(dtype), (factor * (W_k + 0.5 * W_q)).astype(dtype)
