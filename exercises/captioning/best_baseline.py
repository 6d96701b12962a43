"""The exercise `best_baseline`: which number, subtracted from all rewards, helps most."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import captioning as solutions

best_baseline = Declaration(
    solutions.best_baseline,
    points=3,
    difficulty=4,
    minutes=25,
    kind=Kind.MEASURE,
    tolerance=0.02,
    help=(
        "First write a function from a baseline to the summed variance. Then find where it is "
        "smallest.",
        "There are only L different estimates, one for each place, and you know how likely each "
        "of them is: you can compute the variance without drawing. As a function of the baseline "
        "it is a parabola.",
        "Section “A gradient through a draw”.",
    ),
)


@best_baseline.right
def parabola(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()

    def variance(baseline):
        estimates = (rewards - baseline)[:, None] * (np.eye(len(weights)) - weights)
        mean = weights @ estimates
        return float(weights @ ((estimates - mean) ** 2).sum(axis=1))

    left, middle, right = variance(-1.0), variance(0.0), variance(1.0)
    return (left - right) / (2 * (left - 2 * middle + right))


@best_baseline.right
def fine_grid(scores, rewards):
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    lowest, best = np.inf, 0.0
    moments = [np.sum((one - weights) ** 2) for one in np.eye(len(weights))]
    for baseline in np.linspace(rewards.min(), rewards.max(), 4001):
        second = float(np.sum(weights * moments * (rewards - baseline) ** 2))
        if second < lowest:
            lowest, best = second, float(baseline)
    return best


@best_baseline.right
def drawn(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    counts = np.random.default_rng(0).multinomial(2_000_000, weights)
    seen = np.eye(len(weights)) - weights  # one row for each place drawn

    def variance(baseline):
        estimates = (rewards - baseline)[:, None] * seen
        mean = counts @ estimates / counts.sum()
        return counts @ ((estimates - mean) ** 2).sum(axis=1) / counts.sum()

    tried = np.linspace(rewards.min(), rewards.max(), 9)
    bend, slope, _ = np.polyfit(tried, [variance(one) for one in tried], 2)
    return float(-slope / (2 * bend))


@best_baseline.right
def plain(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    lengths = 1 - 2 * weights + np.sum(weights**2)  # of each place's estimate, squared
    squares = weights * lengths
    return float(squares @ rewards / squares.sum())


@best_baseline.wrong(
    "the expected reward",
    "That is a good baseline. If you move it a little to either side, does the variance become "
    "smaller or larger?",
)
def _(scores, rewards):
    weights = np.exp(scores - scores.max())
    return float(weights @ rewards / weights.sum())


@best_baseline.wrong("the mean over the places", "Does your answer change when the scores do?")
def plain_mean(scores, rewards):
    return float(rewards.mean())


best_baseline.wrong(
    "the best reward",
    "What is the variance with your baseline, and what is it with the worst reward as the "
    "baseline?",
    plain_mean.edit("rewards.mean", "rewards.max"),
)
best_baseline.wrong(
    "every place drawn equally often",
    "How often is a place with a low score drawn? How much does it therefore add to the variance?",
    plain.edit("weights * lengths", "lengths"),
)
best_baseline.wrong(
    "lengths in place of their squares",
    "If an estimate doubles, by how much does its share of the variance grow?",
    plain.edit("weights * lengths", "weights * np.sqrt(lengths)"),
)
best_baseline.wrong(
    "the variance of one component",
    "Over how many components does the docstring sum the variance?",
    plain.edit(
        "squares = weights * lengths",
        "likeliest = np.arange(len(weights)) == weights.argmax()\n"
        "squares = weights * (likeliest - weights.max()) ** 2",
    ),
)
best_baseline.wrong(
    "only the component of the place that was drawn",
    "When one place is drawn, what does the estimate say about the other places?",
    plain.edit("weights * lengths", "weights * (1 - weights) ** 2"),
)
best_baseline.wrong(
    "sign reversed",
    "Suppose that all rewards are below 0. Can their best baseline be above 0?",
    plain.edit("return float", "return -float"),
)


@best_baseline.public
def _(rng):
    yield Case("two places, equally likely", (np.zeros(2), np.array([-1.0, -3.0]))).holds(
        "scores: (L,), of at least two places; a place is drawn by their softmax"
    )
    yield Case(
        "the chapter's three places", (np.array([0.0, 2, 1]), np.array([-4.0, -2.0, -3.0]))
    ).holds(
        "what each place brings when it is drawn, all below 0",
        "The estimate is that of one draw, by the score function with one number as the baseline "
        "of all draws",
    )
    yield Case(
        "one place likely", (np.array([3.0, 0, 0, 0]), np.array([-1.0, -4.0, -5.0, -9.0]))
    ).holds(
        "Its variance is summed over its L components",
        "Returns the baseline that makes this sum smallest",
    )
    yield Case(
        "the likely place is the worst", (np.array([0.0, 3, 0]), np.array([-0.4, -9, -0.6]))
    ).holds("what each…")
    yield Case("the experiment, 64 places", _look(rng, 64, 2.0)).holds("Its variance…")
    yield Case("nearly equal scores", _look(rng, 12, 0.1)).holds("Returns the…")
    scores, rewards = _look(rng, 8, 1.5)
    yield Case("scores near 1000", (scores + 1000, rewards)).holds("scores: (L,)…")
    yield Case("scores near -1000", (scores - 1000, rewards)).holds("scores: (L,)…")


@best_baseline.hidden
def _(rng):
    L = int(rng.integers(4, 9))
    yield Case("a few places", _look(rng, L, 1.5)).holds("The estimate…")
    yield Case("two places", _look(rng, 2, 1.0)).holds("scores: (L,)…")
    yield Case("one place likely", (np.array([3.0, *rng.normal(size=3) / 5]), _rewards(rng, 4)))
    worst = np.array([-9.0, *-rng.uniform(0.4, 0.6, size=3)])
    yield Case("the likely place is the worst", (np.array([3.0, *rng.normal(size=3) / 5]), worst))
    yield Case("many places", _look(rng, 64, float(rng.uniform(1, 2)))).holds("Its variance…")
    scores, rewards = _look(rng, L, 1.5)
    yield Case("scores near 1000", (scores + 1000, rewards))


def _look(rng: np.random.Generator, L: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Random scores, and rewards that are better where scores are high."""
    scores = rng.normal(size=L) * spread
    return scores, _rewards(rng, L) * np.exp(-0.3 * (scores - scores.mean()))


def _rewards(rng: np.random.Generator, L: int) -> np.ndarray:
    return -rng.uniform(0.5, 6.0, size=L)


best_baseline.lets_through("L of 1 refused", "there are two places or more")
best_baseline.lets_through(
    "a softmax with 1e-6 in its denominator", "a millionth is far within the tolerance"
)
best_baseline.lets_through("a softmax shifted by the largest of all", "there is one row of scores")
