"""The exercise `scaled_dot_product_attention_backward`: the layer's derivative, by hand."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import queries_keys_values as solutions

from .. import forbidden

scaled_dot_product_attention_backward = Declaration(
    solutions.scaled_dot_product_attention_backward,
    points=5,
    difficulty=5,
    minutes=45,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Go backwards through the layer, one operation at a time: the weighted sum, the softmax, "
        "the scale, the matrix product of queries and keys.",
        "For a product A = B C, the gradients are d_B = d_A Cᵀ and d_C = Bᵀ d_A; check that the "
        "shapes fit. For one row of the softmax, ∂w_j/∂s_k = w_j (δ_jk - w_k): write out the sum "
        "over j, and you will find a mean over the keys in it.",
        "Section “The attention layer”; “What you need”, the chain rule.",
    ),
)


@scaled_dot_product_attention_backward.right
def query_by_query(Q, K, V, d_output, mask=None):
    d_Q, d_K, d_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    scale = Q.shape[-1] ** -0.5
    allowed = np.ones((*Q.shape[:-1], K.shape[-2]), bool) & (True if mask is None else mask)
    for place in np.ndindex(*Q.shape[:-1]):
        batch, seen = place[:-1], np.flatnonzero(allowed[place])
        if seen.size == 0:
            continue
        keys, values = K[batch][seen], V[batch][seen]
        scores = keys @ Q[place] * scale
        shares = np.exp(scores - scores.max())
        weights = shares / shares.sum()
        jacobian = np.diag(weights) - np.outer(weights, weights)
        d_scores = jacobian @ (values @ d_output[place]) * scale
        d_Q[place] = d_scores @ keys
        d_K[batch][seen] += np.outer(d_scores, Q[place])
        d_V[batch][seen] += np.outer(weights, d_output[place])
    return d_Q, d_K, d_V


@scaled_dot_product_attention_backward.right
def einsum(Q, K, V, d_output, mask=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    centred = V[..., None, :, :] - np.einsum("...ij,...jv->...iv", weights, V)[..., None, :]
    d_scores = weights * np.einsum("...iv,...ijv->...ij", d_output, centred) * Q.shape[-1] ** -0.5
    return (
        np.einsum("...ij,...jd->...id", d_scores, K),
        np.einsum("...ij,...id->...jd", d_scores, Q),
        np.einsum("...ij,...iv->...jv", weights, d_output),
    )


@scaled_dot_product_attention_backward.right
def from_the_output(Q, K, V, d_output, mask=None):
    scale = np.sqrt(Q.shape[-1]).astype(Q.dtype)
    scores = Q / scale @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    base = V.mean(axis=-2, keepdims=True)
    output = weights @ (V - base)
    d_weights = d_output @ np.swapaxes(V - base, -1, -2)
    d_scores = weights * (d_weights - np.sum(d_output * output, axis=-1, keepdims=True))
    d_K = np.swapaxes(np.swapaxes(Q / scale, -1, -2) @ d_scores, -1, -2)
    return d_scores @ (K / scale), d_K, np.swapaxes(weights, -1, -2) @ d_output


@scaled_dot_product_attention_backward.right
def plain(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))
    d_scores = d_scores / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


scaled_dot_product_attention_backward.wrong(
    "the softmax differentiated entry by entry",
    "w (1 - w) says how a weight changes with its own score. Does it change with the other scores "
    "of its row, too?",
    plain.edit(
        "(d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))",
        "(1 - weights) * d_weights",
    ),
)
scaled_dot_product_attention_backward.wrong(
    "the softmax left out",
    "You have the gradient with respect to the weights. The scores are one step further back. "
    "Which function lies between the two?",
    plain.edit(
        "weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))",
        "d_weights * allowed",
    ),
)
scaled_dot_product_attention_backward.wrong(
    "the normaliser taken for a constant",
    "Add the same number to all scores of a row. The weights stay as they are: so what must the "
    "gradients of a row of scores sum to? What do yours sum to?",
    plain.edit("(d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))", "d_weights"),
)
scaled_dot_product_attention_backward.wrong(
    "the mean taken over the queries",
    "Each query shares out a total of 1 among the keys. Over which axis, then, do the gradients "
    "of the scores sum to 0?",
    plain.edit(
        "np.sum(weights * d_weights, axis=-1, keepdims=True)",
        "np.sum(weights * d_weights, axis=-2, keepdims=True)",
    ),
)
scaled_dot_product_attention_backward.wrong(
    "the plain mean in place of the weighted one",
    "Write out the sum over j of d_w_j w_j (δ_jk - w_k). Which mean over the keys is in it?",
    plain.edit(
        "np.sum(weights * d_weights, axis=-1, keepdims=True)",
        "np.mean(d_weights, axis=-1, keepdims=True)",
    ),
)
scaled_dot_product_attention_backward.wrong(
    "the scale forgotten on the way back",
    "On the way forward the scores are divided by the root of d_k. What happens to a gradient on "
    "its way back through a division?",
    plain.edit("d_scores = d_scores / Q.shape[-1] ** 0.5", ""),
)
scaled_dot_product_attention_backward.wrong(
    "the gradients of queries and keys swapped",
    "Change one query a little. Which rows of the scores change, and what is the other factor in "
    "the product? In which order does the docstring return the three?",
    plain.edit("d_scores @ K, d_K", "d_K, d_scores @ K"),
)
scaled_dot_product_attention_backward.wrong(
    "mask ignored",
    "Do your gradients change when the mask does? What is the gradient of a value that no query "
    "may see?",
    plain.edit("True if mask is None else mask", "True"),
)


@scaled_dot_product_attention_backward.public
def _(rng):
    yield Case("two queries, three keys", _inputs(rng, (), 2, 3, 4, 2)).holds(
        "Q: (..., n_q, d_k). K: (..., n_k, d_k). V: (..., n_k, d_v)",
        "the gradient of the loss with respect to the layer's output",
        "The loss does not read the weights",
        "Returns the tuple (d_Q, d_K, d_V), the gradients with respect to Q, K and V, in their "
        "shapes",
    )
    yield Case("all sizes equal", _inputs(rng, (), 3, 3, 3, 3)).holds("Q: (...…")
    mask = np.array([[True, False, True], [True, True, False]])
    yield Case("a mask", _inputs(rng, (), 2, 3, 4, 2), {"mask": mask}).holds(
        "boolean, broadcastable to the scores (..., n_q, n_k), True where a query may attend, or "
        "None"
    )
    mask = np.array([[True, True, False], [False, False, False]])
    yield Case(
        "a query that may attend to nothing", _inputs(rng, (), 2, 3, 4, 5), {"mask": mask}
    ).holds("A query that may attend to nothing has the gradient 0, and adds nothing to the others")
    inputs = _inputs(rng, (2, 1, 3), 2, 3, 4, 2)
    mask = np.array([True, False, True])
    yield Case("three leading axes, one of length 1, a mask of one axis", (*inputs, mask)).holds(
        "the same leading axes, and one row or more", "boolean, broadcastable…"
    )
    mask = np.array([[[True, True, False]], [[True, True, True]]])
    inputs = _inputs(rng, (2,), 4, 3, 2, 5, np.float32)
    yield Case("float32, a batch, padding hidden from every query", (*inputs, mask)).holds(
        "boolean, broadcastable…"
    )
    mask = np.array([[True], [False]])
    yield Case("a mask with one column", _inputs(rng, (), 2, 3, 4, 2), {"mask": mask}).holds(
        "boolean, broadcastable…"
    )
    yield Case("a batch of one, all sizes 1", _inputs(rng, (1,), 1, 1, 1, 1)).holds("the same…")
    yield Case("large scores", _inputs(rng, (), 3, 4, 5, 2, shift=3000.0)).holds(
        "Scores may be large"
    )
    yield Case("values near a million", _near_a_million(_inputs(rng, (), 2, 3, 4, 2))).holds(
        "so may values: near a million, say"
    )
    Q, K, V, d_output = _inputs(rng, (), 2, 3, 4, 2)
    yield Case("a tiny gradient arrives", (Q, K, V, d_output * 1e-9)).holds("the gradient…")
    Q, K, V, d_output = _inputs(rng, (), 3, 3, 4, 2)
    K[0] = 0
    mask = np.array([True, True, False])
    inputs = (Q, K, V, d_output, mask)
    yield Case("a key of zeros, as many queries as keys, a mask of one axis", inputs)
    mask = np.array([[True, False, True], [True, True, False]])
    inputs = _inputs(rng, (2,), 2, 3, 4, 2)
    yield Case("as many sequences as queries, one mask for all", (*inputs, mask))
    Q, K, V, d_output = _inputs(rng, (), 2, 3, 4, 2)
    low = (1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1), V, d_output, mask)
    yield Case("scores below any stand-in for infinity", low)


@scaled_dot_product_attention_backward.hidden
def _(rng):
    n_q, n_k, d_k, d_v = rng.permutation([2, 3, 5, 6])
    yield Case("no mask", _inputs(rng, (), n_q, n_k, d_k, d_v)).holds("Returns the…")
    yield Case("a batch, all sizes equal", _inputs(rng, (2,), n_k, n_k, n_k, n_k)).holds("Q: (...…")
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    mask = order < rng.integers(1, n_k, size=(n_q, 1))
    yield Case("a mask", _inputs(rng, (), n_q, n_k, d_k, d_v), {"mask": mask})
    nothing = mask & (np.arange(n_q) > 0)[:, None]
    inputs = _inputs(rng, (2,), n_q, n_k, d_k, d_v)
    yield Case("a query that may attend to nothing", inputs, {"mask": nothing})
    inputs = _inputs(rng, (2, 3, 1), n_q, n_k, d_k, d_v, np.float32)
    yield Case("float32, three leading axes, one mask for all", (*inputs, mask)).holds(
        "boolean, broadcastable…"
    )
    yield Case("one query and one key, a batch of one", _inputs(rng, (1,), 1, 1, d_k, 1)).holds(
        "the same…"
    )
    yield Case("large scores", _inputs(rng, (), n_q, n_k, d_k, d_v, shift=3000.0))
    yield Case("values near a million", _near_a_million(_inputs(rng, (), n_q, n_k, d_k, d_v)))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
    shift: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """Random Q, K, V and the gradient of the output.

    `shift` is added to every feature of every key. It moves all scores of a row by one and the same
    number, and so changes no weight.
    """
    Q, K = rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k)) * 1.5 + shift
    V, d_output = rng.normal(size=(*batch, n_k, d_v)), rng.normal(size=(*batch, n_q, d_v))
    return Q.astype(dtype), K.astype(dtype), V.astype(dtype), d_output.astype(dtype)


def _near_a_million(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The same with values that differ by a millionth of their size: no step is then small enough
    to differentiate by differences."""
    Q, K, V, d_output = inputs
    return Q, K, V + 1e6, d_output
