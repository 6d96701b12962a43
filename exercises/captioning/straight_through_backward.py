"""The exercise `straight_through_backward`: back through a hard look as if it had been soft."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import captioning as solutions

from .. import forbidden

straight_through_backward = Declaration(
    solutions.straight_through_backward,
    points=5,
    difficulty=5,
    minutes=35,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Forget the one-hot look: it plays no part on the way back. Go through the softmax, then "
        "through the division, to the scores and to the temperature.",
        "With w = softmax(z), ∂w_j/∂z_i = w_j ((i = j) - w_i). And z = (s + g) / t gives "
        "∂z/∂s = 1 / t and ∂z/∂t = -z / t.",
        "The appendix, section “Two other ways through a draw”; “What you need”, the chain rule.",
    ),
)


@straight_through_backward.right
def loop(scores, noise, temperature, d_look):
    d_scores = np.zeros_like(scores)
    d_temperature = np.zeros_like(temperature)
    for row in np.ndindex(temperature.shape):
        noisy = scores[row] + noise[row]
        shares = np.exp((noisy - noisy.max()) / temperature[row])
        shares = shares / shares.sum()
        jacobian = np.diag(shares) - np.outer(shares, shares)
        arrives = jacobian @ (d_look[row] - d_look[row].mean())
        d_scores[row] = arrives / temperature[row]
        d_temperature[row] = -arrives @ (noisy - noisy.max()) / temperature[row] ** 2
    return d_scores, d_temperature


@straight_through_backward.right
def covariance(scores, noise, temperature, d_look):
    noisy = scores + noise
    noisy = noisy - noisy.max(axis=-1, keepdims=True)
    log_shares = noisy / temperature[..., None]
    log_shares = log_shares - np.logaddexp.reduce(log_shares, axis=-1, keepdims=True)
    shares = np.exp(log_shares)
    centred = d_look - np.einsum("...l,...l->...", shares, d_look)[..., None]
    inverse = 1 / temperature
    covariance = np.einsum("...l,...l,...l->...", shares, centred, noisy)
    return shares * centred * inverse[..., None], -covariance * inverse**2


@straight_through_backward.right
def pairs(scores, noise, temperature, d_look):
    noisy = (scores - scores.mean(axis=-1, keepdims=True)) + noise
    tempered = noisy / np.expand_dims(temperature, -1)
    shares = np.exp(tempered - tempered.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    differences = d_look[..., :, None] - d_look[..., None, :]
    d_tempered = np.sum(shares[..., :, None] * shares[..., None, :] * differences, axis=-1)
    d_temperature = -np.sum(d_tempered * tempered, axis=-1) / temperature
    return d_tempered / np.expand_dims(temperature, -1), d_temperature


@straight_through_backward.right
def plain(scores, noise, temperature, d_look):
    noisy = scores + noise
    tempered = noisy / temperature[..., None]
    shares = np.exp(tempered - tempered.max(axis=-1, keepdims=True))
    relaxed = shares / shares.sum(axis=-1, keepdims=True)
    mean = np.sum(relaxed * d_look, axis=-1, keepdims=True)
    d_scores = relaxed * (d_look - mean) / temperature[..., None]
    return d_scores, -np.sum(d_scores * tempered, axis=-1)


straight_through_backward.wrong(
    "the derivative at the one-hot look",
    "At which weights do you take the derivative of the softmax: at the one-hot look that was "
    "used, or at the softmax that it is treated as?",
    plain.edit(
        "shares / shares.sum(axis=-1, keepdims=True)",
        "np.eye(scores.shape[-1])[tempered.argmax(axis=-1)].astype(scores.dtype)",
    ),
)
straight_through_backward.wrong(
    "the gradient passed on untouched",
    "Suppose that all scores of a row rise by 1. Does the look change? So what must your d_scores "
    "sum to?",
    plain.edit("relaxed * (d_look - mean)", "d_look"),
)
straight_through_backward.wrong(
    "noise forgotten",
    "On the way forward the place of the largest number was taken. The largest of which numbers?",
    plain.edit("scores + noise", "scores"),
)
straight_through_backward.wrong(
    "not divided by the temperature on the way back",
    "What is the derivative of (scores + noise) / temperature with respect to the scores?",
    plain.edit("(d_look - mean) / temperature[..., None]", "(d_look - mean)"),
)
straight_through_backward.wrong(
    "the mean of the gradient forgotten",
    "Add 1 to every number of d_look. The weights still sum to 1, so should anything change?",
    plain.edit("(d_look - mean)", "d_look"),
)
straight_through_backward.wrong(
    "only the diagonal",
    "When one score rises, what happens to the weights of the other places?",
    plain.edit("(d_look - mean)", "(1 - relaxed) * d_look"),
)
straight_through_backward.wrong(
    "a softmax without the temperature",
    "Of which row of numbers does the docstring take the softmax?",
    plain.edit(
        "tempered - tempered.max(axis=-1, keepdims=True)",
        "noisy - noisy.max(axis=-1, keepdims=True)",
    ).edit(
        "-np.sum(d_scores * tempered, axis=-1)", "-np.sum(d_scores * noisy, axis=-1) / temperature"
    ),
)
straight_through_backward.wrong(
    "sign of the temperature",
    "If the temperature rises, all numbers of the row come nearer to 0. Do they come nearer to 0 "
    "in your formula, or move away from it?",
    plain.edit("-np.sum(d_scores * tempered, axis=-1)", "np.sum(d_scores * tempered, axis=-1)"),
)
straight_through_backward.wrong(
    "divided by the temperature once",
    "What is the derivative of 1 / t? How many times do you divide by t in it?",
    plain.edit("d_scores * tempered", "d_scores * noisy"),
)
straight_through_backward.wrong(
    "one temperature for all rows",
    "How many temperatures are there, and which rows does each of them affect?",
    plain.edit(
        "-np.sum(d_scores * tempered, axis=-1)",
        "np.full(temperature.shape, -np.sum(d_scores * tempered))",
    ),
)
straight_through_backward.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from all numbers of a row?",
    plain.edit("np.exp(tempered - tempered.max(axis=-1, keepdims=True))", "np.exp(tempered)"),
)


@straight_through_backward.public
def _(rng):
    hand = (np.array([[0.0, np.log(3)]]), np.zeros((1, 2)), np.ones(1), np.array([[0.0, 1.0]]))
    yield Case("one row, two places", hand).holds(
        "On the way forward the look is one-hot, at the largest number of the row",
        "On the way back it is treated as the softmax of the row",
    )
    yield Case("two rows, three places", _inputs(rng, (2,), 3)).holds(
        "scores: (..., n, L), which may be large",
        "noise: (..., n, L), added to them",
        "On the way back…",
    )
    yield Case("as many rows as places", _inputs(rng, (4,), 4)).holds(
        "(..., n), positive; each row of scores plus noise is divided by its own"
    )
    yield Case("a batch", _inputs(rng, (2, 3), 4)).holds("noise: (...…")
    yield Case(
        "float32, three leading axes, one of length 1", _single(_inputs(rng, (2, 1, 2, 3), 4))
    ).holds("the gradients with respect to the scores and to the temperatures")
    yield Case("large scores", _inputs(rng, (3,), 4, shift=3000.0)).holds("scores: (...…")
    yield Case("rows with very different scores", _apart(rng, 4, 3)).holds("scores: (...…")
    scores, noise, temperature, d_look = _inputs(rng, (3,), 5)
    yield Case("a gradient near 100 000", (scores, noise, temperature, d_look + 1e5)).holds(
        "d_look: (..., n, L), the gradient of the loss with respect to the look"
    )
    yield Case("a tiny gradient arrives", (scores, noise, temperature, d_look * 1e-9)).holds(
        "d_look: (...…"
    )
    yield Case("high temperatures", (scores, noise, temperature * 100, d_look)).holds("(..., n)…")
    yield Case("a batch of one, one row, one place", _inputs(rng, (1, 1), 1)).holds(
        "the gradients…"
    )


@straight_through_backward.hidden
def _(rng):
    n, L = (int(one) for one in rng.permutation([3, 4, 5, 6])[:2])
    yield Case("some rows", _inputs(rng, (n,), L)).holds("noise: (...…", "On the way forward…")
    yield Case("as many rows as places", _inputs(rng, (L,), L))
    yield Case("a batch", _inputs(rng, (2, n), L))
    yield Case("float32, two leading axes", _single(_inputs(rng, (3, n), L))).holds(
        "the gradients…"
    )
    yield Case("large scores", _inputs(rng, (n,), L, shift=3000.0))
    yield Case("rows with very different scores", _apart(rng, n, L))
    scores, noise, temperature, d_look = _inputs(rng, (n,), L)
    yield Case("a gradient near 100 000", (scores, noise, temperature, d_look + 1e5))
    yield Case("a batch of one", _inputs(rng, (1, n), L)).holds("the gradients…")


def _inputs(
    rng: np.random.Generator, rows: tuple[int, ...], L: int, shift: float = 0.0
) -> tuple[np.ndarray, ...]:
    """Random scores, Gumbel noise, temperatures and a gradient of the look."""
    scores, d_look = rng.normal(size=(2, *rows, L))
    return scores + shift, rng.gumbel(size=(*rows, L)), rng.uniform(0.4, 2.5, size=rows), d_look


def _apart(rng: np.random.Generator, n: int, L: int) -> tuple[np.ndarray, ...]:
    """Rows whose scores are near 2000 and near -2000 in turn."""
    scores, *others = _inputs(rng, (n,), L)
    return scores + np.where(np.arange(n) % 2, 2000.0, -2000.0)[:, None], *others


def _single(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(one.astype(np.float32) for one in inputs)
