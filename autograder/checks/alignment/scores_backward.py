"""The exercise `scores_backward`: which scores does training raise? To derive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def backward_cases(rng: np.random.Generator) -> Iterator[Case]:
    scores, H = np.array([0.0, np.log(3.0)]), np.array([[0.0], [8.0]])
    yield Case("two states, weights 1/4 and 3/4", (scores, np.ones(2, bool), H, np.ones(1)))
    yield Case("five states, nothing hidden", _inputs(rng, (), 5, 3, hidden=0))
    yield Case("five states, two hidden", _inputs(rng, (), 5, 3, hidden=2))
    yield Case("as many states as features", _inputs(rng, (), 3, 3, hidden=0))
    yield Case("a batch, as many positions as sentences", _inputs(rng, (4,), 4, 2, hidden=1))
    yield Case("float32, two leading axes", _single(_inputs(rng, (2, 3), 4, 5, hidden=1)))
    scores, mask, H, d_context = _inputs(rng, (3,), 4, 2, hidden=1)
    mask[1] = False
    yield Case("a source that is all padding", (scores, mask, H, d_context))
    yield Case("a batch of one, one state", _inputs(rng, (1,), 1, 2, hidden=0))
    scores, mask, H, d_context = _inputs(rng, (), 4, 3, hidden=1)
    yield Case("scores near a thousand", (scores + 1000.0, mask, H, d_context))
    batch, *rest = _inputs(rng, (2,), 4, 3, hidden=1)
    apart = batch - [[0.0], [3000.0]]
    yield Case("a batch, one sentence's scores far below the other's", (apart, *rest))
    yield Case("states near 100 000", (scores, mask, H + 1e5, d_context))
    yield Case("a tiny gradient arrives", (scores, mask, H, d_context * 1e-9))
    yield Case("the largest score hidden", (np.where(mask, scores, 900.0), mask, H, d_context))
    scores, *rest = _inputs(rng, (3,), 5, 3, hidden=2)
    yield Case("scores a million below 0", (scores - 1e6, *rest))


def backward_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_h, batch = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("nothing hidden", _inputs(rng, (), n, d_h, hidden=0))
    yield Case("one hidden", _inputs(rng, (), n, d_h, hidden=1))
    yield Case("a batch, padded", _inputs(rng, (batch,), n, d_h, hidden=2))
    yield Case("as many positions as sentences", _inputs(rng, (n,), n, n, hidden=1))
    yield Case("float32, three leading axes", _single(_inputs(rng, (2, 1, 3), n, d_h, hidden=1)))
    scores, mask, H, d_context = _inputs(rng, (batch,), n, d_h, hidden=1)
    mask[int(rng.integers(batch))] = False
    yield Case("a source that is all padding", (scores, mask, H, d_context))
    yield Case("scores far below 0", (scores - 3000.0, mask, H, d_context))
    yield Case("states near 100 000", (scores, mask, H + 1e5, d_context))


def _inputs(
    rng: np.random.Generator, batch: tuple[int, ...], n: int, d_h: int, hidden: int
) -> tuple[np.ndarray, ...]:
    """Random scores, mask, states and gradient; `hidden` positions a row are padding."""
    order = rng.permuted(np.broadcast_to(np.arange(n), (*batch, n)), axis=-1)
    H, d_context = rng.normal(size=(*batch, n, d_h)), rng.normal(size=(*batch, d_h))
    return rng.normal(size=(*batch, n)) * 1.5, order >= hidden, H, d_context


def _single(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(one if one.dtype == bool else one.astype(np.float32) for one in inputs)


def scores__others_forgotten(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    return weights * (H @ d_context[..., None])[..., 0]


def scores__diagonal(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    return weights * (1 - weights) * (H @ d_context[..., None])[..., 0]


def scores__weights_forgotten(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    context = np.sum(weights[..., None] * H, axis=-2)
    return mask * ((H - context[..., None, :]) @ d_context[..., None])[..., 0]


def scores__gradient_of_the_weights(scores, mask, H, d_context):
    return mask * (H @ d_context[..., None])[..., 0]


def scores__sign(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    context = np.sum(weights[..., None] * H, axis=-2)
    return weights * ((context[..., None, :] - H) @ d_context[..., None])[..., 0]


def scores__mask_ignored(scores, mask, H, d_context):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    context = np.sum(weights[..., None] * H, axis=-2)
    return weights * ((H - context[..., None, :]) @ d_context[..., None])[..., 0]


def scores__plain_mean(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    mean = H.mean(axis=-2, keepdims=True)
    return weights * ((H - mean) @ d_context[..., None])[..., 0]


def scores__jacobian(scores, mask, H, d_context):
    found = np.zeros_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        real = mask[place]
        if real.any():
            shares = np.exp(scores[place][real] - scores[place][real].max())
            weights = shares / shares.sum()
            jacobian = np.diag(weights) - np.outer(weights, weights)
            states = H[place][real] - H[place][real].mean(axis=0)
            found[place][real] = jacobian @ (states @ d_context[place])
    return found


def scores__mean_of_the_helps(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    centred = H - H.mean(axis=-2, keepdims=True)
    helps = np.einsum("...th,...h->...t", centred, d_context)
    mean = np.sum(weights * helps, axis=-1, keepdims=True)
    return np.where(mask, weights * (helps - mean), 0).astype(scores.dtype)


def scores__pairs(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    between = H[..., :, None, :] - H[..., None, :, :]
    gains = np.einsum("...jkh,...h->...jk", between, d_context)
    return np.einsum("...j,...k,...jk->...j", weights, weights, gains)


SCORES_BACKWARD = Exercise(
    name="scores_backward",
    points=4,
    difficulty=5,
    minutes=30,
    reference=solutions.scores_backward,
    cases=backward_cases,
    hidden=backward_hidden,
    misconceptions=(
        Misconception(
            "the other weights forgotten",
            scores__others_forgotten,
            "When one score rises, what happens to the other weights? Add the same vector to every "
            "state: should the gradient change?",
        ),
        Misconception(
            "the diagonal alone",
            scores__diagonal,
            "The derivative of a weight with respect to its own score is w (1 - w). What is that "
            "of the other weights with respect to this score?",
        ),
        Misconception(
            "without the weight in front",
            scores__weights_forgotten,
            "A state with a weight of almost 0: how much does the context change when its score "
            "rises a little?",
        ),
        Misconception(
            "the gradient of the weights",
            scores__gradient_of_the_weights,
            "You are one step short: this is the gradient with respect to the weights. Which "
            "function lies between scores and weights?",
        ),
        Misconception(
            "sign reversed",
            scores__sign,
            "Take a state that the gradient of the context points at. If its score rises, does the "
            "loss rise or fall?",
        ),
        Misconception(
            "mask ignored",
            scores__mask_ignored,
            "Can a score at padding change the loss? Which gradient has it in yours?",
        ),
        Misconception(
            "the plain mean in place of the context",
            scores__plain_mean,
            "With which mean of the states is a state compared: that of all, or the blend?",
        ),
    ),
    alternatives=(scores__jacobian, scores__mean_of_the_helps, scores__pairs),
    help=(
        "Go backwards in two steps: from the context to the weights, and from the weights to the "
        "scores. Then simplify; the result can be said in one sentence.",
        "∂w_j/∂scores_k = w_j (δ_jk - w_k). Multiply by ∂L/∂w_j = h_j · d_context, sum over j, and "
        "look for the context in what you have. To subtract before you multiply keeps the digits "
        "of large states.",
        "Sections “From scores to weights” and “The context vector”; “What you need”, the chain "
        "rule.",
    ),
    promises=(
        Promise(
            "scores: (..., T), of any size",
            ("scores near a thousand", "scores far below 0", "a batch of one, one state"),
        ),
        Promise(
            "mask: boolean (..., T), True where a source token stands",
            ("five states, two hidden", "one hidden", "the largest score hidden"),
        ),
        Promise(
            "H: (..., T, d_h), the encoder's states, whose numbers may be near 100 000",
            ("states near 100 000", "as many states as features"),
        ),
        Promise(
            "All have the same leading axes",
            (
                "a batch, as many positions as sentences",
                "float32, two leading axes",
                "float32, three leading axes",
            ),
        ),
        Promise(
            "The weights are the softmax of the scores over the tokens that the mask lets through, "
            "and 0 elsewhere; the context is the sum of the states, each times its weight",
            ("two states, weights 1/4 and 3/4", "five states, nothing hidden"),
        ),
        Promise(
            "d_context: (..., d_h), the gradient of the loss with respect to the context",
            ("a tiny gradient arrives", "nothing hidden"),
        ),
        Promise("Returns the gradient (..., T)", ("a batch, padded",)),
        Promise(
            "It is 0 at padding, and for a source that is all padding",
            ("five states, two hidden", "a source that is all padding"),
        ),
    ),
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
)
