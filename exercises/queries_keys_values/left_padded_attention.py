"""The exercise `left_padded_attention`: two masks, and how they are put together. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import queries_keys_values as solutions

left_padded_attention = Declaration(
    solutions.left_padded_attention,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Everything is right except one operation. Find the smallest input on which the weights "
        "are not what they should be, and look at its mask.",
        "Run it on one sequence of three tokens without padding, and print the mask. Which of its "
        "nine entries should be True?",
        "Section “Masks”.",
    ),
)


@left_padded_attention.right
def loop(Q, K, V, lengths):
    batch, n, d_k = Q.shape
    weights = np.zeros((batch, n, n))
    for one in range(batch):
        first = n - lengths[one]
        for i in range(first, n):
            scores = K[one, first : i + 1] @ Q[one, i] / np.sqrt(d_k)
            shares = np.exp(scores - scores.max())
            weights[one, i, first : i + 1] = shares / shares.sum()
    return weights @ V, weights


@left_padded_attention.right
def hidden_removed(Q, K, V, lengths):
    n, d_k = Q.shape[-2:]
    future = np.triu(np.ones((n, n), dtype=bool), k=1)
    padding = np.arange(n)[None, None, :] < (n - lengths).reshape(-1, 1, 1)
    scores = np.einsum("bid,bjd->bij", Q, K) * d_k**-0.5
    scores[future | padding] = -np.inf
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights[np.isnan(weights)] = 0
    return weights @ V / np.maximum(weights.sum(-1, keepdims=True), 1e-30), weights / np.maximum(
        weights.sum(-1, keepdims=True), 1e-30
    )


@left_padded_attention.right
def masks_multiplied(Q, K, V, lengths):
    n, d_k = Q.shape[-2:]
    past = np.tril(np.ones((n, n), dtype=int))
    real = np.array([[0] * (n - length) + [1] * length for length in lengths]).reshape(-1, 1, n)
    mask = (past * real).astype(bool)
    scores = Q @ np.swapaxes(K, -1, -2) / d_k**0.5
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return weights @ V, weights


@left_padded_attention.wrong(
    "one of the two conditions is enough",
    "Write down row 0 of the mask for three real tokens. Which tokens may the first one see? In "
    "some libraries True means “hidden”: which operator joins two masks there, and which one "
    "joins them here?",
    released=True,
)
def given(Q, K, V, lengths):
    n, d_k = Q.shape[-2:]
    positions = np.arange(n)
    past = positions <= positions[:, None]  # (n, n)
    real = positions >= n - lengths[:, None, None]  # (batch, 1, n)
    mask = past | real  # (batch, n, n)

    scores = Q @ np.swapaxes(K, -1, -2) / d_k**0.5
    scores = np.where(mask, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)  # a row with nothing to attend to
    weights = np.exp(scores - largest)
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


plain = left_padded_attention.right(given.edit("past | real", "past & real"))
left_padded_attention.wrong(
    "padding at the end",
    "With two real tokens of three, which positions are real here: 0 and 1, or 1 and 2?",
    plain.edit("positions >= n - lengths", "positions < lengths"),
)
left_padded_attention.wrong(
    "padding seen",
    "Take the first real token of a padded sequence. How many keys may it attend to, and how many "
    "does it attend to in your weights?",
    plain.edit("past & real", "past"),
)
left_padded_attention.wrong(
    "future seen",
    "May the first real token attend to the second?",
    plain.edit("past & real", "real"),
)
left_padded_attention.wrong(
    "a token may not see itself",
    "What may the first real token attend to in your mask?",
    plain.edit("positions <= positions", "positions < positions"),
)
left_padded_attention.wrong(
    "rows of NaN",
    "Suppose that the first position is padding. What is the largest score of its row, and what "
    "is infinity minus infinity?",
    plain.edit(
        "largest = np.where(np.isfinite(largest), largest, 0)  # a row with nothing to attend to",
        "",
    ),
)
left_padded_attention.wrong(
    "padding that asks gets equal weights",
    "Suppose that the first position is padding, so all scores of its row are equal. Which "
    "weights does the softmax give for equal scores, and what does the docstring ask for?",
    plain.edit("-np.inf", "-1e9"),
)


@left_padded_attention.public
def _(rng):
    yield Case("one sequence, two of three tokens real", _inputs(rng, [2], 3, 2, 2)).holds(
        "A token attends to itself and to the tokens before it, and of these to the real ones only",
        "Padding that asks has nothing to attend to: it gets weights 0 and output 0",
    )
    yield Case("two sequences, one without padding", _inputs(rng, [4, 2], 4, 3, 5)).holds(
        "Q and K: (batch, n, d_k). V: (batch, n, d_v), n at least 1",
        "Returns (output, weights) of shapes (batch, n, d_v) and (batch, n, n)",
    )
    yield Case("a sequence of padding only", _inputs(rng, [0, 2], 3, 2, 3)).holds(
        "(batch,), whole numbers from 0 to n: how many tokens of each sequence are real; the "
        "real ones come last",
        "Padding that…",
    )
    yield Case("as many sequences as tokens", _inputs(rng, [1, 3, 2], 3, 2, 2)).holds(
        "(batch,), whole…"
    )
    yield Case("float32", _inputs(rng, [3, 1], 5, 4, 2, np.float32)).holds("Q and K…")
    Q, K, V, lengths = _inputs(rng, [0, 1], 1, 2, 3)
    yield Case(
        "one token, real in the second sequence only, tiny", (Q, K, V * 1e-9, lengths)
    ).holds("Q and K…")
    yield Case("large scores", _inputs(rng, [3, 4], 4, 3, 2, size=40.0)).holds(
        "Scores may be large"
    )
    yield Case("large scores, the largest hidden", _hidden_is_largest(rng)).holds(
        "Scores may…", "A token attends…"
    )
    Q, K, V, lengths = _inputs(rng, [3, 2], 4, 3, 2)
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V, lengths)
    yield Case("scores below any stand-in for infinity", low)


@left_padded_attention.hidden
def _(rng):
    n, d_k, d_v = (int(one) for one in rng.permutation([4, 5, 6]))
    yield Case("sequences of several lengths", _inputs(rng, rng.integers(1, n, 3), n, d_k, d_v))
    yield Case("as many sequences as tokens", _inputs(rng, rng.integers(0, n, n), n, d_k, d_k))
    yield Case("a sequence of padding only", _inputs(rng, rng.permutation([0, n]), n, d_k, d_v))
    lengths = rng.permutation([n - 1, 2])
    yield Case("float32", _inputs(rng, lengths, n, d_k, d_v, np.float32))
    yield Case("one token", _inputs(rng, rng.permutation([0, 1, 1]), 1, d_k, d_v))
    yield Case("large scores", _inputs(rng, lengths, n, d_k, d_v, size=40.0))
    yield Case("large scores, the largest hidden", _hidden_is_largest(rng))


def _inputs(
    rng: np.random.Generator,
    lengths: list[int] | np.ndarray,
    n: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, ...]:
    """Random Q, K and V, and the lengths; `size` multiplies Q and K."""
    batch = len(lengths)
    Q, K = rng.normal(size=(batch, n, d_k)) * size, rng.normal(size=(batch, n, d_k)) * size
    V = rng.normal(size=(batch, n, d_v))
    return Q.astype(dtype), K.astype(dtype), V.astype(dtype), np.asarray(lengths)


def _hidden_is_largest(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Padding and the future match far better than what a token may attend to."""
    Q, K, V, lengths = _inputs(rng, [2, 2], 4, 3, 2)
    Q[..., 0], K[..., 0] = 100.0, np.array([90.0, 90.0, -20.0, -19.9])
    return Q, K, V, lengths
