"""The exercise `local_weights`: a window around a predicted position. To transfer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solutions import alignment as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Kind, Promise
from .local_weights_wrong import ALTERNATIVES, MISCONCEPTIONS


def window_cases(rng: np.random.Generator) -> Iterator[Case]:
    zero = np.zeros(2), np.zeros(5), np.ones(5, dtype=bool), np.eye(2), np.ones(2)
    yield Case("equal scores, p = 2.5, a reach of one", (*zero, 1))
    yield Case("equal scores, p = 2.5, a reach of two", (*zero, 2))
    yield Case("all sizes differ", _inputs(rng, (), 9, 9, 3, 2, reach=2))
    yield Case("three of eight positions are padding", _inputs(rng, (), 8, 5, 2, 4, reach=2))
    yield Case("a reach beyond both ends", _inputs(rng, (), 4, 4, 3, 2, reach=7))
    yield Case("a batch of other lengths", _inputs(rng, (4,), 7, [7, 3, 5, 1], 2, 3, reach=1))
    yield Case("as many positions as sentences", _inputs(rng, (3,), 3, [3, 2, 3], 3, 3, reach=1))
    inputs = _inputs(rng, (2, 1, 3), 6, [[[6, 4, 5]], [[2, 6, 3]]], 2, 4, reach=2)
    yield Case("float32, three leading axes", _single(inputs))
    yield Case("a source that is all padding", _inputs(rng, (3,), 5, [5, 0, 4], 2, 3, reach=2))
    yield Case("p near the beginning", _inputs(rng, (), 8, 8, 2, 3, reach=2, push=-3.0))
    yield Case("p near the end of the real tokens", _inputs(rng, (), 8, 6, 2, 3, reach=2, push=3.0))
    s, scores, *rest = _inputs(rng, (2,), 7, [7, 6], 3, 2, reach=2)
    yield Case("scores near a thousand", (s, scores + 1000.0, *rest))
    apart = scores - [[0.0], [3000.0]]
    yield Case("a batch, one sentence's scores far below the other's", (s, apart, *rest))
    yield Case("large states", (s * 1000, scores, *rest))
    far = np.where(np.arange(9) < 7, scores[0, 0], 900.0)
    s, _, *rest = _inputs(rng, (), 9, 9, 3, 2, reach=1, push=-3.0)
    yield Case("a large score outside the window", (s, far, *rest))
    yield Case("one position, one feature", _inputs(rng, (), 1, 1, 1, 1, reach=1))
    yield Case("a batch of one", _inputs(rng, (1,), 4, [3], 2, 1, reach=3))
    even = np.zeros(2), rng.normal(size=6), np.ones(6, dtype=bool), np.eye(2), np.ones(2)
    yield Case("p = 3, tokens exactly at the ends of the window, a reach of one", (*even, 1))
    yield Case("p = 3, tokens exactly at the ends of the window, a reach of two", (*even, 2))
    s, scores, *rest = _inputs(rng, (2,), 7, [7, 5], 3, 2, reach=2)
    yield Case("scores below any stand-in for infinity", (s, 1e4 * scores - 1e12, *rest))


def window_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_s, d_p = int(rng.integers(8, 11)), *(int(size) for size in rng.permutation([2, 3]))
    yield Case("all sizes differ", _inputs(rng, (), n, n, d_s, d_p, reach=2))
    yield Case("padding", _inputs(rng, (), n, n - 3, d_s, d_p, reach=2))
    lengths = 1 + rng.permutation(n)[:4]
    yield Case("a batch of other lengths", _inputs(rng, (4,), n, lengths, d_s, d_p, reach=3))
    yield Case("a reach of one", _inputs(rng, (4,), n, lengths, d_s, d_p, reach=1))
    yield Case("a reach beyond both ends", _inputs(rng, (2,), 4, [4, 3], d_s, d_p, reach=9))
    inputs = _inputs(rng, (2, 2), n, lengths.reshape(2, 2), d_s, d_p, reach=2)
    yield Case("float32, two leading axes", _single(inputs))
    yield Case("a source that is all padding", _inputs(rng, (2,), n, [n, 0], d_s, d_p, reach=2))
    s, scores, *rest = _inputs(rng, (), n, n, d_s, d_p, reach=2)
    yield Case("scores far below 0", (s, scores - 3000.0, *rest))
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


def _single(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        one.astype(np.float32) if isinstance(one, np.ndarray) and one.dtype != bool else one
        for one in inputs
    )


LOCAL_WEIGHTS = Exercise(
    name="local_weights",
    points=4,
    difficulty=4,
    minutes=25,
    reference=solutions.local_weights,
    cases=window_cases,
    hidden=window_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=ALTERNATIVES,
    help=(
        "Three steps: the position, the window as a mask, and the bell over the weights.",
        "The length of a source is the sum of its mask. `np.abs(np.arange(T) - p) <= reach`, with "
        "an axis for p, is the window; padding is not in it. The softmax comes before the bell.",
        "The appendix, “Must it look everywhere?”; for the mask, section “From scores to weights”.",
    ),
    promises=(
        Promise(
            "s: (..., d_s), the decoder's state, which may be large. scores: (..., T), of any size",
            (
                "large states",
                "a batch, one sentence's scores far below the other's",
                "all sizes differ",
                "scores near a thousand",
                "scores far below 0",
                "float32, three leading axes",
                "a batch of one",
            ),
        ),
        Promise(
            "mask: boolean (..., T), True where a source token stands; the n real tokens come "
            "first, n may be 0",
            (
                "three of eight positions are padding",
                "a batch of other lengths",
                "a source that is all padding",
            ),
        ),
        Promise("W_p: (d_s, d_p). v_p: (d_p,)", ("all sizes differ", "one position, one feature")),
        Promise(
            "The predicted position is p = n * sigmoid(v_p . tanh(s W_p)), with positions counted "
            "from 0",
            (
                "equal scores, p = 2.5, a reach of two",
                "p near the beginning",
                "p near the end of the real tokens",
            ),
        ),
        Promise(
            "The window holds the real tokens j with |j - p| <= reach, reach at least 1",
            (
                "equal scores, p = 2.5, a reach of one",
                "a reach beyond both ends",
                "a large score outside the window",
            ),
        ),
        Promise(
            "The weights are the softmax of the scores over the window, each then multiplied by "
            "the bell exp(-(j - p)^2 / (2 sigma^2)) with sigma = reach / 2, and not normalised "
            "again",
            ("equal scores, p = 2.5, a reach of two", "all sizes differ"),
        ),
        Promise(
            "Returns the weights (..., T), which are 0 outside the window",
            ("as many positions as sentences", "a large score outside the window"),
        ),
    ),
    kind=Kind.TRANSFER,
    forbidden=forbidden.SOFTMAX,
)
