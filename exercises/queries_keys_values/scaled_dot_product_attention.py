"""The exercise `scaled_dot_product_attention`: the layer itself."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import queries_keys_values as solutions

from .. import forbidden

scaled_dot_product_attention = Declaration(
    solutions.scaled_dot_product_attention,
    points=4,
    difficulty=3,
    minutes=25,
    forbidden=forbidden.ATTENTION,
    help=(
        "Compute the scores, scale them, apply the mask, take the softmax along the keys, and "
        "form the weighted sum of the values. Return both results.",
        "`np.swapaxes(K, -1, -2)` swaps the last two axes and leaves the batch alone. Give hidden "
        "keys a score whose exponential is exactly 0, and ask what then happens to a row in which "
        "every key is hidden: what is its largest score, and what do its exponentials sum to?",
        "Sections “The attention layer” and “Masks”.",
    ),
)


@scaled_dot_product_attention.right
def loop(Q, K, V, mask=None):
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    mask = np.ones(weights.shape, dtype=bool) if mask is None else mask
    mask = np.broadcast_to(mask, weights.shape)
    for place in np.ndindex(*Q.shape[:-1]):
        seen = np.flatnonzero(mask[place])
        if len(seen) == 0:
            continue
        scores = K[place[:-1]][seen] @ Q[place] / np.sqrt(Q.shape[-1])
        shares = np.exp(scores - scores.max())
        weights[place][seen] = shares / shares.sum()
    return weights @ V, weights


@scaled_dot_product_attention.right
def einsum(Q, K, V, mask=None):
    scores = np.einsum("...id,...jd->...ij", Q / Q.shape[-1] ** 0.5, K)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    return np.einsum("...ij,...jv->...iv", weights, V), weights


@scaled_dot_product_attention.right
def keys_down_the_side(Q, K, V, mask=None):
    scores = K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1])
    allowed = np.ones(1, dtype=bool) if mask is None else mask
    shape = (*scores.shape[:-2], scores.shape[-1], scores.shape[-2])
    allowed = np.swapaxes(np.broadcast_to(allowed, shape), -1, -2)
    largest = np.where(allowed, scores, -1e300).max(axis=-2, keepdims=True)
    shares = np.exp(np.where(allowed, scores - largest, -1e300))
    shares = np.where(allowed, shares, 0)
    weights = np.swapaxes(shares / np.maximum(shares.sum(axis=-2, keepdims=True), 1e-300), -1, -2)
    return weights @ V, weights


@scaled_dot_product_attention.right
def plain(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


@scaled_dot_product_attention.wrong(
    "minus a billion added, and the mask applied again",
    "Suppose that a hidden score is 1e12 above all others in its row. Which score of the row is "
    "the largest after you have added -1e9, and what is left of the weights that may be seen?",
)
def in_two_steps(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights


first_step_only = in_two_steps.edit("if mask is not None:\n    weights = weights * mask", "")
scaled_dot_product_attention.wrong(
    "minus a billion put in, and the mask applied again",
    "Suppose that all scores of a row are near -1e12. Which of them is the largest after you have "
    "put -1e9 where the mask is False, and what is left of the weights that may be seen?",
    in_two_steps.edit("scores + np.where(mask, 0.0, -1e9)", "np.where(mask, scores, -1e9)"),
)
scaled_dot_product_attention.wrong(
    "no scale",
    "How large are the scores when d_k = 512? What does the softmax do with such scores?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
scaled_dot_product_attention.wrong(
    "scaled by d instead of its root",
    "The variance of a score grows like d_k. How does its standard deviation grow?",
    plain.edit("Q.shape[-1] ** 0.5", "Q.shape[-1]"),
)
scaled_dot_product_attention.wrong(
    "scaled by the width of the values",
    "Over which axis does the dot product of a query and a key sum? How long is that axis?",
    plain.edit("Q.shape", "V.shape"),
)
scaled_dot_product_attention.wrong(
    "scaled by the number of keys",
    "Over which axis does the dot product of a query and a key sum? Is the length of that axis "
    "the number of keys?",
    plain.edit("Q.shape[-1]", "K.shape[-2]"),
)
scaled_dot_product_attention.wrong(
    "scaled after the softmax",
    "Sum a row of your weights. Does it still sum to 1?",
    plain.edit(" / Q.shape[-1] ** 0.5", "").edit(
        "np.where(total > 0, total, 1)", "np.where(total > 0, total, 1) / Q.shape[-1] ** 0.5"
    ),
)
scaled_dot_product_attention.wrong(
    "softmax over the queries",
    "Sum your weights along each axis. Which should share out a total of 1, each query or each "
    "key?",
    plain.edit("axis=-1", "axis=-2", times=2),
)
scaled_dot_product_attention.wrong(
    "a plain transpose",
    "What does `.T` do to an array of shape (batch, n, d)? Which two axes did you mean to swap?",
    plain.edit("np.swapaxes(K, -1, -2)", "K.T"),
)
scaled_dot_product_attention.wrong(
    "keys and values swapped",
    "Which of K and V is compared with the query, and which is passed on?",
    plain.edit("np.swapaxes(K, -1, -2)", "np.swapaxes(V, -1, -2)").edit(
        "weights @ V", "weights @ K"
    ),
)
scaled_dot_product_attention.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from a row of scores without changing its "
    "weights?",
    plain.edit("scores - largest", "scores"),
)
scaled_dot_product_attention.wrong(
    "mask inverted",
    "In this course True means “may attend”. Where the mask is True, is your weight 0?",
    plain.edit("True if mask is None else mask", "True if mask is None else ~mask"),
)
scaled_dot_product_attention.wrong(
    "mask ignored",
    "Does your answer change when the mask does?",
    plain.edit("True if mask is None else mask", "True"),
)
scaled_dot_product_attention.wrong(
    "score 0 where masked",
    "What is the exponential of a score of 0? What score would give a weight of exactly 0?",
    first_step_only.edit("scores + np.where(mask, 0.0, -1e9)", "scores * mask"),
)
scaled_dot_product_attention.wrong(
    "weights multiplied by the mask",
    "Sum a masked row of your weights. What happened to the share that the hidden keys were given?",
    in_two_steps.edit("if mask is not None:\n    scores = scores + np.where(mask, 0.0, -1e9)", ""),
)
scaled_dot_product_attention.wrong(
    "hidden after the exponential",
    "This is right while scores are small. Suppose that a hidden score is 1000 above all others "
    "in its row. What do you subtract before the exponential, and what is left?",
    plain.edit(
        "np.where(mask, scores - largest, -1e30)", "scores - scores.max(axis=-1, keepdims=True)"
    ),
)
scaled_dot_product_attention.wrong(
    "mask added to the scores",
    "Which numbers are True and False in a sum? By how much does that change a score?",
    first_step_only.edit("scores + np.where(mask, 0.0, -1e9)", "scores + mask"),
)
scaled_dot_product_attention.wrong(
    "minus a billion instead of minus infinity",
    "Take a query that may attend to nothing. All scores of its row are then equal: which weights "
    "does the softmax give for equal scores?",
    first_step_only.edit("scores + np.where(mask, 0.0, -1e9)", "np.where(mask, scores, -1e9)"),
)
scaled_dot_product_attention.wrong(
    "minus a billion added to the score",
    "Take a query that may attend to nothing. If every score falls by the same amount, do the "
    "weights change?",
    first_step_only,
)
scaled_dot_product_attention.wrong(
    "minus infinity and nothing else",
    "Take a query that may attend to nothing. What is the largest score of its row, and what is "
    "infinity minus infinity?",
    first_step_only.edit("scores + np.where(mask, 0.0, -1e9)", "np.where(mask, scores, -np.inf)"),
)
scaled_dot_product_attention.wrong(
    "weights returned first",
    "In which order does the docstring return the output and the weights?",
    plain.edit("weights @ V, weights", "weights, weights @ V"),
)


scaled_dot_product_attention.wrong(
    "softmax over the first axis",
    "Which axis of the scores counts the keys? Is that the first axis when there is a batch?",
    plain.edit("axis=-1", "axis=0", times=2),
)


scaled_dot_product_attention.wrong(
    "the lowest number instead of minus infinity",
    "No score is below that number. But take a query that may attend to nothing: its scores are "
    "all equal. Which weights does the softmax give for equal scores?",
    first_step_only.edit("scores + np.where(mask, 0.0, -1e9)", "np.where(mask, scores, -1e30)"),
)
scaled_dot_product_attention.wrong(
    "softmax over the second axis",
    "Axis 1 counts the keys in a table of scores. Which axis counts them if there is a batch?",
    plain.edit("axis=-1", "axis=1", times=2),
)
scaled_dot_product_attention.wrong(
    "scaled by the number of queries",
    "Over which axis does the dot product of a query and a key sum? Is the length of that axis "
    "the number of queries?",
    plain.edit("/ Q.shape[-1]", "/ Q.shape[-2]"),
)
scaled_dot_product_attention.wrong(
    "scaled by the second axis",
    "Axis 1 of a table of queries holds their features. Which axis holds them if there is a batch?",
    plain.edit("/ Q.shape[-1]", "/ Q.shape[1]"),
)
scaled_dot_product_attention.wrong(
    "scaled by the fourth root",
    "Divide the queries by the fourth root of d_k and the keys as well: by what is their product "
    "divided? By what is yours?",
    plain.edit("** 0.5", "** 0.25"),
)
scaled_dot_product_attention.wrong(
    "the mask for the weights alone",
    "Multiply the weights that you return by V. Is the product the output that you return?",
    plain.edit(
        "return weights @ V, weights",
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
        "return shares / shares.sum(axis=-1, keepdims=True) @ V, weights",
    ),
)
scaled_dot_product_attention.wrong(
    "scores returned in place of weights",
    "Sum a row of the second result that you return. Is the sum 1?",
    plain.edit("weights @ V, weights", "weights @ V, np.where(mask, scores, -np.inf)"),
)
scaled_dot_product_attention.wrong(
    "what is hidden as a key hidden as a query, too",
    "A mask says for each query which keys it may attend to. Which queries of yours get weights 0 "
    "though their row of the mask is True somewhere?",
    plain.edit(
        "largest =",
        "if scores.shape[-1] == scores.shape[-2]:\n"
        "    mask = mask & np.swapaxes(mask, -1, -2)\n"
        "largest =",
    ),
)
scaled_dot_product_attention.wrong(
    "multiplied by the root",
    "With d_k = 64, the scores have a standard deviation of 8. What should it be before the "
    "softmax, and what is it in your function?",
    plain.edit("/ Q.shape[-1]", "* Q.shape[-1]"),
)


@scaled_dot_product_attention.public
def _(rng):
    yield Case("two queries, three keys", _inputs(rng, (), 2, 3, 4, 2)).holds(
        "Q: (..., n_q, d_k), n_q at least 1. K: (..., n_k, d_k). V: (..., n_k, d_v), n_k at "
        "least 1",
        "Returns (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)",
    )
    mask = np.array([[True, False, True], [True, True, False]])
    yield Case("a mask", _inputs(rng, (), 2, 3, 4, 2), {"mask": mask}).holds(
        "Each row of the weights sums to 1, and is exactly 0 where the mask is False"
    )
    mask = np.array([[True, True, False], [False, False, False]])
    yield Case(
        "a query that may attend to nothing", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask}
    ).holds("A query that may attend to nothing gets weights 0 and output 0")
    Q, K, V = _inputs(rng, (1,), 1, 1, 1, 1)
    yield Case("one query and one key in a batch of one, a tiny value", (Q, K, V * 1e-9)).holds(
        "Q: (...…"
    )
    Q, K, V = _inputs(rng, (), 2, 3, 4, 5)
    V[1] = 1e30
    mask = np.array([True, False, True])
    yield Case("a mask of one axis, which hides huge values", (Q, K, V), {"mask": mask}).holds(
        "boolean, broadcastable to the scores (..., n_q, n_k), and perhaps with fewer axes",
        "Each row…",
    )
    mask = np.array([[True], [False]])
    yield Case("a mask with one column", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask}).holds(
        "boolean, broadcastable…", "A query that…"
    )
    mask = np.array([[True, True, False], [False, True, True]])
    inputs = _inputs(rng, (2, 1, 3), 2, 3, 4, 5)
    yield Case(
        "three leading batch axes, one of length 1, one mask for all", (*inputs, mask)
    ).holds("All three have the same leading axes", "boolean, broadcastable…")
    yield Case("large scores", _inputs(rng, (), 3, 4, 5, 2, size=200.0)).holds(
        "Scores may be large, above 0 or below"
    )
    Q, K, V, mask = _far_apart(rng)
    yield Case(
        "large scores, some equal, some below 0, the largest hidden", (Q, K, V), {"mask": mask}
    ).holds("Scores may…", "Each row…")
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2,), 4, 4, 3, 3, np.float32)
    yield Case("float32, a batch, the padding hidden from every query", (*inputs, mask)).holds(
        "All three…", "boolean, broadcastable…"
    )
    Q, K, V = _inputs(rng, (), 3, 3, 4, 2)
    K[0] = 0
    mask = np.array([True, True, False])
    yield Case("a key of zeros, as many queries as keys, a mask of one axis", (Q, K, V, mask))
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V)
    hidden_one = ~np.eye(3, dtype=bool)  # the first query may not see its largest score
    yield Case("scores below any stand-in for infinity", low, {"mask": hidden_one}).holds("Scores…")


@scaled_dot_product_attention.hidden
def _(rng):
    n_q, n_k, d_k, d_v = rng.permutation([2, 3, 5, 6])  # no root of one is another
    yield Case("no mask", _inputs(rng, (), n_q, n_k, d_k, d_v)).holds(
        "Q: (...…", "None lets every query attend to every key", "Returns (output…"
    )
    yield Case("a mask", _inputs(rng, (), n_q, n_k, d_k, d_v), {"mask": _mask(rng, n_q, n_k)})
    mask = _mask(rng, n_q, n_k)
    mask[0] = False
    inputs = _inputs(rng, (), n_q, n_k, d_k, d_v)
    yield Case("a query that may attend to nothing", inputs, {"mask": mask})
    yield Case("large scores", _inputs(rng, (), n_q, n_k, d_k, d_v, size=200.0))
    inputs = _inputs(rng, (2, 3, 1), n_k, n_k, d_k, d_k, np.float32)
    yield Case(
        "float32, three leading batch axes, one of length 1, one mask for all",
        (*inputs, _mask(rng, n_k, n_k)),
    )
    yield Case("one query and one key in a batch of one", _inputs(rng, (1,), 1, 1, d_k, 1)).holds(
        "Q: (...…"
    )
    Q, K, V = _inputs(rng, (2,), n_q, n_k, d_k, d_v)
    mask = _mask(rng, 1, n_k)[0]
    V[:, ~mask] = 1e30
    yield Case("a mask of one axis, which hides huge values", (Q, K, V), {"mask": mask})
    mask = np.arange(n_q)[:, None] % 2 == 0
    inputs = _inputs(rng, (2,), n_q, n_k, d_k, d_v)
    yield Case("a mask with one column", inputs, {"mask": mask})
    Q, K, V, mask = _far_apart(rng)
    yield Case(
        "large scores, some equal, some below 0, the largest hidden", (Q, K, V), {"mask": mask}
    )
    Q, K, V = _inputs(rng, (), n_q, n_k, d_k, d_v)
    K[0], mask = 0, _mask(rng, n_q, n_k)
    mask[:, 0] = True  # the largest score,
    mask[0] = np.arange(n_k) > 0  # which only the first query may not see
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V, mask)
    yield Case("scores below any stand-in for infinity", low)


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, ...]:
    """Random Q, K and V; `size` multiplies Q and K."""
    Q, K = rng.normal(size=(*batch, n_q, d_k)) * size, rng.normal(size=(*batch, n_k, d_k)) * size
    return Q.astype(dtype), K.astype(dtype), rng.normal(size=(*batch, n_k, d_v)).astype(dtype)


def _far_apart(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Q, K, V and a mask, keys in random order: scores from -50 000 to 50 000, the best hidden."""
    Q = np.array([[2000.0, 0, 0, 0], [0, 2000, 0, 0]])
    order = rng.permutation(4)
    K = np.array([[30.0, -20, 0, 0], [30, -50, 0, 0], [50, 10, 0, 0], [10, -20, 0, 0]])[order]
    mask = np.array([[True, True, False, True], [True, True, False, True]])[:, order]
    return Q, K, rng.normal(size=(4, 3)), mask


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))
