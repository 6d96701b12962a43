"""The exercise `score_function_gradient`: a gradient through a draw."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import captioning as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise


def gradient_cases(rng: np.random.Generator) -> Iterator[Case]:
    sampled = np.array([0.0, 1.0, 0.0])
    yield Case("three places, no baseline", (np.array([0.0, 2.0, 1.0]), sampled, 1.0, 0.0))
    yield Case("a baseline", (np.array([0.0, 2.0, 1.0]), sampled, 3.0, 2.0))
    yield Case("a batch, float32", _draws(rng, (4, 5), (4,), (4,), np.float32))
    yield Case("many draws from one row, one baseline", _draws(rng, (4,), (6,), ()))
    yield Case("two leading axes, a baseline for each row", _draws(rng, (2, 3, 4), (2, 3), (2, 3)))
    yield Case("large scores", _draws(rng, (3, 4), (3,), (), shift=1000.0))
    yield Case("scores far below 0", _draws(rng, (3, 4), (3,), (3,), shift=-1000.0))
    yield Case("another batch, float32", _draws(rng, (4, 5), (4,), (4,), np.float32))
    yield Case("rows far from one another", _apart(rng, 3, 4))
    yield Case("many rows, one draw for all", _draws(rng, (3, 4), (), ()))
    yield Case("three leading axes that broadcast", _draws(rng, (2, 1, 1, 3), (2, 4), (2, 1)))
    yield Case("a batch of one, one place", _draws(rng, (1, 1), (1,), (1,)))
    *draw, reward, baseline = _draws(rng, (2, 3), (2,), (2,))
    yield Case("rewards that were expected", (*draw, reward, reward))
    yield Case("tiny rewards", (*draw, 1e-9 * reward, 1e-9 * baseline))


def gradient_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, L = rng.permutation([4, 5, 6])[:2]
    yield Case("one row", _draws(rng, (L,), (), ()))
    yield Case("as many rows as places", _draws(rng, (L, L), (L,), (L,)))
    yield Case("many draws from one row, float32", _draws(rng, (L,), (n,), (), np.float32))
    yield Case("two leading axes", _draws(rng, (3, n, L), (3, n), (n,)))
    yield Case("large scores, a batch", _draws(rng, (n, L), (n,), (n,), shift=1000.0))
    yield Case("scores far below 0, a batch", _draws(rng, (n, L), (n,), (), shift=-1000.0))
    yield Case("rows far from one another", _apart(rng, n, L))
    yield Case("many rows, one draw for all", _draws(rng, (n, L), (), ()))
    yield Case("three leading axes that broadcast", _draws(rng, (2, 1, 1, L), (2, n), (2, 1)))
    yield Case("a batch of one, a baseline for it", _draws(rng, (1, L), (1,), (1,)))
    yield Case("one place", _draws(rng, (1,), (), ()))


def _draws(
    rng: np.random.Generator,
    scores: tuple[int, ...],
    rewards: tuple[int, ...],
    baselines: tuple[int, ...],
    dtype: type = np.float64,
    shift: float = 0.0,
) -> tuple[np.ndarray | float, ...]:
    """Random scores of a shape, a place for each reward, and numbers that are no array alone."""
    L = scores[-1]
    sampled = np.eye(L)[rng.integers(L, size=rewards)]
    reward, baseline = rng.normal(size=rewards) - 2, rng.normal(size=baselines) - 1
    numbers: list[np.ndarray | float] = [
        one.astype(dtype) if np.shape(one) else float(one) for one in (reward, baseline)
    ]
    shifted = rng.normal(size=scores) + shift
    return shifted.astype(dtype), sampled.astype(dtype), *numbers


def _apart(rng: np.random.Generator, n: int, L: int) -> tuple[np.ndarray | float, ...]:
    """A draw from each of `n` rows, whose scores are near 1000 and near -1000 in turn."""
    scores, *others = _draws(rng, (n, L), (n,), (n,))
    return scores + np.where(np.arange(n) % 2, 1000.0, -1000.0)[:, None], *others


def gradient__sign(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward - baseline, -1) * (weights - sampled)


def gradient__baseline_added(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward + baseline, -1) * (sampled - weights)


def gradient__no_baseline(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward, -1) * (sampled - weights)


def gradient__baseline_from_the_product(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward, -1) * (sampled - weights) - np.expand_dims(baseline, -1)


def gradient__of_the_probability(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    probability = np.sum(weights * sampled, axis=-1, keepdims=True)
    return np.expand_dims(reward - baseline, -1) * probability * (sampled - weights)


def gradient__no_softmax(scores, sampled, reward, baseline):
    return np.expand_dims(reward - baseline, -1) * sampled + 0 * scores


def gradient__by_the_weights(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward - baseline, -1) * sampled / weights


def gradient__scores_for_weights(scores, sampled, reward, baseline):
    return np.expand_dims(reward - baseline, -1) * (sampled - scores)


def gradient__averaged(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    estimates = np.expand_dims(reward - baseline, -1) * (sampled - weights)
    return estimates.reshape(-1, scores.shape[-1]).mean(axis=0)


def gradient__shifted_by_the_largest_of_all(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward - baseline, -1) * (sampled - weights)


def gradient__overflow(scores, sampled, reward, baseline):
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.expand_dims(reward - baseline, -1) * (sampled - weights)


def gradient__jacobian(scores, sampled, reward, baseline):
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    slopes = np.eye(scores.shape[-1]) - weights[..., None, :]  # of each log weight
    chosen = np.sum(sampled[..., None] * slopes, axis=-2)
    return np.asarray(reward - baseline)[..., None] * chosen


def gradient__two_parts(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    advantage = np.expand_dims(np.subtract(reward, baseline), -1)
    return advantage * sampled - advantage * weights


def gradient__place_by_place(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = weights.sum(axis=-1)
    columns = []
    for place in range(scores.shape[-1]):
        surprise = sampled[..., place] - weights[..., place] / total
        columns.append((reward - baseline) * surprise)
    return np.stack(columns, axis=-1)


SCORE_FUNCTION_GRADIENT = Exercise(
    name="score_function_gradient",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.score_function_gradient,
    cases=gradient_cases,
    hidden=gradient_hidden,
    misconceptions=(
        Misconception(
            "sign turned round",
            gradient__sign,
            "A draw brought more than the baseline. Should the score of its place rise or fall?",
        ),
        Misconception(
            "baseline added",
            gradient__baseline_added,
            "A draw brought just what was expected. How much should the scores change?",
        ),
        Misconception(
            "baseline ignored",
            gradient__no_baseline,
            "Does your estimate change when the baseline does?",
        ),
        Misconception(
            "baseline subtracted from the product",
            gradient__baseline_from_the_product,
            "Your estimates for one row should sum to 0 over its places. Do they?",
        ),
        Misconception(
            "gradient of the probability",
            gradient__of_the_probability,
            "A likely place is drawn often. Should its estimate be multiplied by its probability "
            "as well?",
        ),
        Misconception(
            "softmax forgotten",
            gradient__no_softmax,
            "If the score of the drawn place rises, what happens to the weights of the others?",
        ),
        Misconception(
            "gradient with respect to the weights",
            gradient__by_the_weights,
            "The derivative of log(weight) with respect to the weight is 1 / weight. With respect "
            "to which numbers does the docstring ask you to differentiate?",
        ),
        Misconception(
            "scores for weights",
            gradient__scores_for_weights,
            "Your estimates for one row should sum to 0 over its places. Do they?",
        ),
        Misconception(
            "mean over the draws",
            gradient__averaged,
            "How many estimates does the docstring ask for, when there are six draws?",
        ),
        Misconception(
            "largest score of all rows subtracted",
            gradient__shifted_by_the_largest_of_all,
            "One row has scores near 1000, the next near -1000. What is left of the second one's "
            "exponentials in yours?",
        ),
        Misconception(
            "exponential overflows",
            gradient__overflow,
            "What is np.exp(1000)? What may you subtract from all scores without changing the "
            "weights?",
        ),
    ),
    alternatives=(
        gradient__jacobian,
        gradient__two_parts,
        gradient__place_by_place,
    ),
    help=(
        "How much better than the baseline the draw was, times the gradient of the log probability "
        "of the drawn place.",
        "The log probability of place a is scores[a] minus the logarithm of the sum of all "
        "exp(scores). Differentiate that by scores[a], and by another score.",
        "Section “A gradient through a draw”.",
    ),
    promises=(
        Promise(
            "scores: (..., L); a place is drawn by their softmax, and they may be large.",
            (
                "three places, no baseline",
                "large scores",
                "large scores, a batch",
                "scores far below 0",
                "rows far from one another",
            ),
        ),
        Promise(
            "sampled: (..., L), one-hot, the place that was drawn. reward: (...), what the draw "
            "brought.",
            (
                "three places, no baseline",
                "one row",
                "a batch, float32",
                "another batch, float32",
                "tiny rewards",
            ),
        ),
        Promise(
            "baseline: (...), or one number for all; it must not depend on the draw.",
            (
                "a baseline",
                "many draws from one row, one baseline",
                "two leading axes, a baseline for each row",
                "rewards that were expected",
            ),
        ),
        Promise(
            "Leading axes broadcast: scores (L,) with sampled (n, L) and reward (n,) are n draws "
            "from one row.",
            (
                "many draws from one row, one baseline",
                "many rows, one draw for all",
                "three leading axes that broadcast",
            ),
        ),
        Promise(
            "Returns an estimate for each draw, of shape (..., L): the direction in which the "
            "scores should go for a higher reward, its mean over the draws the true gradient.",
            (
                "many draws from one row, float32",
                "a batch of one, one place",
                "a batch of one, a baseline for it",
                "one place",
            ),
        ),
    ),
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
)
