"""The exercise `best_baseline`: which number, subtracted from all rewards, helps most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import captioning as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def baseline_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two places, equally likely", (np.zeros(2), np.array([-1.0, -3.0])))
    yield Case("the chapter's three places", (np.array([0.0, 2, 1]), np.array([-4.0, -2.0, -3.0])))
    yield Case("one place likely", (np.array([3.0, 0, 0, 0]), np.array([-1.0, -4.0, -5.0, -9.0])))
    yield Case("the likely place is the worst", (np.array([0.0, 3, 0]), np.array([-0.4, -9, -0.6])))
    yield Case("the experiment, 64 places", _look(rng, 64, 2.0))
    yield Case("nearly equal scores", _look(rng, 12, 0.1))
    scores, rewards = _look(rng, 8, 1.5)
    yield Case("scores near 1000", (scores + 1000, rewards))
    yield Case("scores near -1000", (scores - 1000, rewards))


def baseline_hidden(rng: np.random.Generator) -> Iterator[Case]:
    L = int(rng.integers(4, 9))
    yield Case("a few places", _look(rng, L, 1.5))
    yield Case("two places", _look(rng, 2, 1.0))
    yield Case("one place likely", (np.array([3.0, *rng.normal(size=3) / 5]), _rewards(rng, 4)))
    worst = np.array([-9.0, *-rng.uniform(0.4, 0.6, size=3)])
    yield Case("the likely place is the worst", (np.array([3.0, *rng.normal(size=3) / 5]), worst))
    yield Case("many places", _look(rng, 64, float(rng.uniform(1, 2))))
    scores, rewards = _look(rng, L, 1.5)
    yield Case("scores near 1000", (scores + 1000, rewards))


def _look(rng: np.random.Generator, L: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Random scores, and rewards that are better where scores are high."""
    scores = rng.normal(size=L) * spread
    return scores, _rewards(rng, L) * np.exp(-0.3 * (scores - scores.mean()))


def _rewards(rng: np.random.Generator, L: int) -> np.ndarray:
    return -rng.uniform(0.5, 6.0, size=L)


def baseline__expected_reward(scores, rewards):
    weights = np.exp(scores - scores.max())
    return float(weights @ rewards / weights.sum())


def baseline__plain_mean(scores, rewards):
    return float(rewards.mean())


def baseline__best_reward(scores, rewards):
    return float(rewards.max())


def baseline__weights_forgotten(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    squares = 1 - 2 * weights + np.sum(weights**2)
    return float(squares @ rewards / squares.sum())


def baseline__lengths_without_squares(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    lengths = weights * np.sqrt(1 - 2 * weights + np.sum(weights**2))
    return float(lengths @ rewards / lengths.sum())


def baseline__likeliest_place_alone(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    likeliest = np.arange(len(weights)) == weights.argmax()
    squares = weights * (likeliest - weights.max()) ** 2
    return float(squares @ rewards / squares.sum())


def baseline__own_place_alone(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    squares = weights * (1 - weights) ** 2
    return float(squares @ rewards / squares.sum())


def baseline__sign(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    squares = weights * (1 - 2 * weights + np.sum(weights**2))
    return -float(squares @ rewards / squares.sum())


def baseline__parabola(scores, rewards):
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()

    def variance(baseline):
        estimates = (rewards - baseline)[:, None] * (np.eye(len(weights)) - weights)
        mean = weights @ estimates
        return float(weights @ ((estimates - mean) ** 2).sum(axis=1))

    left, middle, right = variance(-1.0), variance(0.0), variance(1.0)
    return (left - right) / (2 * (left - 2 * middle + right))


def baseline__fine_grid(scores, rewards):
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    lowest, best = np.inf, 0.0
    moments = [np.sum((one - weights) ** 2) for one in np.eye(len(weights))]
    for baseline in np.linspace(rewards.min(), rewards.max(), 4001):
        second = float(np.sum(weights * moments * (rewards - baseline) ** 2))
        if second < lowest:
            lowest, best = second, float(baseline)
    return best


def baseline__drawn(scores, rewards):
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


BEST_BASELINE = Exercise(
    name="best_baseline",
    points=3,
    difficulty=4,
    minutes=25,
    reference=solutions.best_baseline,
    cases=baseline_cases,
    hidden=baseline_hidden,
    misconceptions=(
        Misconception(
            "the expected reward",
            baseline__expected_reward,
            "That is a good baseline. Is the variance smaller or larger a little to either side "
            "of it?",
        ),
        Misconception(
            "the mean over the places",
            baseline__plain_mean,
            "Does your answer change when the scores do?",
        ),
        Misconception(
            "the best reward",
            baseline__best_reward,
            "What is the variance with your baseline, and what is it with the worst reward?",
        ),
        Misconception(
            "every place drawn equally often",
            baseline__weights_forgotten,
            "How often does a place with a low score add to the variance?",
        ),
        Misconception(
            "lengths in place of their squares",
            baseline__lengths_without_squares,
            "If an estimate doubles, by how much does its share of the variance grow?",
        ),
        Misconception(
            "the variance of one component",
            baseline__likeliest_place_alone,
            "Over how many components does the docstring sum the variance?",
        ),
        Misconception(
            "only the component of the place that was drawn",
            baseline__own_place_alone,
            "When one place is drawn, what does the estimate say of the other places?",
        ),
        Misconception(
            "sign turned round",
            baseline__sign,
            "All rewards are below 0. Can their best baseline be above?",
        ),
    ),
    alternatives=(baseline__parabola, baseline__fine_grid, baseline__drawn),
    help=(
        "First a function from a baseline to the summed variance. Then find where it is smallest.",
        "There are only L different estimates, one for each place, and you know how likely each "
        "of them is: you can compute the variance without drawing. As a function of the baseline "
        "it is a parabola.",
        "Section “A gradient through a draw”.",
    ),
    promises=(
        Promise(
            "scores: (L,), of at least two places; a place is drawn by their softmax",
            ("two places, equally likely", "scores near 1000", "scores near -1000", "two places"),
        ),
        Promise(
            "what each place brings when it is drawn, all below 0",
            ("the chapter's three places", "the likely place is the worst"),
        ),
        Promise(
            "The estimate is that of one draw, by the score function with one number as the "
            "baseline of all draws",
            ("the chapter's three places", "a few places"),
        ),
        Promise(
            "Its variance is summed over its L components",
            ("one place likely", "the experiment, 64 places", "many places"),
        ),
        Promise(
            "Returns the baseline that makes this sum smallest",
            ("nearly equal scores", "one place likely"),
        ),
    ),
    kind=Kind.MEASURE,
    tolerance=0.02,
)
