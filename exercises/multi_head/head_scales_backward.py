"""The exercise `head_scales_backward`: the derivative with respect to a scale of each head."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import multi_head as solutions

from .. import forbidden

head_scales_backward = Declaration(
    solutions.head_scales_backward,
    points=5,
    difficulty=5,
    minutes=40,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Go backwards: through the merge, the weighted sum, the softmax, and the product of scale "
        "and scores. One scale multiplies all scores of its head.",
        "The way back through the merge is the split. For one row of the softmax, with z = c s, "
        "∂w_j/∂c = w_j (s_j - Σ_k w_k s_k). Then sum over everything that shares the scale.",
        "Sections “Split, attend, merge, mix” and “What W_o is for”; “What you need”, the chain "
        "rule.",
    ),
)


@head_scales_backward.right
def loop(Q, K, V, scales, d_merged):
    found = np.zeros_like(scales)
    d_v = V.shape[-1]
    for place in np.ndindex(*Q.shape[:-1]):
        *batch, h, i = place
        one = (*batch, h)
        scores = K[one] @ Q[place]
        shares = np.exp(scales[h] * scores - np.max(scales[h] * scores))
        weights = shares / shares.sum()
        jacobian = np.diag(weights) - np.outer(weights, weights)
        arrives = d_merged[(*batch, i)][h * d_v : (h + 1) * d_v]
        found[h] += (V[one] @ arrives) @ jacobian @ scores
    return found


@head_scales_backward.right
def covariance(Q, K, V, scales, d_merged):
    scores = np.einsum("...hik,...hjk->...hij", Q, K)
    scores = scores - scores.mean(axis=-1, keepdims=True)
    scaled = np.einsum("h,...hij->...hij", scales, scores)
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    mean_score = np.sum(weights * scores, axis=-1, keepdims=True)
    by_head = d_merged.reshape(*d_merged.shape[:-1], len(scales), V.shape[-1])
    helps = np.einsum("...ihv,...hjv->...hij", by_head, V - V.mean(axis=-2, keepdims=True))
    covariances = np.einsum("...hij,...hij,...hij->...h", weights, scores - mean_score, helps)
    return covariances.reshape(-1, len(scales)).sum(axis=0)


@head_scales_backward.right
def through_the_output(Q, K, V, scales, d_merged):
    K = K - K.mean(axis=-2, keepdims=True)
    V = V - V.mean(axis=-2, keepdims=True)
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales.reshape(-1, 1, 1) * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    moved = (weights * scores) @ V
    moved = moved - (weights * scores).sum(axis=-1, keepdims=True) * (weights @ V)
    merged = np.concatenate(np.split(moved, len(scales), axis=-3), axis=-1)[..., 0, :, :]
    products = (merged * d_merged).reshape(-1, len(scales), V.shape[-1])
    return products.sum(axis=(0, 2))


@head_scales_backward.right
def plain(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scores).reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))


head_scales_backward.wrong(
    "the other weights of the row forgotten",
    "When one score of a row rises, what happens to the weights of the other keys? Add 1 to every "
    "value of a head: should the derivative change?",
    plain.edit(" - (weights * d_weights).sum(axis=-1, keepdims=True)", ""),
)
head_scales_backward.wrong(
    "the scaled scores in place of the scores",
    "What is the derivative of c * s with respect to c? Does a scale of 0 have the gradient 0?",
    plain.edit("d_scaled * scores", "d_scaled * scaled"),
)
head_scales_backward.wrong(
    "weights without their scales",
    "At which weights do you take the derivative: those with the scales that are given, or those "
    "with a scale of 1?",
    plain.edit("scales[:, None, None] * scores", "scores"),
)
head_scales_backward.wrong(
    "divided by the root of the width as well",
    "By what does the docstring multiply the scores? Does it scale them by anything else?",
    plain.edit(
        "Q @ np.swapaxes(K, -1, -2)",
        "Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)",
    ),
)
head_scales_backward.wrong(
    "the merge undone by reshape",
    "Row 0 of `d_merged` belongs to token 0, for all heads. With two heads, where does its second "
    "half go?",
    plain.edit(
        "np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)",
        "d_merged.reshape(*Q.shape[:-1], V.shape[-1])",
    ),
)
head_scales_backward.wrong(
    "the mean over the batch",
    "One scale serves all sequences. Each of them contributes to the loss. Is the derivative the "
    "sum of these contributions, or their mean?",
    plain.edit(".sum(axis=(0, 2, 3))", ".sum(axis=(2, 3)).mean(axis=0)"),
)
head_scales_backward.wrong(
    "a gradient for each sequence",
    "How many scales are there, and how many numbers do you return?",
    plain.edit(".reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))", ".sum(axis=(-2, -1))"),
)


@head_scales_backward.public
def _(rng):
    yield Case("two heads, two queries, three keys", _inputs(rng, (), 2, 2, 3, 2, 3)).holds(
        "Q: (..., n_heads, n_q, d_k). K: (..., n_heads, n_k, d_k). V: (..., n_heads, n_k, d_v)",
        "The weights of head h are the softmax of scales[h] * Q_h K_h^T, with no other factor; "
        "each row sums to 1",
    )
    yield Case("all sizes equal", _inputs(rng, (), 3, 3, 3, 3, 3)).holds(
        "All have the same leading axes, perhaps none, and one row or more",
        "Then the heads are merged",
    )
    yield Case("one head", _inputs(rng, (), 1, 3, 2, 4, 2)).holds("The weights…")
    yield Case("a batch, three heads", _inputs(rng, (2,), 3, 2, 4, 2, 2)).holds(
        "scales: (n_heads,), the same for all sequences"
    )
    yield Case(
        "float32, three leading axes, one of length 1", _single(_inputs(rng, (2, 1, 3)))
    ).holds("All have…")
    yield Case("a batch of one, all sizes 1", _inputs(rng, (1,), 1, 1, 1, 1, 1)).holds("All have…")
    yield Case("large scores", _inputs(rng, (), 2, 3, 4, 5, 2, shift=3000.0)).holds(
        "Scores may be large, and values near 100 000"
    )
    Q, K, V, scales, d_merged = _inputs(rng, (), 2, 3, 4, 2, 3)
    yield Case("values near 100 000", (Q, K, V + 1e5, scales, d_merged)).holds("Scores may…")
    yield Case("a tiny gradient arrives", (Q, K, V, scales, d_merged * 1e-9)).holds(
        "(..., n_q, n_heads * d_v), the gradient of the loss with respect to the merged heads"
    )
    yield Case("a scale of 0, and one below 0", (Q, K, V, np.array([0.0, -0.7]), d_merged)).holds(
        "scales: (n_heads,)…"
    )


@head_scales_backward.hidden
def _(rng):
    n_heads, n_q, n_k, d_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5, 6]))
    yield Case("all sizes differ", _inputs(rng, (), n_heads, n_q, n_k, d_k, d_v)).holds(
        "Q: (...…", "(..., n_q…"
    )
    yield Case(
        "as many tokens as heads", _inputs(rng, (2,), n_heads, n_heads, n_heads, d_k, d_v)
    ).holds("Then the…")
    yield Case("a batch", _inputs(rng, (3,), n_heads, n_q, n_k, d_k, d_v)).holds(
        "Returns an array of shape (n_heads,): the gradient with respect to `scales`"
    )
    inputs = _inputs(rng, (2, 3, 1), n_heads, n_q, n_k, d_k, d_v)
    yield Case("float32, three leading axes, one of length 1", _single(inputs))
    yield Case("one head, a batch of one", _inputs(rng, (1,), 1, n_q, n_k, d_k, d_v)).holds(
        "Returns an…"
    )
    yield Case("large scores", _inputs(rng, (), n_heads, n_q, n_k, d_k, d_v, shift=3000.0))
    Q, K, V, scales, d_merged = _inputs(rng, (), n_heads, n_q, n_k, d_k, d_v)
    yield Case("values near 100 000", (Q, K, V + 1e5, scales, d_merged))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_heads: int = 2,
    n_q: int = 3,
    n_k: int = 4,
    d_k: int = 2,
    d_v: int = 3,
    shift: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """Random Q, K, V, scales and gradient of the merged heads.

    `shift` is added to every feature of every key. It moves all scores of a row by one and the same
    number, and so changes no weight.
    """
    Q, K = (rng.normal(size=(*batch, n_heads, n, d_k)) for n in (n_q, n_k))
    V, d_merged = rng.normal(size=(*batch, n_heads, n_k, d_v)), (*batch, n_q, n_heads * d_v)
    return Q, K + shift, V, rng.uniform(0.3, 1.5, size=n_heads), rng.normal(size=d_merged)


def _single(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(one.astype(np.float32) for one in inputs)


head_scales_backward.lets_through(
    "leading axes flattened", "the result has none: it is a sum over all sequences"
)
