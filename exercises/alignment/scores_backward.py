"""The exercise `scores_backward`: which scores does training raise? To derive."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import alignment as solutions

from .. import forbidden
from .words_lost import single

scores_backward = Declaration(
    solutions.scores_backward,
    points=4,
    difficulty=5,
    minutes=30,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Go backwards in two steps: from the context to the weights, and from the weights to the "
        "scores. Then simplify; the result can be said in one sentence.",
        "∂w_j/∂scores_k = w_j (δ_jk - w_k). Multiply by ∂L/∂w_j = h_j · d_context, sum over j, "
        "and look for the context in what you get. If you subtract before you multiply, large "
        "states lose fewer digits.",
        "Section “The whole look, in three lines”; “What you need”, the chain rule.",
    ),
)


@scores_backward.right
def jacobian(scores, mask, H, d_context):
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


@scores_backward.right
def mean_of_the_helps(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    centred = H - H.mean(axis=-2, keepdims=True)
    helps = np.einsum("...th,...h->...t", centred, d_context)
    mean = np.sum(weights * helps, axis=-1, keepdims=True)
    return np.where(mask, weights * (helps - mean), 0).astype(scores.dtype)


@scores_backward.right
def pairs(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    between = H[..., :, None, :] - H[..., None, :, :]
    gains = np.einsum("...jkh,...h->...jk", between, d_context)
    return np.einsum("...j,...k,...jk->...j", weights, weights, gains)


@scores_backward.right
def plain(scores, mask, H, d_context):
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = (shares / np.where(total > 0, total, 1)).astype(scores.dtype)
    context = np.sum(weights[..., None] * H, axis=-2)
    helps = ((H - context[..., None, :]) @ d_context[..., None])[..., 0]
    return weights * helps


others_forgotten = scores_backward.wrong(
    "the other weights forgotten",
    "When one score rises, what happens to the other weights? Add the same vector to every state: "
    "should the gradient change?",
    plain.edit("H - context[..., None, :]", "H"),
)
scores_backward.wrong(
    "the diagonal alone",
    "The derivative of a weight with respect to its own score is w (1 - w). What is the "
    "derivative of the other weights with respect to this score?",
    others_forgotten.edit("weights * helps", "weights * (1 - weights) * helps"),
)
scores_backward.wrong(
    "without the weight in front",
    "Take a state with a weight of almost 0. How much does the context change when its score "
    "rises a little?",
    plain.edit("weights * helps", "mask * helps"),
)
scores_backward.wrong(
    "the gradient of the weights",
    "You are one step short: this is the gradient with respect to the weights. Which function "
    "lies between scores and weights?",
    others_forgotten.edit("weights * helps", "mask * helps"),
)
scores_backward.wrong(
    "sign reversed",
    "Take a state that the gradient of the context points at. If its score rises, does the loss "
    "rise or fall?",
    plain.edit("H - context[..., None, :]", "context[..., None, :] - H"),
)
scores_backward.wrong(
    "mask ignored",
    "Can a score at the padding change the loss? Which gradient does it get from you?",
    plain.edit("largest =", "mask = np.ones_like(mask)\nlargest ="),
)
scores_backward.wrong(
    "the plain mean in place of the context",
    "With which mean of the states should you compare a state: the plain mean of all, or the "
    "blend?",
    plain.edit("np.sum(weights[..., None] * H, axis=-2)", "H.mean(axis=-2)"),
)


@scores_backward.public
def _(rng):
    scores, H = np.array([0.0, np.log(3.0)]), np.array([[0.0], [8.0]])
    yield Case("two states, weights 1/4 and 3/4", (scores, np.ones(2, bool), H, np.ones(1))).holds(
        "The weights are the softmax of the scores over the tokens that the mask lets through, "
        "and 0 elsewhere; the context is the sum of the states, each times its weight"
    )
    yield Case("five states, nothing hidden", _inputs(rng, (), 5, 3, hidden=0)).holds(
        "The weights…"
    )
    yield Case("five states, two hidden", _inputs(rng, (), 5, 3, hidden=2)).holds(
        "mask: boolean (..., T), True where a source token stands",
        "It is 0 at padding, and for a source that is all padding",
    )
    yield Case("as many states as features", _inputs(rng, (), 3, 3, hidden=0)).holds(
        "H: (..., T, d_h), the encoder's states, whose numbers may be near 100 000"
    )
    yield Case("a batch, as many positions as sentences", _inputs(rng, (4,), 4, 2, hidden=1)).holds(
        "All have the same leading axes"
    )
    yield Case("float32, two leading axes", single(_inputs(rng, (2, 3), 4, 5, hidden=1))).holds(
        "All have…"
    )
    scores, mask, H, d_context = _inputs(rng, (3,), 4, 2, hidden=1)
    mask[1] = False
    yield Case("a source that is all padding", (scores, mask, H, d_context)).holds("It is 0 at…")
    yield Case("a batch of one, one state", _inputs(rng, (1,), 1, 2, hidden=0)).holds(
        "scores: (..., T), of any size"
    )
    scores, mask, H, d_context = _inputs(rng, (), 4, 3, hidden=1)
    yield Case("scores near a thousand", (scores + 1000.0, mask, H, d_context)).holds(
        "scores: (...…"
    )
    batch, *rest = _inputs(rng, (2,), 4, 3, hidden=1)
    apart = batch - [[0.0], [3000.0]]
    yield Case("a batch, one sentence's scores far below the other's", (apart, *rest))
    yield Case("states near 100 000", (scores, mask, H + 1e5, d_context)).holds("H: (...…")
    yield Case("a tiny gradient arrives", (scores, mask, H, d_context * 1e-9)).holds(
        "d_context: (..., d_h), the gradient of the loss with respect to the context"
    )
    yield Case(
        "the largest score hidden", (np.where(mask, scores, 900.0), mask, H, d_context)
    ).holds("mask: boolean…")
    scores, *rest = _inputs(rng, (3,), 5, 3, hidden=2)
    yield Case("scores a million below 0", (scores - 1e6, *rest))


@scores_backward.hidden
def _(rng):
    n, d_h, batch = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("nothing hidden", _inputs(rng, (), n, d_h, hidden=0)).holds("d_context: (...…")
    yield Case("one hidden", _inputs(rng, (), n, d_h, hidden=1)).holds("mask: boolean…")
    yield Case("a batch, padded", _inputs(rng, (batch,), n, d_h, hidden=2)).holds(
        "Returns the gradient (..., T)"
    )
    yield Case("as many positions as sentences", _inputs(rng, (n,), n, n, hidden=1))
    yield Case(
        "float32, three leading axes", single(_inputs(rng, (2, 1, 3), n, d_h, hidden=1))
    ).holds("All have…")
    scores, mask, H, d_context = _inputs(rng, (batch,), n, d_h, hidden=1)
    mask[int(rng.integers(batch))] = False
    yield Case("a source that is all padding", (scores, mask, H, d_context))
    yield Case("scores far below 0", (scores - 3000.0, mask, H, d_context)).holds("scores: (...…")
    yield Case("states near 100 000", (scores, mask, H + 1e5, d_context))


def _inputs(
    rng: np.random.Generator, batch: tuple[int, ...], n: int, d_h: int, hidden: int
) -> tuple[np.ndarray, ...]:
    """Random scores, mask, states and gradient; `hidden` positions a row are padding."""
    order = rng.permuted(np.broadcast_to(np.arange(n), (*batch, n)), axis=-1)
    H, d_context = rng.normal(size=(*batch, n, d_h)), rng.normal(size=(*batch, d_h))
    return rng.normal(size=(*batch, n)) * 1.5, order >= hidden, H, d_context


scores_backward.lets_through(
    "-1e+09 for a hidden score", "there the logarithm of a sum has no digits left"
)
