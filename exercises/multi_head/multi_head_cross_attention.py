"""The exercise `multi_head_cross_attention`: one sequence asks another, with heads. To debug."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

from .. import forbidden

multi_head_cross_attention = Declaration(
    solutions.multi_head_cross_attention,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    forbidden=forbidden.ATTENTION,
    help=(
        "With one head everything is right, and with more heads the weights are too even. What "
        "enters the scores that depends on the number of heads?",
        "Take one query and two keys for each of four heads, and work out one weight by hand. "
        "Follow the shape of Q through the function: what is its last axis at each line?",
        "Section “One sequence asks another”; for one head, chapter 5, cross-attention.",
    ),
)


@multi_head_cross_attention.right
def head_by_head(X, context, W_q, W_k, W_v, W_o, n_heads, mask=None):
    d_k, d_v = W_q.shape[1] // n_heads, W_v.shape[1] // n_heads
    seen = np.ones((*X.shape[:-1], context.shape[-2]), dtype=bool)
    seen = seen if mask is None else seen & mask
    output, tables = 0, []
    for h in range(n_heads):
        mine = slice(h * d_k, (h + 1) * d_k)
        scores = X @ W_q[:, mine] @ np.swapaxes(context @ W_k[:, mine], -1, -2) / d_k**0.5
        scores = np.where(seen, scores, -1e30)
        shares = np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        tables.append(shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30))
        rows = slice(h * d_v, (h + 1) * d_v)
        output = output + tables[-1] @ (context @ W_v[:, rows]) @ W_o[rows]
    return output, np.stack(tables, axis=-3)


@multi_head_cross_attention.right
def einsum(X, context, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (
        np.einsum("...nd,dhk->...hnk", A, W.reshape(W.shape[0], n_heads, W.shape[1] // n_heads))
        for A, W in ((X, W_q), (context, W_k), (context, W_v))
    )
    scores = np.einsum("...hik,...hjk->...hij", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        while mask.ndim < X.ndim:
            mask = mask[None]
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    rows = W_o.reshape(n_heads, W_o.shape[0] // n_heads, W_o.shape[1])
    return np.einsum("...hij,...hjv,hvo->...io", weights, V, rows), weights


@multi_head_cross_attention.right
def heads_first(X, context, W_q, W_k, W_v, W_o, n_heads, mask=None):
    roles = (X @ W_q, context @ W_k, context @ W_v)
    Q, K, V = (np.array(np.split(role, n_heads, axis=-1)) for role in roles)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    seen = np.broadcast_to(np.ones(1, dtype=bool) if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.where(seen, np.exp(np.where(seen, scores - largest, -1e30)), 0)
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(list(weights @ V), axis=-1) @ W_o, np.moveaxis(weights, 0, -3)


@multi_head_cross_attention.right
def plain(X, context, W_q, W_k, W_v, W_o, n_heads, mask=None):
    roles = (X @ W_q, context @ W_k, context @ W_v)
    Q, K, V = (np.stack(np.split(role, n_heads, -1), -3) for role in roles)
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], context.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    scores = np.where(seen, scores, -1e30)
    shares = np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    merged = np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1)
    return merged @ W_o, weights


multi_head_cross_attention.wrong(
    "merged without the transpose",
    "Suppose that two tokens ask, with two heads. Which vectors do you put side by side in the "
    "first row, and to which tokens do they belong?",
    plain.edit(
        "np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1)",
        "(weights @ V).reshape(*X.shape[:-1], -1)",
    ),
)
multi_head_cross_attention.wrong(
    "split without the transpose",
    "The first head should see its features of every token. Which tokens and which features does "
    "yours see?",
    plain.edit(
        "np.stack(np.split(role, n_heads, -1), -3)",
        "role.reshape(*X.shape[:-2], n_heads, role.shape[-2], -1)",
    ),
)


@multi_head_cross_attention.wrong(
    "scaled by the width of all heads",
    "Over how many features does the dot product of one head sum?",
    released=True,
)
def _(X, context, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, n_q, _ = X.shape
    n_k = context.shape[-2]

    def split(role):  # (..., n, n_heads * d) -> (..., n_heads, n, d)
        role = role.reshape(*role.shape[:-1], n_heads, -1)
        return np.swapaxes(role, -3, -2)

    Q, K, V = X @ W_q, context @ W_k, context @ W_v
    scale = 1 / np.sqrt(np.array(Q.shape[-1], dtype=Q.dtype))
    Q, K, V = split(Q), split(K), split(V)
    scores = Q @ np.swapaxes(K, -1, -2) * scale  # (..., n_heads, n_q, n_k)

    seen = np.ones((*batch, n_q, n_k), dtype=bool)
    if mask is not None:
        seen = seen & mask
    seen = seen[..., None, :, :]  # the same for all heads

    scores = np.where(seen, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    weights = np.exp(scores - largest)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    merged = np.swapaxes(weights @ V, -3, -2).reshape(*batch, n_q, -1)
    return merged @ W_o, weights


multi_head_cross_attention.wrong(
    "the batch of the mask meets the heads",
    "Write the shape of the mask below that of the scores, lined up on the right. Under which "
    "axis of the scores is the mask's batch axis?",
    plain.edit("np.broadcast_to(mask, full)[..., None, :, :]", "mask"),
)
multi_head_cross_attention.wrong(
    "mask forgotten",
    "Which weight do you give to a token that the mask hides?",
    plain.edit("True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]", "True"),
)
multi_head_cross_attention.wrong(
    "a token that may attend to nothing gets equal weights",
    "Which weights does a softmax give for scores that are all equal? What does the docstring ask "
    "for where the mask hides everything?",
    plain.edit(
        "np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)",
        "np.exp(scores - scores.max(axis=-1, keepdims=True))",
    ),
)
multi_head_cross_attention.wrong(
    "weights averaged over the heads",
    "How many tables of weights does the docstring ask for, and how many do you return?",
    plain.edit("merged @ W_o, weights", "merged @ W_o, weights.mean(axis=-3)"),
)
multi_head_cross_attention.wrong(
    "not mixed",
    "Replace W_o by 0. What should the output be? What is yours?",
    plain.edit("merged @ W_o", "merged"),
)


@multi_head_cross_attention.public
def _(rng):
    yield Case("two heads, two tokens ask three", _inputs(rng, (), 2, 3, 4, 4, 2, 2, 2, 4)).holds(
        "X: (..., n_q, d), the tokens that ask. context: (..., n_k, d_context), the tokens that "
        "answer"
    )
    yield Case("three heads, all widths differ", _inputs(rng, (), 4, 3, 6, 5, 3, 2, 4, 7)).holds(
        "X: (...…",
        "W_q: (d, n_heads * d_k). W_k: (d_context, n_heads * d_k). W_v: (d_context, n_heads * "
        "d_v). W_o: (n_heads * d_v, d_out)",
        "The columns of the first three and the rows of W_o belong to the heads as in "
        "`multi_head_attention`",
        "n_heads: at least 1; it divides both widths",
    )
    mask = np.array([[True, False, True], [False, False, False]])
    inputs = _inputs(rng, (), 2, 3, 4, 6, 2, 3, 2, 4)
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask}).holds(
        "A token that may attend to nothing gets weights 0 and output 0"
    )
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2,), 3, 4, 4, 4, 2, 2, 3, 5, np.float32)
    yield Case("float32, as many sentences as heads, padding hidden", (*inputs, mask)).holds(
        "boolean, broadcastable to (..., n_q, n_k), and perhaps with fewer axes, True where "
        "attention may go, the same for all heads, or None"
    )
    mask = np.array([[True, False, True], [True, True, False]])
    inputs = _inputs(rng, (2, 1, 3), 2, 3, 4, 3, 2, 2, 2, 5)
    yield Case(
        "three leading batch axes, one of length 1, one mask for all", (*inputs, mask)
    ).holds("There is at least one of each, and the leading axes are the same")
    mask = np.array([[False], [True]])
    yield Case(
        "a mask with one column", _inputs(rng, (), 2, 3, 4, 3, 2, 2, 3, 5), {"mask": mask}
    ).holds("boolean, broadcastable…", "A token that…")
    X, _, *rest = _inputs(rng, (), 3, 3, 4, 4, 2, 3, 2, 4)
    yield Case("the context is the asking sequence itself", (X, X, *rest)).holds("The columns…")
    X, context, *rest = _inputs(rng, (1,), 1, 1, 1, 1, 1, 1, 1, 1)
    yield Case("one head, one token asks one, all tiny", (X * 1e-9, context * 1e-9, *rest)).holds(
        "There is…", "n_heads: at…"
    )
    X, context, *rest = _inputs(rng, (), 2, 4, 4, 3, 2, 2, 3, 5)
    yield Case("large scores", (X * 40, context * 40, *rest)).holds(
        "Scores may be large, above 0 or below"
    )
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask}).holds(
        "Scores may…", "boolean, broadcastable…"
    )
    X, context, W_q, W_k, *rest = _inputs(rng, (), 3, 3, 4, 3, 2, 2, 2, 4)
    context[0] = 0
    mask = np.array([True, True, False])
    inputs = (X, context, W_q, W_k, *rest)
    yield Case("a context token of zeros, a mask of one axis", inputs, {"mask": mask})
    X, context = np.abs(X) + 0.1, np.abs(context) + 0.1
    low = (X, context, 1e6 * np.abs(W_q), -1e6 * np.abs(W_k), *rest)
    yield Case("scores below any stand-in for infinity", low, {"mask": mask})


@multi_head_cross_attention.hidden
def _(rng):
    n_heads, n_q, n_k = (int(size) for size in rng.permutation([2, 3, 4]))
    d, d_context, d_k, d_v = (int(size) for size in rng.permutation([4, 5, 6, 7]))
    yield Case(
        "all widths differ", _inputs(rng, (), n_q, n_k, d, d_context, n_heads, d_k, d_v, 8)
    ).holds(
        "W_q: (d…",
        "Returns (output, weights) of shapes (..., n_q, d_out) and (..., n_heads, n_q, n_k)",
    )
    inputs = _inputs(rng, (), n_q, n_k, d, d, n_heads, d_k, d_k, d)
    mask = np.arange(n_k) < rng.integers(1, n_k, size=(n_q, 1))
    mask[0] = False
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask})
    mask = np.arange(n_k) < np.arange(n_heads)[:, None, None] % n_k + 1
    inputs = _inputs(rng, (n_heads,), n_q, n_k, d, d_context, n_heads, d_k, d_v, 5)
    yield Case("as many sentences as heads, padding hidden", inputs, {"mask": mask}).holds(
        "boolean, broadcastable…"
    )
    mask = rng.random((n_q, n_k)) < 0.6
    inputs = _inputs(rng, (2, 3, 1), n_q, n_k, d, d_context, n_heads, d_k, d_v, 5, np.float32)
    yield Case("float32, three leading batch axes, one mask for all", (*inputs, mask)).holds(
        "boolean, broadcastable…"
    )
    inputs = _inputs(rng, (1,), 1, 1, d, d_context, 1, d_k, 1, 1)
    yield Case("one head, one token asks one, a batch of one", inputs).holds("There is…")
    inputs = _inputs(rng, (), n_k, n_k, d, d, n_heads, d_k, d_v, d)
    yield Case("as many tokens ask as answer", inputs).holds("Returns (output…")
    X, context, *rest = _inputs(rng, (2,), n_q, n_k, d, d_context, n_heads, d_k, d_v, 5)
    yield Case("large scores", (X * 40, context * 40, *rest))
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask})


def _far_apart(rng: np.random.Generator) -> tuple[tuple[Any, ...], np.ndarray]:
    """Inputs of two heads of one feature, and a mask: scores from -50 000 to 50 000 or so."""
    order = rng.permutation(4)
    X, context = np.array([[1500.0, 900], [300, 1500]]), np.array([[30.0, -20], [30, -50]] * 2)
    context[2:] = np.array([[50.0, 10], [10, -20]])
    mask = np.array([True, True, False, True])[order]
    W = np.eye(2)
    matrices = W, W, rng.normal(size=(2, 4)), rng.normal(size=(4, 3))
    return (X, context[order], *matrices, 2), mask


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d: int,
    d_context: int,
    n_heads: int,
    d_k: int,
    d_v: int,
    d_out: int,
    dtype: type = np.float64,
) -> tuple[Any, ...]:
    """Random X, context, the four matrices, and the number of heads."""
    shapes = (
        (*batch, n_q, d),
        (*batch, n_k, d_context),
        (d, n_heads * d_k),
        (d_context, n_heads * d_k),
        (d_context, n_heads * d_v),
        (n_heads * d_v, d_out),
    )
    return (*(rng.normal(size=shape).astype(dtype) for shape in shapes), n_heads)
