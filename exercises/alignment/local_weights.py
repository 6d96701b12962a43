"""The exercise `local_weights`: a window around a predicted position. To transfer."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import alignment as solutions

from .. import forbidden

local_weights = Declaration(
    solutions.local_weights,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    forbidden=forbidden.SOFTMAX,
    help=(
        "Three steps: the position, the window as a mask, and the bell over the weights.",
        "The length of a source is the sum of its mask. `np.abs(np.arange(T) - p) <= reach`, with "
        "an axis for p, is the window; padding is not in it. The softmax comes before the bell.",
        "The appendix, “Must it look everywhere?”; for the mask, section “From scores to weights”.",
    ),
)


@local_weights.right
def loop(s, scores, mask, W_p, v_p, reach):
    weights = np.zeros_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        n = int(mask[place].sum())
        p = n / (1 + np.exp(-np.tanh(s[place] @ W_p) @ v_p))
        near = [j for j in range(n) if abs(j - p) <= reach]
        if near:
            shares = np.exp(scores[place][near] - scores[place][near].max())
            bell = [np.exp(-((j - p) ** 2) / (2 * (reach / 2) ** 2)) for j in near]
            weights[place][near] = shares / shares.sum() * bell
    return weights


@local_weights.right
def by_logarithms(s, scores, mask, W_p, v_p, reach):
    share = 1 / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))
    p = (mask.sum(axis=-1) * share)[..., None]
    distance = np.arange(scores.shape[-1]) - p
    masked = np.where(mask & (abs(distance) <= reach), scores, -np.inf)
    total = np.logaddexp.reduce(masked, axis=-1, keepdims=True)
    total = np.where(np.isinf(total), 0, total)
    return np.exp(masked - total - distance**2 / (reach**2 / 2)).astype(scores.dtype)


@local_weights.right
def bell_first(s, scores, mask, W_p, v_p, reach):
    hidden = np.tanh(np.einsum("...s,sp->...p", s, W_p))
    n = np.count_nonzero(mask, axis=-1)
    p = np.expand_dims(n * (0.5 + 0.5 * np.tanh(0.5 * (hidden * v_p).sum(axis=-1))), -1)
    positions = np.arange(scores.shape[-1])
    bell = np.exp(-0.5 * ((positions - p) / (reach / 2)) ** 2)
    inside = (positions >= p - reach) & (positions <= p + reach) & mask
    lifted = scores - np.max(np.where(inside, scores, -1e30), axis=-1, keepdims=True)
    shares = np.exp(np.where(inside, lifted, -1e30))
    total = np.maximum(shares.sum(axis=-1, keepdims=True), 1)  # the largest has exp(0)
    return np.where(inside, bell * shares / total, 0).astype(scores.dtype)


@local_weights.right
def plain(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    bell = np.exp(-2 * (distance / reach) ** 2)
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * bell).astype(scores.dtype)


local_weights.wrong(
    "bell forgotten",
    "Two words of the window have equal scores. Has the nearer one to p the larger weight in "
    "yours?",
    plain.edit("(weights * bell)", "weights"),
)
local_weights.wrong(
    "normalised again",
    "Does the docstring want weights that sum to 1? What is the sum for five equal scores?",
    plain.edit(
        "return (weights * bell)",
        "bent = weights * bell\n"
        "return (bent / np.maximum(bent.sum(axis=-1, keepdims=True), 1e-300))",
    ),
)
local_weights.wrong(
    "padding counted in the length",
    "Of which sentence is p a share: the padded one or the real one?",
    plain.edit("mask.sum", "np.ones_like(mask).sum"),
)
local_weights.wrong(
    "sigma is the reach",
    "How wide is the bell, compared with the window?",
    plain.edit("-2 * (distance / reach) ** 2", "-0.5 * (distance / reach) ** 2"),
)
local_weights.wrong(
    "the 2 of the bell forgotten",
    "What stands under the fraction in the exponent of the bell, sigma squared or twice that?",
    plain.edit("-2 * (distance / reach) ** 2", "-4 * (distance / reach) ** 2"),
)
local_weights.wrong(
    "window forgotten",
    "Which weight has a word that is far from p in yours? Is it exactly 0?",
    plain.edit("mask & (np.abs(distance) <= reach)", "mask"),
)
local_weights.wrong(
    "softmax over the whole source",
    "Over which words is the softmax taken? Whose exponentials stand in your denominator?",
    plain.edit(
        "window = mask & (np.abs(distance) <= reach)",
        "near, window = np.abs(distance) <= reach, mask",
    ).edit("weights * bell", "near * weights * bell"),
)
local_weights.wrong(
    "position rounded",
    "May p lie between two words? Is a rounded p what is asked for?",
    plain.edit("np.arange(scores.shape[-1]) - p", "np.arange(scores.shape[-1]) - np.round(p)"),
)
local_weights.wrong(
    "bell on the scores",
    "Is the bell a factor of the weights or of the scores? What does it do to a negative score?",
    plain.edit("window =", "scores = scores * bell\nwindow =").edit(
        "(weights * bell).astype(scores.dtype)", "weights.astype(s.dtype)"
    ),
)
local_weights.wrong(
    "tanh forgotten",
    "Which function stands between W_p and v_p?",
    plain.edit("np.tanh(s @ W_p)", "s @ W_p"),
)
local_weights.wrong(
    "padding in the window",
    "A word of the window may be padding. Which weight has it in yours?",
    plain.edit("mask &", "mask.any(axis=-1, keepdims=True) &"),
)
local_weights.wrong(
    "window too narrow",
    "With p = 2.5 and a reach of 2, which positions are in the window?",
    plain.edit("np.abs(distance) <= reach", "np.abs(distance) < reach - 0.5"),
)


@local_weights.public
def _(rng):
    zero = np.zeros(2), np.zeros(5), np.ones(5, dtype=bool), np.eye(2), np.ones(2)
    yield Case("equal scores, p = 2.5, a reach of one", (*zero, 1)).holds(
        "The window holds the real tokens j with |j - p| <= reach, reach at least 1"
    )
    yield Case("equal scores, p = 2.5, a reach of two", (*zero, 2)).holds(
        "The predicted position is p = n * sigmoid(v_p . tanh(s W_p)), with positions counted "
        "from 0",
        "The weights are the softmax of the scores over the window, each then multiplied by the "
        "bell exp(-(j - p)^2 / (2 sigma^2)) with sigma = reach / 2, and not normalised again",
    )
    yield Case("all sizes differ", _inputs(rng, (), 9, 9, 3, 2, reach=2)).holds(
        "s: (..., d_s), the decoder's state, which may be large. scores: (..., T), of any size",
        "W_p: (d_s, d_p). v_p: (d_p,)",
        "The weights…",
    )
    yield Case("three of eight positions are padding", _inputs(rng, (), 8, 5, 2, 4, reach=2)).holds(
        "mask: boolean (..., T), True where a source token stands; the n real tokens come first, "
        "n may be 0"
    )
    yield Case("a reach beyond both ends", _inputs(rng, (), 4, 4, 3, 2, reach=7)).holds(
        "The window…"
    )
    yield Case(
        "a batch of other lengths", _inputs(rng, (4,), 7, [7, 3, 5, 1], 2, 3, reach=1)
    ).holds("mask: boolean…")
    yield Case(
        "as many positions as sentences", _inputs(rng, (3,), 3, [3, 2, 3], 3, 3, reach=1)
    ).holds("Returns the weights (..., T), which are 0 outside the window")
    inputs = _inputs(rng, (2, 1, 3), 6, [[[6, 4, 5]], [[2, 6, 3]]], 2, 4, reach=2)
    yield Case("float32, three leading axes", single(inputs)).holds("s: (...…")
    yield Case(
        "a source that is all padding", _inputs(rng, (3,), 5, [5, 0, 4], 2, 3, reach=2)
    ).holds("mask: boolean…")
    yield Case("p near the beginning", _inputs(rng, (), 8, 8, 2, 3, reach=2, push=-3.0)).holds(
        "The predicted…"
    )
    yield Case(
        "p near the end of the real tokens", _inputs(rng, (), 8, 6, 2, 3, reach=2, push=3.0)
    ).holds("The predicted…")
    s, scores, *rest = _inputs(rng, (2,), 7, [7, 6], 3, 2, reach=2)
    yield Case("scores near a thousand", (s, scores + 1000.0, *rest)).holds("s: (...…")
    apart = scores - [[0.0], [3000.0]]
    yield Case("a batch, one sentence's scores far below the other's", (s, apart, *rest)).holds(
        "s: (...…"
    )
    yield Case("large states", (s * 1000, scores, *rest)).holds("s: (...…")
    far = np.where(np.arange(9) < 7, scores[0, 0], 900.0)
    s, _, *rest = _inputs(rng, (), 9, 9, 3, 2, reach=1, push=-3.0)
    yield Case("a large score outside the window", (s, far, *rest)).holds(
        "The window…", "Returns the…"
    )
    yield Case("one position, one feature", _inputs(rng, (), 1, 1, 1, 1, reach=1)).holds(
        "W_p: (d_s…"
    )
    yield Case("a batch of one", _inputs(rng, (1,), 4, [3], 2, 1, reach=3)).holds("s: (...…")
    even = np.zeros(2), rng.normal(size=6), np.ones(6, dtype=bool), np.eye(2), np.ones(2)
    yield Case("p = 3, tokens exactly at the ends of the window, a reach of one", (*even, 1))
    yield Case("p = 3, tokens exactly at the ends of the window, a reach of two", (*even, 2))
    s, scores, *rest = _inputs(rng, (2,), 7, [7, 5], 3, 2, reach=2)
    yield Case("scores below any stand-in for infinity", (s, 1e4 * scores - 1e12, *rest))


@local_weights.hidden
def _(rng):
    n, d_s, d_p = int(rng.integers(8, 11)), *(int(size) for size in rng.permutation([2, 3]))
    yield Case("all sizes differ", _inputs(rng, (), n, n, d_s, d_p, reach=2))
    yield Case("padding", _inputs(rng, (), n, n - 3, d_s, d_p, reach=2))
    lengths = 1 + rng.permutation(n)[:4]
    yield Case("a batch of other lengths", _inputs(rng, (4,), n, lengths, d_s, d_p, reach=3))
    yield Case("a reach of one", _inputs(rng, (4,), n, lengths, d_s, d_p, reach=1))
    yield Case("a reach beyond both ends", _inputs(rng, (2,), 4, [4, 3], d_s, d_p, reach=9))
    inputs = _inputs(rng, (2, 2), n, lengths.reshape(2, 2), d_s, d_p, reach=2)
    yield Case("float32, two leading axes", single(inputs))
    yield Case("a source that is all padding", _inputs(rng, (2,), n, [n, 0], d_s, d_p, reach=2))
    s, scores, *rest = _inputs(rng, (), n, n, d_s, d_p, reach=2)
    yield Case("scores far below 0", (s, scores - 3000.0, *rest)).holds("s: (...…")
    near = _inputs(rng, (), n, n - 1, d_s, d_p, reach=2, push=3.0)
    yield Case("p near the end of the real tokens", near)


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    lengths: Any,
    d_s: int,
    d_p: int,
    *,
    reach: int,
    push: float | None = None,
) -> tuple[Any, ...]:
    """Random s, scores, mask, W_p and v_p, and the reach.

    With `push`, all hidden units are near 1 and v_p sums to `push`, so that p is near an end.
    """
    s, scores = rng.normal(size=(*batch, d_s)), rng.normal(size=(*batch, n))
    mask = np.arange(n) < np.asarray(lengths)[..., None]
    W_p, v_p = rng.normal(size=(d_s, d_p)), rng.normal(size=d_p)
    if push is not None:
        s, W_p, v_p = np.abs(s) + 1, np.abs(W_p) + 1, np.full(d_p, push / d_p)
    return s, scores, np.broadcast_to(mask, scores.shape).copy(), W_p, v_p, reach


def single(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with float32 where there was float64."""
    return tuple(
        one.astype(np.float32) if getattr(one, "dtype", None) == np.float64 else one
        for one in inputs
    )


local_weights.mutant("the ends of the window left out", "<= reach", "< reach", times=2)
