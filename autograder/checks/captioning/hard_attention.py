"""The exercise `hard_attention`: a look at one place, drawn at random.

The random generator of a case is made afresh from its seed at each call. A right answer takes one
number a row from it, so what is right is one answer and can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import captioning as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, SeededGenerator

SMALL_FIRST = SeededGenerator(465162)
"""The first seed, counted up from 0, whose first number is below 3e-7."""


def hard_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three places", (np.array([0.0, 2.0, 1.0]), _generator(rng)))
    yield Case("ten rows of four places", (rng.normal(size=(10, 4)), _generator(rng)))
    yield Case("two leading axes, float32", (_scores(rng, (3, 4, 5)), _generator(rng)))
    scores = np.where(rng.random((12, 5)) < 0.4, -np.inf, rng.normal(size=(12, 5)))
    scores[:, 2] = 0.5
    yield Case("places that must never be drawn", (scores, _generator(rng)))
    yield Case("large scores", (rng.normal(size=(8, 4)) + 1000, _generator(rng)))
    apart = np.where(np.arange(8) % 2, 1000.0, -1000.0)[:, None]
    yield Case("rows far from one another", (rng.normal(size=(8, 4)) + apart, _generator(rng)))
    yield Case("a place with a small probability is drawn", _unlikely(3))
    yield Case("a batch of one, one place", (rng.normal(size=(1, 1)), _generator(rng)))
    yield Case("three leading axes", (rng.normal(size=(2, 1, 3, 4)), _generator(rng)))
    yield Case("a place that is nearly certain", (_certain(rng, 3), _generator(rng)))


def hard_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, L = rng.permutation([5, 6, 7])[:2]
    yield Case("some rows", (rng.normal(size=(9, L)), _generator(rng)))
    yield Case("as many rows as places, float32", (_scores(rng, (L, L)), _generator(rng)))
    yield Case("two leading axes", (rng.normal(size=(3, n, L)), _generator(rng)))
    yield Case("one row of many places", (rng.normal(size=64), _generator(rng)))
    scores = np.where(rng.random((15, L)) < 0.4, -np.inf, rng.normal(size=(15, L)))
    scores[:, 1] = -0.5
    yield Case("places that must never be drawn", (scores, _generator(rng)))
    yield Case("large scores", (rng.normal(size=(9, L)) + 1000, _generator(rng)))
    apart = np.where(rng.permutation(8) % 2, 1000.0, -1000.0)[:, None]
    yield Case("rows far from one another", (rng.normal(size=(8, L)) + apart, _generator(rng)))
    yield Case("a place with a small probability is drawn", _unlikely(int(L)))
    yield Case("a batch of one", (rng.normal(size=(1, L)), _generator(rng)))
    yield Case("one place", (rng.normal(size=1), _generator(rng)))
    yield Case("a place that is nearly certain", (_certain(rng, int(L)), _generator(rng)))


def _generator(rng: np.random.Generator) -> SeededGenerator:
    return SeededGenerator(int(rng.integers(2**31)))


def _unlikely(L: int) -> tuple[np.ndarray, SeededGenerator]:
    """Scores by which place 0 is hardly ever drawn, and a generator that draws it."""
    draw = SMALL_FIRST.load().random()
    weights = np.array([1.05 * draw, *np.arange(1.0, L)])
    weights[1:] *= (1 - weights[0]) / weights[1:].sum()
    return np.log(weights), SMALL_FIRST


def _certain(rng: np.random.Generator, L: int) -> np.ndarray:
    """A row of scores of which the first is higher than all others by ten or more."""
    scores = rng.uniform(0, 1, size=L)
    scores[0] = 11.0
    return scores


def _scores(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def hard__best_place(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    place = np.argmax(weights, axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.log(weights.max(axis=-1))


def hard__all_alike(scores, rng):
    L = scores.shape[-1]
    place = np.floor(rng.random(scores.shape[:-1]) * L)
    one_hot = np.arange(L) == np.asarray(place)[..., None]
    return one_hot.astype(scores.dtype), np.full(scores.shape[:-1], -np.log(L))


def hard__score_returned(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.sum(scores, axis=-1, where=one_hot)


def hard__probability(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.sum(weights * one_hot, axis=-1)


def hard__a_little_added(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.log(np.sum(weights * one_hot, axis=-1) + 1e-8)


def hard__all_logarithms(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.log(weights)


def hard__times_minus_infinity(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = (np.arange(scores.shape[-1]) == place[..., None]).astype(scores.dtype)
    return one_hot, np.sum(one_hot * np.log(weights), axis=-1)


def hard__number_of_the_place(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return place, np.log(np.sum(weights * one_hot, axis=-1))


def hard__one_draw_for_all(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= rng.random()).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.log(np.sum(weights * one_hot, axis=-1))


def hard__noise_on_the_scores(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    noisy = scores - np.log(-np.log(rng.random(scores.shape)))
    one_hot = np.arange(scores.shape[-1]) == noisy.argmax(axis=-1)[..., None]
    return one_hot.astype(scores.dtype), np.log(np.sum(weights * one_hot, axis=-1))


def hard__overflow(scores, rng):
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    draws = np.asarray(rng.random(scores.shape[:-1]))
    place = (np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]).sum(axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    return one_hot.astype(scores.dtype), np.log(np.sum(weights * one_hot, axis=-1))


def hard__choice(scores, rng):
    L = scores.shape[-1]
    one_hot, log_probability = [], []
    for row in scores.reshape(-1, L):
        log_weights = row - np.logaddexp.reduce(row)
        weights = np.exp(log_weights)
        place = rng.choice(L, p=weights / weights.sum())
        one_hot.append(np.eye(L)[place])
        log_probability.append(log_weights[place])
    return np.reshape(one_hot, scores.shape), np.reshape(log_probability, scores.shape[:-1])


def hard__searched(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    log_probability = np.empty(scores.shape[:-1])
    one_hot = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        place = np.searchsorted(np.cumsum(weights[row]), rng.random(), side="right")
        one_hot[(*row, place)] = 1
        log_probability[row] = np.log(weights[row][place])
    return one_hot, log_probability


def hard__first_above(scores, rng):
    log_weights = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    below = np.cumsum(np.exp(log_weights), axis=-1)
    draws = np.expand_dims(rng.random(scores.shape[:-1]), -1)
    place = np.argmax(below > draws, axis=-1, keepdims=True)
    one_hot = np.zeros(scores.shape)
    np.put_along_axis(one_hot, place, 1.0, axis=-1)
    return one_hot, np.take_along_axis(log_weights, place, axis=-1)[..., 0]


HARD_ATTENTION = Exercise(
    name="hard_attention",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.hard_attention,
    cases=hard_cases,
    hidden=hard_hidden,
    misconceptions=(
        Misconception(
            "best place instead of a drawn one",
            hard__best_place,
            "A place with weight 0.1 is to be drawn one time in ten. How often do you draw it?",
        ),
        Misconception(
            "all places alike",
            hard__all_alike,
            "Does your draw change when the scores do?",
        ),
        Misconception(
            "score instead of the logarithm of the probability",
            hard__score_returned,
            "Add 5 to all scores: the probabilities stay. Does your second result?",
        ),
        Misconception(
            "probability without its logarithm",
            hard__probability,
            "A log probability is never above 0. Is yours?",
        ),
        Misconception(
            "a little added before the logarithm",
            hard__a_little_added,
            "A place was drawn with the probability 0.0000003. Can a place that was drawn have the "
            "probability 0? What does your sum make of its logarithm?",
        ),
        Misconception(
            "logarithms of all places",
            hard__all_logarithms,
            "How many places were drawn in each row, and how many numbers do you return for it?",
        ),
        Misconception(
            "zero times minus infinity",
            hard__times_minus_infinity,
            "What is 0 * np.log(0)? Can you pick the one weight before you take the logarithm?",
        ),
        Misconception(
            "number of the place instead of one-hot",
            hard__number_of_the_place,
            "Which shape and dtype does the docstring give for the first result?",
        ),
        Misconception(
            "one draw for all rows",
            hard__one_draw_for_all,
            "Should two pictures look at the same place because their draws are one and the same?",
        ),
        Misconception(
            "drawn in another way",
            hard__noise_on_the_scores,
            "Your draw is fair: the place with the largest score plus Gumbel noise has the right "
            "probability. But how many numbers does it take from `rng`? See the docstring.",
        ),
        Misconception(
            "exponential overflows",
            hard__overflow,
            "What is np.exp(1000)? What may you subtract from all scores without changing the "
            "weights?",
        ),
    ),
    alternatives=(
        hard__choice,
        hard__searched,
        hard__first_above,
    ),
    help=(
        "Turn the scores into weights, draw one number a row, find the place where the running "
        "sum of the weights passes it.",
        "`np.cumsum` adds up. How many entries of the running sum are at most the number? Count "
        "them, and leave the last entry out, so that rounding cannot lead you past the end.",
        "Section “Hard attention”.",
    ),
    promises=(
        Promise(
            "scores: (..., L). They may be large, and minus infinity at a place that must never "
            "be drawn, but not at all places of a row.",
            (
                "three places",
                "three leading axes",
                "large scores",
                "rows far from one another",
                "places that must never be drawn",
            ),
        ),
        Promise(
            "rng: each row takes one number from it, between 0 and 1, by `rng.random()`, the "
            "first row the first number, and so on; `rng.random(scores.shape[:-1])` takes them "
            "all at once.",
            ("ten rows of four places", "two leading axes", "three leading axes"),
        ),
        Promise(
            "The place drawn is the first at which the weights, added up from place 0 on, exceed "
            "the row's number. (`rng.choice(L, p=weights)` does just that for one row.)",
            (
                "ten rows of four places",
                "one row of many places",
                "a place with a small probability is drawn",
            ),
        ),
        Promise(
            "Returns (one_hot, log_probability), of shapes (..., L) and (...): a 1 at the place "
            "drawn and 0 elsewhere, in the dtype of the scores,",
            ("two leading axes, float32", "a batch of one, one place", "one place"),
        ),
        Promise(
            "the natural logarithm of the probability with which that place was drawn.",
            (
                "three places",
                "a place with a small probability is drawn",
                "a place that is nearly certain",
            ),
        ),
    ),
)
