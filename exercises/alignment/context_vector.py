"""The exercise `context_vector`: a blend of the encoder's states."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import alignment as solutions

context_vector = Declaration(
    solutions.context_vector,
    points=1,
    difficulty=1,
    minutes=8,
    help=(
        "Multiply each state by its weight and add up over the places.",
        "A row of weights times the matrix H. For a batch, make the weights a matrix of one row "
        "each: `weights[..., None, :]`.",
        "Section “The whole look, in three lines”.",
    ),
)


@context_vector.right
def loop(weights, H):
    context = np.zeros_like(H[..., 0, :])
    for j in range(H.shape[-2]):
        context = context + weights[..., j, None] * H[..., j, :]
    return context


@context_vector.right
def einsum(weights, H):
    return np.einsum("...t,...td->...d", weights, H)


@context_vector.right
def transposed(weights, H):
    return np.squeeze(np.swapaxes(H, -1, -2) @ weights[..., None], axis=-1)


@context_vector.right
def plain(weights, H):
    return (weights[..., None] * H).sum(axis=-2)


context_vector.wrong(
    "plain average",
    "Change the weights. Does your context change?",
    plain.edit("(weights[..., None] * H).sum(axis=-2)", "H.mean(axis=-2)"),
)
context_vector.wrong(
    "mean in place of the sum",
    "The weights sum to 1 already. What does the division by T do to the context?",
    plain.edit(".sum(", ".mean("),
)
context_vector.wrong(
    "not summed",
    "How many vectors should come out: one for each place, or one?",
    plain.edit(".sum(axis=-2)", ""),
)
context_vector.wrong(
    "summed over the features",
    "Which axis should be gone from the result, that of the places or of the features?",
    plain.edit("axis=-2", "axis=-1"),
)


@context_vector.wrong(
    "strongest place only",
    "What do the other places contribute? How would a small change of the weights show?",
)
def _(weights, H):
    best = np.argmax(weights, axis=-1)[..., None, None]
    return np.take_along_axis(H, best, axis=-2)[..., 0, :]


context_vector.wrong(
    "softmax applied again",
    "These are weights already. What does a second softmax make of the weights 1, 0, 0?",
    einsum.edit(
        "return",
        "exponentials = np.exp(weights - weights.max(axis=-1, keepdims=True))\n"
        "weights = exponentials / exponentials.sum(axis=-1, keepdims=True)\n"
        "return",
    ),
)
context_vector.wrong(
    "divided by the sum of the weights",
    "The weights are used as they are. What do you divide by when all of them are 0?",
    einsum.edit("return", "weights = weights / weights.sum(axis=-1, keepdims=True)\nreturn"),
)
context_vector.wrong(
    "batch taken for rows",
    "`weights` of a batch has shape (batch, T), and `@` takes that for one matrix. Which "
    "sentence's states does its second row meet?",
    plain.edit("(weights[..., None] * H).sum(axis=-2)", "weights @ H"),
)
context_vector.wrong(
    "states on the left",
    "Write the shapes side by side. Do your weights meet the places, or the features?",
    plain.edit("(weights[..., None] * H).sum(axis=-2)", "(H @ weights[..., None])[..., 0]"),
)
context_vector.wrong(
    "every axis of length 1 squeezed away",
    "`np.squeeze` without an axis takes every axis of length 1. Which ones are there in a batch "
    "of one sentence?",
    plain.edit("(weights[..., None] * H).sum(axis=-2)", "np.squeeze(weights[..., None, :] @ H)"),
)


@context_vector.public
def _(rng):
    H = np.array([[4.0, 0.0], [0.0, 8.0], [2.0, 2.0]])
    yield Case("three places", (np.array([0.25, 0.5, 0.25]), H)).holds(
        "Blend the encoder's states by the weights, which are used as they are."
    )
    yield Case("as many places as features", _inputs(rng, (), 3, 3)).holds(
        "weights: (..., T); they need not sum to 1. H: (..., T, d_h), with the same leading axes."
    )
    yield Case("nothing to attend to", (np.zeros(3), rng.normal(size=(3, 2)))).holds(
        "Where all weights are 0, the context is 0"
    )
    yield Case("a batch, as many sentences as places", _inputs(rng, (3,), 3, 4)).holds(
        "weights: (...…"
    )
    yield Case("float32, two leading batch axes", _inputs(rng, (2, 3), 4, 5, np.float32)).holds(
        "weights: (...…"
    )
    _, H = _inputs(rng, (2,), 3, 2)
    yield Case("weights that do not sum to 1", (rng.normal(size=(2, 3)), H)).holds(
        "Blend the…", "weights: (...…"
    )
    yield Case("a batch of one, one place, one feature", _inputs(rng, (1,), 1, 1)).holds(
        "Returns an array of shape (..., d_h)."
    )
    weights, H = _inputs(rng, (2, 1, 2), 3, 2)
    yield Case("three leading batch axes, tiny states", (weights, 1e-6 * H)).holds("weights: (...…")


@context_vector.hidden
def _(rng):
    n, d, batch = rng.permutation([2, 3, 5])
    yield Case("as many places as features", _inputs(rng, (), n, n))
    yield Case("more or fewer places than features", _inputs(rng, (), n, d))
    yield Case("a batch, as many sentences as places", _inputs(rng, (n,), n, d))
    weights, H = _inputs(rng, (batch,), n, d)
    weights[0] = 0
    yield Case("a sentence with nothing to attend to", (weights, H)).holds("Where all…")
    yield Case("float32, a batch", _inputs(rng, (batch,), n, d, np.float32))
    _, H = _inputs(rng, (batch,), n, d)
    yield Case("weights that do not sum to 1", (3 * rng.random(size=(batch, n)), H))
    yield Case("a batch of one, one feature", _inputs(rng, (1,), n, 1)).holds("Returns an…")
    weights, H = _inputs(rng, (2, 3), n, d)
    yield Case("two leading batch axes, tiny states", (weights, 1e-6 * H))


def _inputs(
    rng: np.random.Generator, batch: tuple[int, ...], n: int, d: int, dtype: type = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """Random weights that sum to 1, and random states."""
    weights = rng.dirichlet(np.ones(n), size=batch)
    return weights.astype(dtype), rng.normal(size=(*batch, n, d)).astype(dtype)
