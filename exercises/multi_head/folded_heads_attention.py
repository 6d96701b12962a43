"""The exercise `folded_heads_attention`: heads folded into the batch, and a mask. To debug."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

folded_heads_attention = Declaration(
    solutions.folded_heads_attention,
    points=3,
    difficulty=4,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "One line is wrong. The mistake does not show with a single sequence, or with sequences "
        "of equal length, so begin with two sequences of lengths 1 and 2, and two heads.",
        "Number the entries of the folded batch. For each entry, write down its sequence and its "
        "head, and next to them the sequence whose mask it gets.",
        "Section “Split, attend, merge, mix”; for the mask, the appendix, “A mask that meets the "
        "heads”.",
    ),
)


@folded_heads_attention.right
def sequence_by_sequence(Q, K, V, n_heads, lengths):
    batch, n, _ = Q.shape
    merged, tables = np.zeros_like(V), np.zeros((batch, n_heads, n, n), dtype=Q.dtype)
    for one, real in enumerate(lengths):
        parts = (np.split(X[one], n_heads, axis=-1) for X in (Q, K, V))
        found = []
        for h, (q, k, v) in enumerate(zip(*parts, strict=True)):
            scores = q @ k[:real].T / np.sqrt(q.shape[-1])
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            tables[one, h, :, :real] = shares / shares.sum(axis=-1, keepdims=True)
            found.append(tables[one, h] @ v)
        merged[one] = np.hstack(found)
    return merged, tables


@folded_heads_attention.right
def lengths_repeated(Q, K, V, n_heads, lengths):
    batch, n, _ = Q.shape

    def fold(X):
        return np.swapaxes(X.reshape(batch, n, n_heads, -1), 1, 2).reshape(
            -1, n, X.shape[-1] // n_heads
        )

    mask = np.arange(n) < np.repeat(lengths, n_heads)[:, None, None]
    scores = np.einsum("bid,bjd->bij", fold(Q), fold(K)) / (Q.shape[-1] / n_heads) ** 0.5
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    weights = shares / shares.sum(axis=-1, keepdims=True)
    heads = (weights @ fold(V)).reshape(batch, n_heads, n, -1)
    return np.concatenate(list(np.moveaxis(heads, 1, 0)), axis=-1), weights.reshape(
        batch, n_heads, n, n
    )


@folded_heads_attention.right
def heads_first_all_the_way(Q, K, V, n_heads, lengths):
    batch, n, _ = Q.shape
    Q, K, V = (np.concatenate(np.split(X, n_heads, axis=-1)) for X in (Q, K, V))
    mask = np.tile(np.arange(n) < np.reshape(lengths, (-1, 1, 1)), (n_heads, 1, 1))
    scores = Q @ np.swapaxes(K, 1, 2) * Q.shape[-1] ** -0.5
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    merged = np.concatenate(np.split(weights @ V, n_heads), axis=-1)
    return merged, np.swapaxes(weights.reshape(n_heads, batch, n, n), 0, 1).copy()


@folded_heads_attention.right
def plain(Q, K, V, n_heads, lengths):
    batch, n, _ = Q.shape
    Q, K, V = (np.swapaxes(X.reshape(batch, n, n_heads, -1), 1, 2) for X in (Q, K, V))
    real = np.arange(n) < lengths[:, None]
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    scores = np.where(real[:, None, None], scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.swapaxes(weights @ V, 1, 2).reshape(batch, n, -1), weights


@folded_heads_attention.wrong(
    "masks dealt out in turn",
    "Two sequences, two heads: to which sequence and which head does entry 1 of the folded batch "
    "belong? And which sequence's mask does it get?",
    released=True,
)
def masks_in_turn(Q, K, V, n_heads, lengths):
    batch, n, _ = Q.shape

    def fold(X):  # (batch, n, n_heads * d) -> (batch * n_heads, n, d)
        heads = np.swapaxes(X.reshape(batch, n, n_heads, -1), 1, 2)
        return heads.reshape(batch * n_heads, n, -1)

    Q, K, V = fold(Q), fold(K), fold(V)
    mask = np.arange(n) < lengths[:, None, None]  # (batch, 1, n)
    mask = np.tile(mask, (n_heads, 1, 1))  # (batch * n_heads, 1, n)

    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    heads = (weights @ V).reshape(batch, n_heads, n, -1)
    merged = np.swapaxes(heads, 1, 2).reshape(batch, n, -1)
    return merged, weights.reshape(batch, n_heads, n, n)


folded_heads_attention.wrong(
    "mask forgotten",
    "Suppose that one of two tokens is real. Which weight does the other get in your function?",
    plain.edit("scores = np.where(real[:, None, None], scores, -np.inf)", ""),
)
folded_heads_attention.wrong(
    "merged without the transpose",
    "Which heads of which tokens are in the first row of your merged matrix?",
    plain.edit("np.swapaxes(weights @ V, 1, 2)", "(weights @ V)"),
)
folded_heads_attention.wrong(
    "folded heads first, unfolded sequences first",
    "Entry 1 of your folded batch: is it the second head of the first sequence, or the first head "
    "of the second sequence? As which of the two do you treat it when you unfold?",
    masks_in_turn.edit(
        "np.swapaxes(X.reshape(batch, n, n_heads, -1), 1, 2)",
        "np.moveaxis(X.reshape(batch, n, n_heads, -1), 2, 0)",
    ),
)
folded_heads_attention.wrong(
    "one token too many",
    "With a length of 2, which positions are real? Is 2 one of them?",
    plain.edit("np.arange(n) < lengths", "np.arange(n) <= lengths"),
)
folded_heads_attention.wrong(
    "padding that asks gets nothing",
    "Which tokens does the docstring let attend: the real ones, or all of them?",
    plain.edit(
        "np.sum(weights, axis=-1, keepdims=True)",
        "np.sum(weights, axis=-1, keepdims=True) * real[:, None, :, None]",
    ),
)
folded_heads_attention.wrong(
    "scaled by the width of all heads",
    "Over how many features does the dot product of one head sum?",
    plain.edit("Q.shape[-1] ** 0.5", "(n_heads * Q.shape[-1]) ** 0.5"),
)


folded_heads_attention.wrong(
    "unfolded heads first",
    "Entry 1 of your folded batch: is it the second head of the first sequence, or the first head "
    "of the second sequence? As which of the two do you treat it when you unfold?",
    masks_in_turn.edit("np.tile(mask, (n_heads, 1, 1))", "np.repeat(mask, n_heads, axis=0)")
    .edit(
        "(weights @ V).reshape(batch, n_heads, n, -1)",
        "np.swapaxes((weights @ V).reshape(n_heads, batch, n, -1), 0, 1)",
    )
    .edit(
        "weights.reshape(batch, n_heads, n, n)",
        "np.swapaxes(weights.reshape(n_heads, batch, n, n), 0, 1)",
    ),
)


@folded_heads_attention.public
def _(rng):
    yield Case("one sequence, two of three tokens real", _inputs(rng, [2], 3, 2, 2, 2))
    yield Case(
        "two sequences, two heads, one without padding", _inputs(rng, [1, 3], 3, 2, 2, 2)
    ).holds("Every token, real or not, attends to the real tokens of its own sequence")
    yield Case(
        "three sequences, two heads, other values", _inputs(rng, [4, 1, 2], 4, 2, 2, 3)
    ).holds(
        "Q and K: (batch, n, n_heads * d_k). V: (batch, n, n_heads * d_v), n at least 1: already "
        "projected, and not yet split"
    )
    yield Case("two sequences, three heads", _inputs(rng, [2, 1], 2, 3, 2, 1)).holds(
        "Returns (merged, weights) of shapes (batch, n, n_heads * d_v) and (batch, n_heads, n, "
        "n): what the heads found, merged but not mixed, and how they found it"
    )
    yield Case("two sequences, one head", _inputs(rng, [1, 2], 2, 1, 3, 4)).holds(
        "n_heads: at least 1"
    )
    yield Case(
        "two sequences of equal length, three heads", _inputs(rng, [2, 2], 3, 3, 2, 2)
    ).holds(
        "(batch,), whole numbers from 1 to n: how many tokens of each sequence are real; the "
        "real ones come first"
    )
    yield Case("float32", _inputs(rng, [3, 1], 5, 4, 2, 2, np.float32)).holds("Q and K…")
    yield Case("one token, one head, all widths 1", _inputs(rng, [1], 1, 1, 1, 1)).holds("Q and K…")
    Q, K, V, *rest = _inputs(rng, [1, 2], 3, 2, 2, 2)
    yield Case("tiny values", (Q, K, V * 1e-9, *rest)).holds("Returns (merged…")
    yield Case("large scores", _inputs(rng, [3, 2], 4, 2, 3, 2, size=40.0)).holds("Q and K…")
    Q, K, V, *rest = _inputs(rng, [3, 2], 4, 2, 3, 2)
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V, *rest)
    yield Case("scores below any stand-in for infinity", low)


@folded_heads_attention.hidden
def _(rng):
    (n_heads, d_k), n = (int(size) for size in rng.permutation([2, 3])), int(rng.integers(4, 6))
    lengths = rng.permutation(n) + 1
    yield Case("a sequence of every length", _inputs(rng, lengths, n, n_heads, d_k, 2)).holds(
        "(batch,), whole…"
    )
    lengths = 1 + rng.permutation(n_heads)
    yield Case("as many sequences as heads", _inputs(rng, lengths, n, n_heads, d_k, d_k)).holds(
        "Every token…"
    )
    yield Case("two sequences of equal length", _inputs(rng, [2, 2], n, n_heads, d_k, d_k))
    yield Case("one head", _inputs(rng, [1, 2], n, 1, d_k, 5)).holds("n_heads: at…")
    yield Case("float32", _inputs(rng, [2, 1, 1], n, n_heads, d_k, 3, np.float32))
    yield Case("one token", _inputs(rng, [1, 1], 1, n_heads, d_k, d_k))
    yield Case("large scores", _inputs(rng, [2, 1], n, n_heads, d_k, 3, size=40.0))


def _inputs(
    rng: np.random.Generator,
    lengths: list[int] | np.ndarray,
    n: int,
    n_heads: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[Any, ...]:
    """Random Q, K and V, the number of heads, and the lengths; `size` multiplies Q and K."""
    batch = len(lengths)
    Q, K = (rng.normal(size=(batch, n, n_heads * d_k)) * size for _ in range(2))
    V = rng.normal(size=(batch, n, n_heads * d_v))
    return Q.astype(dtype), K.astype(dtype), V.astype(dtype), n_heads, np.asarray(lengths)
