"""The exercise `hard_attention`: a look at one place, drawn at random.

The random generator of a case is created again from its seed at each call. A right answer takes one
number for each row from it, so there is exactly one right result, which can be compared.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, SeededGenerator
from solutions import captioning as solutions

hard_attention = Declaration(
    solutions.hard_attention,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Turn the scores into weights, draw one number for each row, and find the place where the "
        "running sum of the weights passes that number.",
        "`np.cumsum` adds up. How many entries of the running sum are at most the number? Count "
        "them, but leave the last entry out, so that rounding cannot take you past the end.",
        "Section “Hard attention”.",
    ),
)


@hard_attention.right
def choice(scores, rng):
    L = scores.shape[-1]
    one_hot, log_probability = [], []
    for row in scores.reshape(-1, L):
        log_weights = row - np.logaddexp.reduce(row)
        weights = np.exp(log_weights)
        place = rng.choice(L, p=weights / weights.sum())
        one_hot.append(np.eye(L)[place])
        log_probability.append(log_weights[place])
    return np.reshape(one_hot, scores.shape), np.reshape(log_probability, scores.shape[:-1])


@hard_attention.right
def searched(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    log_probability = np.empty(scores.shape[:-1])
    one_hot = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        place = np.searchsorted(np.cumsum(weights[row]), rng.random(), side="right")
        one_hot[(*row, place)] = 1
        log_probability[row] = np.log(weights[row][place])
    return one_hot, log_probability


@hard_attention.right
def first_above(scores, rng):
    log_weights = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    below = np.cumsum(np.exp(log_weights), axis=-1)
    draws = np.expand_dims(rng.random(scores.shape[:-1]), -1)
    place = np.argmax(below > draws, axis=-1, keepdims=True)
    one_hot = np.zeros(scores.shape)
    np.put_along_axis(one_hot, place, 1.0, axis=-1)
    return one_hot, np.take_along_axis(log_weights, place, axis=-1)[..., 0]


@hard_attention.right
def plain(scores, rng):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    below = np.cumsum(weights, axis=-1)[..., :-1]
    place = np.sum(below <= rng.random((*scores.shape[:-1], 1)), axis=-1)
    one_hot = np.arange(scores.shape[-1]) == place[..., None]
    probability = np.sum(weights * one_hot, axis=-1)
    return one_hot.astype(scores.dtype), np.log(probability)


hard_attention.wrong(
    "a softmax over the batch",
    "Each row of scores has a draw of its own. Over which axis do the probabilities of a draw sum "
    "to 1?",
    plain.edit("weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=0, keepdims=True)"),
)
hard_attention.wrong(
    "best place instead of a drawn one",
    "A place with weight 0.1 should be drawn one time in ten. How often do you draw it?",
    plain.edit(
        "np.sum(below <= rng.random((*scores.shape[:-1], 1)), axis=-1)", "weights.argmax(axis=-1)"
    ),
)


@hard_attention.wrong("all places equally likely", "Does your draw change when the scores do?")
def _(scores, rng):
    L = scores.shape[-1]
    place = np.floor(rng.random(scores.shape[:-1]) * L)
    one_hot = np.arange(L) == np.asarray(place)[..., None]
    return one_hot.astype(scores.dtype), np.full(scores.shape[:-1], -np.log(L))


hard_attention.wrong(
    "score instead of the logarithm of the probability",
    "Add 5 to all scores. The probabilities stay the same; does your second result stay the same, "
    "too?",
    plain.edit("np.log(probability)", "np.sum(scores, axis=-1, where=one_hot)"),
)
hard_attention.wrong(
    "probability without its logarithm",
    "A log probability is never above 0. Is yours?",
    plain.edit("np.log(probability)", "probability"),
)
hard_attention.wrong(
    "a little added before the logarithm",
    "Suppose that a place with the probability 0.0000003 was drawn. How does the number that you "
    "add change its logarithm? Can a place that was drawn have the probability 0 at all?",
    plain.edit("np.log(probability)", "np.log(probability + 1e-8)"),
)
hard_attention.wrong(
    "logarithms of all places",
    "How many places were drawn in each row, and how many numbers do you return for it?",
    plain.edit("np.log(probability)", "np.log(weights)"),
)
hard_attention.wrong(
    "zero times minus infinity",
    "What is 0 * np.log(0)? Can you select the weight that you need before you take the logarithm?",
    plain.edit("np.log(probability)", "np.sum(one_hot * np.log(weights), axis=-1)"),
)
hard_attention.wrong(
    "number of the place instead of one-hot",
    "Which shape and dtype does the docstring ask for in the first result?",
    plain.edit("return one_hot.astype(scores.dtype)", "return place"),
)
hard_attention.wrong(
    "one draw for all rows",
    "Should two pictures be looked at in the same place just because they share one drawn number?",
    plain.edit("rng.random((*scores.shape[:-1], 1))", "rng.random()"),
)
hard_attention.wrong(
    "drawn in another way",
    "Your draw is fair: the place with the largest sum of score and Gumbel noise has the right "
    "probability. But how many numbers does it take from `rng`? See the docstring.",
    plain.edit(
        "place = np.sum(below <= rng.random((*scores.shape[:-1], 1)), axis=-1)",
        "noisy = scores - np.log(-np.log(rng.random(scores.shape)))\nplace = noisy.argmax(axis=-1)",
    ),
)
hard_attention.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from all scores without changing the weights?",
    plain.edit("np.exp(scores - scores.max(axis=-1, keepdims=True))", "np.exp(scores)"),
)


SMALL_FIRST = SeededGenerator(465162)
"""The first seed, counted up from 0, whose first number is below 3e-7."""


@hard_attention.public
def _(rng):
    yield Case("three places", (np.array([0.0, 2.0, 1.0]), _generator(rng))).holds(
        "scores: (..., L). They may be large, and minus infinity at a place that must never be "
        "drawn, but not at all places of a row.",
        "the natural logarithm of the probability with which that place was drawn.",
    )
    yield Case("ten rows of four places", (rng.normal(size=(10, 4)), _generator(rng))).holds(
        "rng: each row takes one number from it, between 0 and 1, by `rng.random()`, the first "
        "row the first number, and so on; `rng.random(scores.shape[:-1])` takes them all at once.",
        "The place drawn is the first at which the weights, added up from place 0 on, exceed the "
        "row's number. (`rng.choice(L, p=weights)` does just that for one row.)",
    )
    yield Case("two leading axes, float32", (_scores(rng, (3, 4, 5)), _generator(rng))).holds(
        "Returns (one_hot, log_probability), of shapes (..., L) and (...), both of floats: a 1 at "
        "the place drawn and 0 elsewhere"
    )
    scores = np.where(rng.random((12, 5)) < 0.4, -np.inf, rng.normal(size=(12, 5)))
    scores[:, 2] = 0.5
    yield Case("places that must never be drawn", (scores, _generator(rng))).holds("scores: (...…")
    yield Case("large scores", (rng.normal(size=(8, 4)) + 1000, _generator(rng))).holds(
        "scores: (...…"
    )
    apart = np.where(np.arange(8) % 2, 1000.0, -1000.0)[:, None]
    yield Case(
        "rows with very different scores", (rng.normal(size=(8, 4)) + apart, _generator(rng))
    ).holds("scores: (...…")
    yield Case("a place with a small probability is drawn", _unlikely(3)).holds(
        "The place…", "the natural…"
    )
    yield Case("a batch of one, one place", (rng.normal(size=(1, 1)), _generator(rng))).holds(
        "Returns (one_hot…"
    )
    yield Case("three leading axes", (rng.normal(size=(2, 1, 3, 4)), _generator(rng))).holds(
        "scores: (...…", "rng: each…"
    )
    yield Case("a place that is nearly certain", (_certain(rng, 3), _generator(rng))).holds(
        "the natural…"
    )


@hard_attention.hidden
def _(rng):
    n, L = rng.permutation([5, 6, 7])[:2]
    yield Case("some rows", (rng.normal(size=(9, L)), _generator(rng)))
    yield Case("as many rows as places, float32", (_scores(rng, (L, L)), _generator(rng)))
    yield Case("two leading axes", (rng.normal(size=(3, n, L)), _generator(rng))).holds(
        "rng: each…"
    )
    yield Case("one row of many places", (rng.normal(size=64), _generator(rng))).holds("The place…")
    scores = np.where(rng.random((15, L)) < 0.4, -np.inf, rng.normal(size=(15, L)))
    scores[:, 1] = -0.5
    yield Case("places that must never be drawn", (scores, _generator(rng)))
    yield Case("large scores", (rng.normal(size=(9, L)) + 1000, _generator(rng)))
    apart = np.where(rng.permutation(8) % 2, 1000.0, -1000.0)[:, None]
    yield Case(
        "rows with very different scores", (rng.normal(size=(8, L)) + apart, _generator(rng))
    )
    yield Case("a place with a small probability is drawn", _unlikely(int(L)))
    yield Case("a batch of one", (rng.normal(size=(1, L)), _generator(rng)))
    yield Case("one place", (rng.normal(size=1), _generator(rng))).holds("Returns (one_hot…")
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


hard_attention.mutant("a draw equal to a sum counts for the place before", "<= draws", "< draws")
hard_attention.mutant("1e-8 in the logarithm", "np.log(", "np.log(1e-8 + ")
hard_attention.lets_through(
    "a draw equal to a sum counts for the place before", "no seed draws exactly such a number"
)
