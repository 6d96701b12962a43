"""The exercise `head_scales_backward`: the derivative with respect to a scale of each head."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def backward_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two heads, two queries, three keys", _inputs(rng, (), 2, 2, 3, 2, 3))
    yield Case("all sizes equal", _inputs(rng, (), 3, 3, 3, 3, 3))
    yield Case("one head", _inputs(rng, (), 1, 3, 2, 4, 2))
    yield Case("a batch, three heads", _inputs(rng, (2,), 3, 2, 4, 2, 2))
    yield Case("float32, three leading axes, one of length 1", _single(_inputs(rng, (2, 1, 3))))
    yield Case("a batch of one, all sizes 1", _inputs(rng, (1,), 1, 1, 1, 1, 1))
    yield Case("large scores", _inputs(rng, (), 2, 3, 4, 5, 2, shift=3000.0))
    Q, K, V, scales, d_merged = _inputs(rng, (), 2, 3, 4, 2, 3)
    yield Case("values near 100 000", (Q, K, V + 1e5, scales, d_merged))
    yield Case("a tiny gradient arrives", (Q, K, V, scales, d_merged * 1e-9))
    yield Case("a scale of 0, and one below 0", (Q, K, V, np.array([0.0, -0.7]), d_merged))


def backward_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, n_q, n_k, d_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5, 6]))
    yield Case("all sizes differ", _inputs(rng, (), n_heads, n_q, n_k, d_k, d_v))
    yield Case("as many tokens as heads", _inputs(rng, (2,), n_heads, n_heads, n_heads, d_k, d_v))
    yield Case("a batch", _inputs(rng, (3,), n_heads, n_q, n_k, d_k, d_v))
    inputs = _inputs(rng, (2, 3, 1), n_heads, n_q, n_k, d_k, d_v)
    yield Case("float32, three leading axes, one of length 1", _single(inputs))
    yield Case("one head, a batch of one", _inputs(rng, (1,), 1, n_q, n_k, d_k, d_v))
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
    Q, K = (
        rng.normal(size=(*batch, n_heads, n_q, d_k)),
        rng.normal(size=(*batch, n_heads, n_k, d_k)),
    )
    V, d_merged = rng.normal(size=(*batch, n_heads, n_k, d_v)), (*batch, n_q, n_heads * d_v)
    return Q, K + shift, V, rng.uniform(0.3, 1.5, size=n_heads), rng.normal(size=d_merged)


def _single(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(one.astype(np.float32) for one in inputs)


def scales__mean_forgotten(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_scaled = weights * (d_heads @ np.swapaxes(V, -1, -2))
    return (d_scaled * scores).reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))


def scales__scaled_scores(Q, K, V, scales, d_merged):
    scaled = scales[:, None, None] * (Q @ np.swapaxes(K, -1, -2))
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scaled).reshape(-1, *scaled.shape[-3:]).sum(axis=(0, 2, 3))


def scales__weights_without_scales(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scores).reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))


def scales__divided_too(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scores).reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))


def scales__merge_undone_by_reshape(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = d_merged.reshape(*Q.shape[:-1], V.shape[-1])
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scores).reshape(-1, *scores.shape[-3:]).sum(axis=(0, 2, 3))


def scales__mean_over_the_batch(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    by_sequence = (d_scaled * scores).sum(axis=(-2, -1)).reshape(-1, len(scales))
    return by_sequence.mean(axis=0)


def scales__one_for_each_sequence(Q, K, V, scales, d_merged):
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scales[:, None, None] * scores
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    d_heads = np.stack(np.split(d_merged, len(scales), axis=-1), axis=-3)
    d_weights = d_heads @ np.swapaxes(V, -1, -2)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return (d_scaled * scores).sum(axis=(-2, -1))


def scales__loop(Q, K, V, scales, d_merged):
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


def scales__covariance(Q, K, V, scales, d_merged):
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


def scales__through_the_output(Q, K, V, scales, d_merged):
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


HEAD_SCALES_BACKWARD = Exercise(
    name="head_scales_backward",
    points=5,
    difficulty=5,
    minutes=40,
    reference=solutions.head_scales_backward,
    cases=backward_cases,
    hidden=backward_hidden,
    misconceptions=(
        Misconception(
            "the other weights of the row forgotten",
            scales__mean_forgotten,
            "When one score of a row rises, what happens to the weights of the other keys? Add "
            "1 to every value of a head: should the derivative change?",
        ),
        Misconception(
            "the scaled scores in place of the scores",
            scales__scaled_scores,
            "What is the derivative of c * s with respect to c? Does a scale of 0 have the "
            "gradient 0?",
        ),
        Misconception(
            "weights without their scales",
            scales__weights_without_scales,
            "At which weights do you take the derivative: those with the scales that are given, or "
            "those with a scale of 1?",
        ),
        Misconception(
            "divided by the root of the width as well",
            scales__divided_too,
            "By what does the docstring multiply the scores, and by what else?",
        ),
        Misconception(
            "the merge undone by reshape",
            scales__merge_undone_by_reshape,
            "Row 0 of `d_merged` belongs to token 0, for all heads. Where does its second half "
            "go, with two heads?",
        ),
        Misconception(
            "the mean over the batch",
            scales__mean_over_the_batch,
            "One scale serves all sequences. The loss gets something from each: is its derivative "
            "their sum, or their mean?",
        ),
        Misconception(
            "a gradient for each sequence",
            scales__one_for_each_sequence,
            "How many scales are there, and how many numbers do you return?",
        ),
    ),
    alternatives=(scales__loop, scales__covariance, scales__through_the_output),
    help=(
        "Go backwards: through the merge, the weighted sum, the softmax, and the product of scale "
        "and scores. One scale meets all scores of its head.",
        "The way back through the merge is the split. For one row of the softmax, with z = c s, "
        "∂w_j/∂c = w_j (s_j - Σ_k w_k s_k). Then add up over everything that shares the scale.",
        "Sections “Split, attend, merge, mix” and “What W_o is for”; “What you need”, the chain "
        "rule.",
    ),
    promises=(
        Promise(
            "Q: (..., n_heads, n_q, d_k). K: (..., n_heads, n_k, d_k). V: (..., n_heads, n_k, d_v)",
            ("two heads, two queries, three keys", "all sizes differ"),
        ),
        Promise(
            "All have the same leading axes, perhaps none, and one row or more",
            (
                "float32, three leading axes, one of length 1",
                "a batch of one, all sizes 1",
                "all sizes equal",
            ),
        ),
        Promise(
            "scales: (n_heads,), the same for all sequences",
            ("a batch, three heads", "a scale of 0, and one below 0"),
        ),
        Promise(
            "The weights of head h are the softmax of scales[h] * Q_h K_h^T, with no other factor; "
            "each row sums to 1",
            ("two heads, two queries, three keys", "one head"),
        ),
        Promise("Then the heads are merged", ("as many tokens as heads", "all sizes equal")),
        Promise(
            "Scores may be large, and values near 100 000",
            ("large scores", "values near 100 000"),
        ),
        Promise(
            "(..., n_q, n_heads * d_v), the gradient of the loss with respect to the merged heads",
            ("all sizes differ", "a tiny gradient arrives"),
        ),
        Promise(
            "Returns an array of shape (n_heads,): the gradient with respect to `scales`",
            ("a batch", "one head, a batch of one"),
        ),
    ),
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
)
