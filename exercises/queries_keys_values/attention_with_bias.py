"""The exercise `attention_with_bias`: a mask of numbers that are added to the scores. Transfer."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import queries_keys_values as solutions

from .. import forbidden

attention_with_bias = Declaration(
    solutions.attention_with_bias,
    points=3,
    difficulty=4,
    minutes=15,
    kind=Kind.TRANSFER,
    forbidden=forbidden.ATTENTION,
    help=(
        "A mask of booleans is the special case in which the bias is 0 or minus infinity.",
        "Add the bias to the scaled scores. Then ask which keys are left, and what happens to a "
        "row in which no key is left.",
        "Section “Minus infinity, and the row with nothing left”.",
    ),
)


@attention_with_bias.right
def loop(Q, K, V, bias):
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    bias = np.broadcast_to(bias, weights.shape)
    for place in np.ndindex(*Q.shape[:-1]):
        seen = np.flatnonzero(bias[place] > -np.inf)
        if len(seen):
            scores = K[place[:-1]][seen] @ Q[place] / np.sqrt(Q.shape[-1]) + bias[place][seen]
            shares = np.exp(scores - scores.max())
            weights[place][seen] = shares / shares.sum()
    return weights @ V, weights


@attention_with_bias.right
def log_of_the_sum(Q, K, V, bias):
    scores = np.einsum("...id,...jd->...ij", Q / Q.shape[-1] ** 0.5, K) + bias
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(total > -np.inf, total, 0))
    return np.einsum("...ij,...jv->...iv", weights, V), weights


@attention_with_bias.right
def nan_removed(Q, K, V, bias):
    scores = Q @ np.swapaxes(K, -1, -2) * K.shape[-1] ** -0.5
    scores = np.add(scores, bias)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(shares / shares.sum(axis=-1, keepdims=True))
    return np.matmul(weights, V), weights


@attention_with_bias.right
def plain(Q, K, V, bias):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5 + bias
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


attention_with_bias.wrong(
    "the bias is scaled too",
    "By how much should a bias of ln 3 multiply a key's share before the rest is shared out? By "
    "how much does it multiply that share in your function, if keys have four entries?",
    plain.edit(
        "Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5 + bias",
        "(Q @ np.swapaxes(K, -1, -2) + bias) / Q.shape[-1] ** 0.5",
    ),
)
attention_with_bias.wrong(
    "a bias taken for a yes or no",
    "Suppose that two keys have equal scores, and the biases 0 and 1. Are their weights equal?",
    plain.edit("+ bias", "+ np.where(bias == -np.inf, bias, 0)"),
)
attention_with_bias.wrong(
    "the bias subtracted",
    "Should a key with a larger bias get more weight, or less?",
    plain.edit("+ bias", "+ np.where(bias == -np.inf, bias, -bias)"),
)
attention_with_bias.wrong(
    "the bias after the softmax",
    "What does a row of your weights sum to? Which step makes the sum 1?",
    plain.edit(" + bias", "").edit(
        "np.where(total > 0, total, 1)", "np.where(total > 0, total, 1) * np.exp(bias)"
    ),
)
attention_with_bias.wrong(
    "not scaled",
    "What are the dot products divided by, before the bias comes in?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
attention_with_bias.wrong(
    "rows of NaN",
    "Suppose that a query has a bias of minus infinity at every key. What is its largest score, "
    "and what is infinity minus infinity?",
    plain.edit("np.where(np.isfinite(largest), largest, 0)", "largest"),
)
attention_with_bias.wrong(
    "minus infinity made a large negative number",
    "Suppose that a query has a bias of minus infinity at every key. Which weights does the "
    "softmax give for equal scores, and what does the docstring ask for?",
    plain.edit("largest =", "scores = np.where(bias == -np.inf, -1e9, scores)\nlargest ="),
)
attention_with_bias.wrong(
    "overflow",
    "What is exp(1000) in floating point? Which number may you subtract from all scores of a row "
    "without changing its softmax, and when: before or after the bias is added?",
    plain.edit(" - np.where(np.isfinite(largest), largest, 0)", ""),
)
attention_with_bias.wrong(
    "softmax over the queries",
    "Which sums to 1 in your weights, a row or a column?",
    plain.edit("axis=-1", "axis=-2", times=2),
)


HIDDEN = -np.inf


@attention_with_bias.public
def _(rng):
    yield Case("two queries, three keys", _inputs(rng, (), 2, 3, 4, 2, (2, 3))).holds(
        "Q: (..., n_q, d_k), n_q at least 1. K: (..., n_k, d_k). V: (..., n_k, d_v), n_k at "
        "least 1. All three have the same leading axes",
        "Returns (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)",
    )
    *QKV, bias = _inputs(rng, (), 2, 3, 4, 5, (2, 3))
    bias[0, 1] = bias[1, 0] = HIDDEN
    yield Case("some keys hidden", (*QKV, bias)).holds(
        "numbers, which may be large, or minus infinity where a query may not attend",
        "The weights are the softmax of the scaled scores plus the bias, exactly 0 where the "
        "bias is minus infinity",
    )
    *QKV, bias = _inputs(rng, (), 2, 3, 4, 5, (2, 3))
    bias[1] = HIDDEN
    yield Case("a query that may attend to nothing", (*QKV, bias)).holds(
        "A query that may attend to nothing gets weights 0 and output 0"
    )
    Q, K, V, bias = _inputs(rng, (), 3, 4, 5, 2, (4,))
    V[2], bias[2] = 1e30, HIDDEN
    yield Case("a bias of one axis, which hides huge values", (Q, K, V, bias)).holds(
        "broadcastable to the scores (..., n_q, n_k), and perhaps with fewer axes", "The weights…"
    )
    *QKV, bias = _inputs(rng, (2,), 4, 4, 3, 3, (2, 1, 4), np.float32)
    bias[0, 0, 2:] = HIDDEN
    yield Case("float32, a batch, the padding hidden from every query", (*QKV, bias)).holds(
        "broadcastable to…"
    )
    yield Case(
        "three leading batch axes, one of length 1, one bias for all",
        _inputs(rng, (2, 1, 3), 2, 3, 5, 2, (2, 3)),
    ).holds("Q: (...…")
    Q, K, V, bias = _inputs(rng, (1,), 1, 1, 1, 1, (1, 1))
    yield Case(
        "one query and one key in a batch of one, a tiny value", (Q, K, V * 1e-9, bias)
    ).holds("Q: (...…")
    yield Case("large scores", _inputs(rng, (), 3, 4, 5, 2, (3, 4), size=200.0)).holds(
        "Scores may be large"
    )
    Q, K, V, bias = _far_apart(rng)
    yield Case("a large bias against large scores, the largest hidden", (Q, K, V, bias)).holds(
        "numbers, which…"
    )
    *QKV, bias = _inputs(rng, (), 3, 3, 4, 2, (3,))
    yield Case("as many queries as keys, a bias of one axis", (*QKV, bias))
    bias[1] = HIDDEN
    yield Case("a bias below any stand-in for infinity", (*QKV, 1e6 * bias - 1e12))


@attention_with_bias.hidden
def _(rng):
    n_q, n_k, d_k, d_v = (int(one) for one in rng.permutation([2, 3, 5, 6]))
    yield Case("no key hidden", _inputs(rng, (), n_q, n_k, d_k, d_v, (n_q, n_k))).holds(
        "Returns (output…"
    )
    *QKV, bias = _inputs(rng, (2,), n_q, n_k, d_k, d_v, (n_q, n_k))
    bias[:, rng.integers(n_k)] = HIDDEN
    yield Case("some keys hidden", (*QKV, bias))
    *QKV, bias = _inputs(rng, (2,), n_q, n_k, d_k, d_v, (2, n_q, n_k))
    bias[0, rng.integers(n_q)] = HIDDEN
    yield Case("a query that may attend to nothing", (*QKV, bias))
    inputs = _inputs(rng, (2, 3, 1), n_q, n_k, d_k, d_v, (n_q, n_k), np.float32)
    yield Case("float32, three leading batch axes, one of length 1, one bias for all", inputs)
    Q, K, V, bias = _inputs(rng, (2,), n_q, n_k, d_k, d_v, (n_k,))
    one = rng.integers(n_k)
    V[:, one], bias[one] = 1e30, HIDDEN
    yield Case("a bias of one axis, which hides huge values", (Q, K, V, bias))
    yield Case("one query and one key in a batch of one", _inputs(rng, (1,), 1, 1, d_k, 1, (1, 1)))
    yield Case("large scores", _inputs(rng, (), n_q, n_k, d_k, d_v, (n_q, n_k), size=200.0))
    yield Case("a large bias against large scores, the largest hidden", _far_apart(rng))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    bias: tuple[int, ...],
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, ...]:
    """Random Q, K, V and a bias of the shape `bias`; `size` multiplies Q and K."""
    Q, K = rng.normal(size=(*batch, n_q, d_k)) * size, rng.normal(size=(*batch, n_k, d_k)) * size
    V, added = rng.normal(size=(*batch, n_k, d_v)), rng.normal(size=bias) * 2
    return Q.astype(dtype), K.astype(dtype), V.astype(dtype), added.astype(dtype)


def _far_apart(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Scores far apart, which a bias brings to about 0 or -1000; the largest is hidden."""
    order = rng.permutation(4)
    Q = np.array([[3000.0, 0, 0, 0], [0, 3000, 0, 0]])
    K = np.array([[30.0, -20, 0, 0], [20, -30, 0, 0], [33, 10, 0, 0], [10, -20, 0, 0]])
    bias = np.array([[-45e3, -30e3, HIDDEN, -14999], [29e3, 43999, HIDDEN, 29e3]])
    return Q, K[order], rng.normal(size=(4, 3)), bias[:, order]
