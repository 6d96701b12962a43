"""The exercise `score_function_gradient`: a gradient through a draw. To debug.

The given function subtracts the mean advantage of all draws from each of them. So a draw enters its
own baseline, and with n draws the mean estimate is (n - 1) / n times the gradient.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import captioning as solutions

from .. import forbidden

score_function_gradient = Declaration(
    solutions.score_function_gradient,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Call the function with two draws, then with each of them alone. What does the estimate "
        "of the first draw depend on, and what may it depend on?",
        "According to the docstring, which numbers make up the baseline of a draw? Which numbers "
        "does the function make it from?",
        "Section “A gradient through a draw”.",
    ),
)


@score_function_gradient.right
def jacobian(scores, sampled, reward, baseline):
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    slopes = np.eye(scores.shape[-1]) - weights[..., None, :]  # of each log weight
    chosen = np.sum(sampled[..., None] * slopes, axis=-2)
    return np.asarray(reward - baseline)[..., None] * chosen


@score_function_gradient.right
def two_parts(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    advantage = np.expand_dims(np.subtract(reward, baseline), -1)
    return advantage * sampled - advantage * weights


@score_function_gradient.right
def place_by_place(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = weights.sum(axis=-1)
    columns = []
    for place in range(scores.shape[-1]):
        surprise = sampled[..., place] - weights[..., place] / total
        columns.append((reward - baseline) * surprise)
    return np.stack(columns, axis=-1)


@score_function_gradient.right
def plain(scores, sampled, reward, baseline):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    advantage = np.expand_dims(reward - baseline, -1)
    return advantage * (sampled - weights)


score_function_gradient.wrong(
    "a softmax over the batch",
    "Your estimates for one row should sum to 0 over its places. Over which axis do your weights "
    "sum to 1?",
    plain.edit("weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=0, keepdims=True)"),
)
score_function_gradient.wrong(
    "sign reversed",
    "Suppose that a draw brought more than the baseline. Should the score of its place rise or "
    "fall?",
    plain.edit("sampled - weights", "weights - sampled"),
)
score_function_gradient.wrong(
    "baseline added",
    "Suppose that a draw brought exactly what was expected. How much should the scores change?",
    plain.edit("reward - baseline", "reward + baseline"),
)
score_function_gradient.wrong(
    "the mean advantage subtracted",
    "What is your estimate if there is only one draw? Does a draw contribute to the number that "
    "it is compared with?",
    plain.edit("return advantage", "advantage = advantage - np.mean(advantage)\nreturn advantage"),
    released=True,
)
baseline_ignored = score_function_gradient.wrong(
    "baseline ignored",
    "Does your estimate change when the baseline does?",
    plain.edit("reward - baseline", "reward"),
)
score_function_gradient.wrong(
    "baseline subtracted from the product",
    "Your estimates for one row should sum to 0 over its places. Do they?",
    baseline_ignored.edit(
        "(sampled - weights)", "(sampled - weights) - np.expand_dims(baseline, -1)"
    ),
)
score_function_gradient.wrong(
    "gradient of the probability",
    "A likely place is drawn often. Should its estimate be multiplied by its probability as well?",
    plain.edit(
        "return advantage",
        "probability = np.sum(weights * sampled, axis=-1, keepdims=True)\n"
        "return advantage * probability",
    ),
)
score_function_gradient.wrong(
    "softmax forgotten",
    "If the score of the drawn place rises, what happens to the weights of the others?",
    plain.edit("(sampled - weights)", "sampled + 0 * scores"),
)
score_function_gradient.wrong(
    "gradient with respect to the weights",
    "The derivative of log(weight) with respect to the weight is 1 / weight. With respect to "
    "which numbers does the docstring ask you to differentiate?",
    plain.edit("(sampled - weights)", "sampled / weights"),
)
score_function_gradient.wrong(
    "scores for weights",
    "Your estimates for one row should sum to 0 over its places. Do they?",
    plain.edit("sampled - weights", "sampled - scores"),
)
score_function_gradient.wrong(
    "mean over the draws",
    "How many estimates does the docstring ask for when there are six draws?",
    plain.edit(
        "return advantage * (sampled - weights)",
        "estimates = advantage * (sampled - weights)\n"
        "return estimates.reshape(-1, scores.shape[-1]).mean(axis=0)",
    ),
)
score_function_gradient.wrong(
    "largest score of all rows subtracted",
    "One row has scores near 1000, and the next has scores near -1000. What is left of the second "
    "row's exponentials in your function?",
    plain.edit("scores.max(axis=-1, keepdims=True)", "scores.max()"),
)
score_function_gradient.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from all scores without changing the weights?",
    plain.edit("np.exp(scores - scores.max(axis=-1, keepdims=True))", "np.exp(scores)"),
)


@score_function_gradient.public
def _(rng):
    sampled = np.array([0.0, 1.0, 0.0])
    yield Case("three places, no baseline", (np.array([0.0, 2.0, 1.0]), sampled, 1.0, 0.0)).holds(
        "scores: (..., L); a place is drawn by their softmax, and they may be large.",
        "sampled: (..., L), one-hot, the place that was drawn. reward: (...), what the draw "
        "brought.",
    )
    yield Case("a baseline", (np.array([0.0, 2.0, 1.0]), sampled, 3.0, 2.0)).holds(
        "baseline: (...), or one number for all; it must not depend on the draw."
    )
    yield Case("a batch, float32", _draws(rng, (4, 5), (4,), (4,), np.float32)).holds(
        "sampled: (...…"
    )
    yield Case("many draws from one row, one baseline", _draws(rng, (4,), (6,), ())).holds(
        "baseline: (...)…",
        "Leading axes broadcast: scores (L,) with sampled (n, L) and reward (n,) are n draws "
        "from one row.",
    )
    yield Case(
        "two leading axes, a baseline for each row", _draws(rng, (2, 3, 4), (2, 3), (2, 3))
    ).holds("baseline: (...)…")
    yield Case("large scores", _draws(rng, (3, 4), (3,), (), shift=1000.0)).holds("scores: (...…")
    yield Case("scores far below 0", _draws(rng, (3, 4), (3,), (3,), shift=-1000.0)).holds(
        "scores: (...…"
    )
    yield Case("another batch, float32", _draws(rng, (4, 5), (4,), (4,), np.float32)).holds(
        "sampled: (...…"
    )
    yield Case("rows with very different scores", _apart(rng, 3, 4)).holds("scores: (...…")
    yield Case("many rows, one draw for all", _draws(rng, (3, 4), (), ())).holds("Leading axes…")
    yield Case(
        "three leading axes that broadcast", _draws(rng, (2, 1, 1, 3), (2, 4), (2, 1))
    ).holds("Leading axes…")
    yield Case("a batch of one, one place", _draws(rng, (1, 1), (1,), (1,))).holds(
        "Returns an estimate for each draw, of shape (..., L): the direction in which the scores "
        "should go for a higher reward, its mean over the draws the true gradient."
    )
    *draw, reward, baseline = _draws(rng, (2, 3), (2,), (2,))
    yield Case("rewards that were expected", (*draw, reward, reward)).holds("baseline: (...)…")
    yield Case("tiny rewards", (*draw, 1e-9 * reward, 1e-9 * baseline)).holds("sampled: (...…")


@score_function_gradient.hidden
def _(rng):
    n, L = rng.permutation([4, 5, 6])[:2]
    yield Case("one row", _draws(rng, (L,), (), ())).holds("sampled: (...…")
    yield Case("as many rows as places", _draws(rng, (L, L), (L,), (L,)))
    yield Case("many draws from one row, float32", _draws(rng, (L,), (n,), (), np.float32)).holds(
        "Returns an…"
    )
    yield Case("two leading axes", _draws(rng, (3, n, L), (3, n), (n,)))
    yield Case("large scores, a batch", _draws(rng, (n, L), (n,), (n,), shift=1000.0)).holds(
        "scores: (...…"
    )
    yield Case("scores far below 0, a batch", _draws(rng, (n, L), (n,), (), shift=-1000.0))
    yield Case("rows with very different scores", _apart(rng, n, L))
    yield Case("many rows, one draw for all", _draws(rng, (n, L), (), ()))
    yield Case("three leading axes that broadcast", _draws(rng, (2, 1, 1, L), (2, n), (2, 1)))
    yield Case("a batch of one, a baseline for it", _draws(rng, (1, L), (1,), (1,))).holds(
        "Returns an…"
    )
    yield Case("one place", _draws(rng, (1,), (), ())).holds("Returns an…")


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
