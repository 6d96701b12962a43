"""The exercise `cross_attention`: one sequence asks, another answers. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import queries_keys_values as solutions

from .. import forbidden

cross_attention = Declaration(
    solutions.cross_attention,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    forbidden=forbidden.ATTENTION,
    help=(
        "Where does each of Q, K and V come from? Try a context of another length and width.",
        "The output has one row for each token that asks. Which of the three matrices has as many "
        "rows as a token of X has features, and which have as many as a token of the context?",
        "Section “Two layers in one function”.",
    ),
)


@cross_attention.right
def loop(X, context, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, context @ W_k, context @ W_v
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    mask = np.ones(weights.shape, dtype=bool) if mask is None else mask
    mask = np.broadcast_to(mask, weights.shape)
    for place in np.ndindex(*Q.shape[:-1]):
        seen = np.flatnonzero(mask[place])
        if len(seen) == 0:
            continue
        scores = K[place[:-1]][seen] @ Q[place] / np.sqrt(W_q.shape[-1])
        shares = np.exp(scores - scores.max())
        weights[place][seen] = shares / shares.sum()
    return weights @ V, weights


@cross_attention.right
def one_score_matrix(X, context, W_q, W_k, W_v, mask=None):
    M = W_q @ W_k.T / np.sqrt(W_k.shape[-1])
    scores = np.einsum("...id,de,...je->...ij", X, M, context)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    return weights @ context @ W_v, weights


@cross_attention.right
def projected_last(X, context, W_q, W_k, W_v, mask=None):
    Q, K = X @ W_q, context @ W_k
    scores = np.matmul(Q, np.moveaxis(K, -1, -2)) * Q.shape[-1] ** -0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return (weights @ context) @ W_v, weights


@cross_attention.right
def plain(X, context, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, context @ W_k, context @ W_v
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


@cross_attention.wrong(
    "queries from the context", "Who asks, and who answers? How many rows should the output have?"
)
def _(X, context, W_q, W_k, W_v, mask=None):
    Q, K, V = context @ W_q, X @ W_k, X @ W_v
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = True if mask is None else mask
    scores = np.where(mask, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


@cross_attention.wrong(
    "values from the tokens that ask",
    "What is blended in the output: what the asking tokens already know, or what the context "
    "passes on?",
    released=True,
)
def _(X, context, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, context @ W_k, X @ W_v
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


cross_attention.wrong(
    "context not used",
    "Does your answer change when the context does?",
    plain.edit("Q, K, V =", "context = X\nQ, K, V ="),
)
cross_attention.wrong(
    "keys and values swapped",
    "Which matrix computes what a token is found by, and which computes what it passes on?",
    plain.edit("X @ W_q, context @ W_k, context @ W_v", "X @ W_q, context @ W_v, context @ W_k"),
)
cross_attention.wrong(
    "no scale",
    "How large are the scores when d_k = 512? What does the softmax do with such scores?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
cross_attention.wrong(
    "scaled by the width of the tokens",
    "Over which axis does the dot product of a query and a key sum? Is that axis as long as a "
    "token is wide?",
    plain.edit("Q.shape", "X.shape"),
)
cross_attention.wrong(
    "mask not passed on",
    "Does your answer change when the mask does?",
    plain.edit("True if mask is None else mask", "True"),
)
cross_attention.wrong(
    "softmax over the queries",
    "Sum your weights along each axis. Which should share out a total of 1, each query or each "
    "key?",
    plain.edit("axis=-1", "axis=-2", times=2),
)
cross_attention.wrong(
    "the two sequences joined",
    "How many columns do your weights have? May a token that asks attend to its own sequence here?",
    plain.edit("Q, K, V =", "context = np.concatenate([context, X], axis=-2)\nQ, K, V =").edit(
        "mask = np.broadcast_to(True if mask is None else mask, scores.shape)",
        "own = np.ones((*scores.shape[:-1], X.shape[-2]), dtype=bool)\n"
        "others = (*own.shape[:-1], scores.shape[-1] - own.shape[-1])\n"
        "mask = np.broadcast_to(True if mask is None else mask, others)\n"
        "mask = np.concatenate([mask, own], axis=-1)",
    ),
)


@cross_attention.public
def _(rng):
    yield Case("two tokens ask three", _inputs(rng, (), 2, 3, 4, 4, 3, 2)).holds(
        "X: (..., n_q, d), the tokens that ask. context: (..., n_k, d_context), the tokens that "
        "answer",
        "The scores are divided by the square root of d_k",
    )
    yield Case("the context has another width", _inputs(rng, (), 3, 2, 4, 5, 2, 3)).holds(
        "X: (...…",
        "W_q: (d, d_k). W_k: (d_context, d_k). W_v: (d_context, d_v)",
        "The scores…",
        "(output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)",
    )
    mask = np.array([[True, False, True], [False, False, False]])
    inputs = _inputs(rng, (), 2, 3, 4, 3, 5, 2)
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask}).holds(
        "boolean, broadcastable to (..., n_q, n_k), and perhaps with fewer axes, True where "
        "attention may go, or None",
        "A token that may attend to nothing gets weights 0 and output 0",
    )
    mask = np.array([[[True, True, False]], [[True, True, True]]])
    inputs = _inputs(rng, (2,), 3, 3, 4, 4, 2, 2, np.float32)
    yield Case("float32, a batch, padding in the context", (*inputs, mask)).holds(
        "the leading axes are the same"
    )
    X, context, *matrices = _inputs(rng, (), 3, 3, 4, 4, 2, 5)
    yield Case("the context is the asking sequence itself", (X, X, *matrices)).holds(
        "With `context` equal to `X` this is self-attention"
    )
    inputs = _inputs(rng, (1,), 1, 1, 1, 1, 1, 1)
    yield Case(
        "one token asks one in a batch of one, all tiny", tuple(1e-9 * one for one in inputs)
    ).holds("There is at least one of each")
    mask = np.array([[True, False, True], [True, True, False]])
    inputs = _inputs(rng, (2, 1, 3), 2, 3, 4, 3, 5, 2)
    yield Case(
        "three leading batch axes, one of length 1, one mask for all", (*inputs, mask)
    ).holds("the leading…", "boolean, broadcastable…")
    mask = np.array([[False], [True]])
    inputs = _inputs(rng, (), 2, 3, 4, 3, 5, 2)
    yield Case("a mask with one column", inputs, {"mask": mask}).holds(
        "boolean, broadcastable…", "A token that…"
    )
    X, context, *matrices = _inputs(rng, (), 2, 3, 4, 3, 5, 2)
    yield Case("large scores", (X * 100, context * 100, *matrices)).holds(
        "they may be large, above 0 or below"
    )
    yield Case("large scores, a mask of one axis hides the largest", _far_apart(rng)).holds(
        "they may…", "boolean, broadcastable…"
    )
    X, context, W_q, W_k, W_v = _inputs(rng, (), 3, 3, 4, 3, 5, 2)
    context[0] = 0
    mask = np.array([True, True, False])
    yield Case("a context token of zeros, a mask of one axis", (X, context, W_q, W_k, W_v, mask))
    X, context = np.abs(X) + 0.1, np.abs(context) + 0.1
    low = (X, context, 1e6 * np.abs(W_q), -1e6 * np.abs(W_k), W_v, mask)
    yield Case("scores below any stand-in for infinity", low)


def _far_apart(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Inputs and a mask: scores from -50 000 to 50 000 or so, the best of them hidden."""
    X, W = np.array([[1500.0, 0], [0, 1500]]), np.eye(2)
    order = rng.permutation(4)
    context = np.array([[30.0, -20], [30, -50], [50, 10], [10, -20]])[order]
    mask = np.array([True, True, False, True])[order]
    return X, context, W, W, rng.normal(size=(2, 3)), mask


@cross_attention.hidden
def _(rng):
    n_q, n_k, d, d_context, d_k, d_v = rng.permutation([2, 3, 4, 5, 6, 7])
    yield Case("both sequences equally wide", _inputs(rng, (), n_q, n_k, d, d, d_k, d_v))
    yield Case("the context has another width", _inputs(rng, (), n_q, n_k, d, d_context, d_k, d_v))
    mask = np.arange(n_k) < rng.integers(1, n_k, size=(n_q, 1))
    mask[-1] = False
    inputs = _inputs(rng, (), n_q, n_k, d, d_context, d_k, d_v)
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask})
    mask = np.arange(n_q) < rng.integers(1, n_q, size=(2, 1, 1))
    inputs = _inputs(rng, (2,), n_q, n_q, d, d, d_k, d_k, np.float32)
    yield Case("float32, a batch, padding in the context", (*inputs, mask))
    X, context, *matrices = _inputs(rng, (), n_q, n_q, d, d, d_k, d_v)
    yield Case("the context is the asking sequence itself", (X, X, *matrices))
    inputs = _inputs(rng, (1,), 1, 1, d, d_context, 1, 1)
    yield Case("one token asks one in a batch of one", inputs).holds("There is…")
    inputs = _inputs(rng, (2, 3, 1), n_q, n_k, d, d_context, d_k, d_v)
    mask = np.arange(n_k) < rng.integers(1, n_k, size=(n_q, 1))
    yield Case("three leading batch axes, one of length 1, one mask for all", (*inputs, mask))
    X, context, *matrices = _inputs(rng, (2,), n_q, n_k, d, d_context, d_k, d_v)
    yield Case("large scores, a batch", (X * 100, context * 100, *matrices)).holds("they may…")
    yield Case("large scores, a mask of one axis hides the largest", _far_apart(rng))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d: int,
    d_context: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random X, context and the three matrices."""
    shapes = (
        (*batch, n_q, d),
        (*batch, n_k, d_context),
        (d, d_k),
        (d_context, d_k),
        (d_context, d_v),
    )
    return tuple((0.8 * rng.normal(size=shape)).astype(dtype) for shape in shapes)
