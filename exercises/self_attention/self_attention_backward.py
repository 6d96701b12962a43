"""The exercise `self_attention_backward`: one matrix in three roles, differentiated by hand."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import self_attention as solutions

from .. import forbidden

self_attention_backward = Declaration(
    solutions.self_attention_backward,
    points=5,
    difficulty=5,
    minutes=40,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Each token is read in three roles. Give the matrix a different name in each role, "
        "differentiate with respect to each, and add the three results.",
        "Write Q Kᵀ, softmax, weights V with Q = K = V = X. For a product A = B C the gradients "
        "are d_B = d_A Cᵀ and d_C = Bᵀ d_A. For one row of the softmax, ∂w_j/∂s_k = "
        "w_j (δ_jk - w_k).",
        "Section “All words at once”; “What you need”, the chain rule.",
    ),
)


@self_attention_backward.right
def query_by_query(X, d_Y):
    d_X = np.zeros_like(X)
    for place in np.ndindex(*X.shape[:-1]):
        tokens, query, arrives = X[place[:-1]], X[place], d_Y[place]
        shares = np.exp(tokens @ query - np.max(tokens @ query))
        weights = shares / shares.sum()
        jacobian = np.diag(weights) - np.outer(weights, weights)
        d_scores = jacobian @ (tokens @ arrives)
        d_X[place] += d_scores @ tokens
        d_X[place[:-1]] += np.outer(d_scores, query) + np.outer(weights, arrives)
    return d_X


@self_attention_backward.right
def einsum(X, d_Y):
    scores = np.einsum("...id,...jd->...ij", X, X)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    centred = X[..., None, :, :] - np.einsum("...ij,...jd->...id", weights, X)[..., None, :]
    d_scores = weights * np.einsum("...id,...ijd->...ij", d_Y, centred)
    return (
        np.einsum("...ij,...id->...jd", weights, d_Y)
        + np.einsum("...ij,...jd->...id", d_scores, X)
        + np.einsum("...ij,...id->...jd", d_scores, X)
    )


@self_attention_backward.right
def from_the_output(X, d_Y):
    by_key = X @ np.swapaxes(X, -1, -2)  # (..., key, query)
    shares = np.exp(by_key - by_key.max(axis=-2, keepdims=True))
    shares = shares / shares.sum(axis=-2, keepdims=True)
    base = X - X.mean(axis=-2, keepdims=True)
    output = np.swapaxes(shares, -1, -2) @ base
    d_by_key = shares * (base @ np.swapaxes(d_Y, -1, -2) - np.sum(d_Y * output, -1)[..., None, :])
    return shares @ d_Y + (d_by_key + np.swapaxes(d_by_key, -1, -2)) @ X


@self_attention_backward.right
def plain(X, d_Y):
    scores = X @ np.swapaxes(X, -1, -2)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    d_weights = d_Y @ np.swapaxes(X, -1, -2)
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))
    return np.swapaxes(weights, -1, -2) @ d_Y + (d_scores + np.swapaxes(d_scores, -1, -2)) @ X


self_attention_backward.wrong(
    "the weights taken for constants",
    "Change one token a little. Do the weights stay as they were?",
    plain.edit(" + (d_scores + np.swapaxes(d_scores, -1, -2)) @ X", ""),
)
self_attention_backward.wrong(
    "not as a value",
    "Suppose that the weights could not change. Would the outputs still change with a token?",
    plain.edit("np.swapaxes(weights, -1, -2) @ d_Y + ", ""),
)
self_attention_backward.wrong(
    "not as a key",
    "Change token j a little. Does row j of the scores change, or column j, or both?",
    plain.edit("(d_scores + np.swapaxes(d_scores, -1, -2))", "d_scores"),
)
self_attention_backward.wrong(
    "not as a query",
    "Change token i a little. Does column i of the scores change, or row i, or both?",
    plain.edit("(d_scores + np.swapaxes(d_scores, -1, -2))", "np.swapaxes(d_scores, -1, -2)"),
)
self_attention_backward.wrong(
    "the gradient of the scores taken for symmetric",
    "The scores are symmetric. Is the gradient for entry (i, j) also the gradient for entry (j, "
    "i)? Which token's weights does each of the two entries change?",
    plain.edit("(d_scores + np.swapaxes(d_scores, -1, -2))", "2 * d_scores"),
)
self_attention_backward.wrong(
    "the normaliser taken for a constant",
    "Add the same number to all scores of a row. The weights stay as they are: so what must the "
    "gradients of a row of scores sum to? What do yours sum to?",
    plain.edit("(d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))", "d_weights"),
)
self_attention_backward.wrong(
    "the softmax differentiated entry by entry",
    "w (1 - w) says how a weight changes with its own score. Does it change with the other scores "
    "of its row, too?",
    plain.edit(
        "(d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))",
        "(1 - weights) * d_weights",
    ),
)
self_attention_backward.wrong(
    "the softmax left out",
    "You have the gradient with respect to the weights. The scores are one step further back. "
    "Which function lies between the two?",
    plain.edit(
        "weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))", "d_weights"
    ),
)
self_attention_backward.wrong(
    "the weights not transposed",
    "Token j goes into output i with the weight (i, j). For a fixed token j, which index should "
    "you sum over: that of the outputs, or that of the tokens?",
    plain.edit("np.swapaxes(weights, -1, -2)", "weights"),
)
self_attention_backward.wrong(
    "the mean taken over the queries",
    "Each query shares out a total of 1 among the keys. Over which axis, then, do the gradients "
    "of the scores sum to 0?",
    plain.edit(
        "np.sum(weights * d_weights, axis=-1, keepdims=True)",
        "np.sum(weights * d_weights, axis=-2, keepdims=True)",
    ),
)


@self_attention_backward.public
def _(rng):
    yield Case(
        "two tokens of one feature", (np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]]))
    ).holds(
        "the gradient of the loss with respect to Y, of the shape of X",
        "Returns d_X, the gradient with respect to X, in its shape",
    )
    yield Case("four tokens of three features", _inputs(rng, 4, 3)).holds(
        "The outputs are Y = softmax(X X^T) X, with the softmax along each row and no scale",
        "The loss does not read the weights",
    )
    yield Case("as many tokens as features", _inputs(rng, 3, 3)).holds("The outputs…")
    yield Case("float32, a batch", _inputs(rng, 2, 5, 3, dtype=np.float32)).holds(
        "X: (..., n, d), n at least 1"
    )
    yield Case("three leading axes, one of length 1", _inputs(rng, 2, 1, 3, 4, 2)).holds("X: (...…")
    yield Case("a batch of one sequence of one token", _inputs(rng, 1, 1, 3)).holds("X: (...…")
    yield Case("large scores, two equal tokens", _two_alike(rng, 4, 3)).holds("Scores may be large")
    yield Case("tokens in the thousands", _far_from_0(rng, 4, 3)).holds(
        "so may tokens: thousands, say"
    )
    X, d_Y = _inputs(rng, 3, 4)
    yield Case("a tiny gradient arrives", (X, d_Y * 1e-9)).holds("the gradient…")


@self_attention_backward.hidden
def _(rng):
    n, d = (int(one) for one in rng.permutation([3, 5, 6])[:2])
    yield Case("two tokens", _inputs(rng, 2, d))
    yield Case("one sequence", _inputs(rng, n, d)).holds("Returns d_X…")
    yield Case("as many tokens as features", _inputs(rng, n, n))
    yield Case("float32, a batch", _inputs(rng, 3, n, d, dtype=np.float32))
    yield Case("three leading axes, one of length 1", _inputs(rng, 2, 3, 1, n, d))
    yield Case("one token", _inputs(rng, 1, d)).holds("X: (...…")
    yield Case("large scores, two equal tokens", _two_alike(rng, n, d))
    yield Case("tokens in the thousands", _far_from_0(rng, n, d))


def _inputs(
    rng: np.random.Generator, *shape: int, dtype: type = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """Random tokens, and the gradient of the outputs."""
    X, d_Y = rng.normal(size=shape) * 0.7, rng.normal(size=shape)
    return X.astype(dtype), d_Y.astype(dtype)


def _two_alike(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens so long that each attends to itself alone, and two of them to each other."""
    X, d_Y = _inputs(rng, n, d)
    X = X * 60
    X[-1] = X[0]
    return X, d_Y


def _far_from_0(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens that share a large feature, which the loss does not read: the same number is added to
    all scores and changes no weight; but no step is small enough to differentiate by differences.
    """
    X, d_Y = _inputs(rng, n, d)
    X[:, 0], d_Y[:, 0] = 1500.0, 0.0
    return X, d_Y


self_attention_backward.lets_through(
    "a softmax shifted by no less than 0", "the score of a token with itself is never below 0"
)
