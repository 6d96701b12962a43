"""The exercise `learn_from_draws`: a learner of three scores, with a baseline and without."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import bandit as solutions

from .. import forbidden

learn_from_draws = Declaration(
    solutions.learn_from_draws,
    points=3,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "One loop over the steps. Within a step: the weights, the arm, the baseline, the estimate, "
        "the new scores. Only then may the reward of the step enter the mean.",
        "Keep the sum of what each learner's draws have brought. Before step t (from 0) there were "
        "t draws, so the mean is that sum divided by t.",
        "Section “A gradient through a draw”.",
    ),
)


@learn_from_draws.right
def one_learner_at_a_time(rewards, numbers, rate, with_baseline):
    rewards, arms = np.asarray(rewards, dtype=float), len(rewards)
    result = np.empty((*numbers.shape[:-1], arms))
    for learner in np.ndindex(numbers.shape[:-1]):
        scores, brought = np.zeros(arms), []
        for number in numbers[learner]:
            weights = np.exp(scores - np.logaddexp.reduce(scores))
            arm = next((a for a in range(arms - 1) if weights[: a + 1].sum() > number), arms - 1)
            baseline = np.mean(brought) if with_baseline and brought else 0.0
            scores = scores - rate * (rewards[arm] - baseline) * weights
            scores[arm] += rate * (rewards[arm] - baseline)
            brought.append(rewards[arm])
        result[learner] = np.exp(scores - np.logaddexp.reduce(scores))
    return result


@learn_from_draws.right
def running_mean(rewards, numbers, rate, with_baseline):
    def softmax(scores):
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return shares / np.sum(shares, axis=-1, keepdims=True)

    one_hot, mean = np.eye(len(rewards)), np.zeros(numbers.shape[:-1])
    scores = np.zeros((*numbers.shape[:-1], len(rewards)))
    for t in range(numbers.shape[-1]):
        weights = softmax(scores)
        passed = np.cumsum(weights, axis=-1) > numbers[..., t, None]
        passed[..., -1] = True
        arm = np.argmax(passed, axis=-1)
        better = rewards[arm] - (mean if with_baseline else 0.0)
        scores += rate * better[..., None] * (one_hot[arm] - weights)
        mean += (rewards[arm] - mean) / (t + 1)
    return softmax(scores)


@learn_from_draws.right
def plain(rewards, numbers, rate, with_baseline):
    scores = np.zeros((*numbers.shape[:-1], len(rewards)))
    brought = np.zeros(numbers.shape[:-1])
    for t in range(numbers.shape[-1]):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        arm = np.sum(weights.cumsum(axis=-1)[..., :-1] <= numbers[..., t, None], axis=-1)
        reward = rewards[arm]
        baseline = brought / t if with_baseline and t > 0 else 0 * reward
        estimate = (reward - baseline)[..., None] * (np.eye(len(rewards))[arm] - weights)
        scores = scores + rate * estimate
        brought = brought + reward
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


learn_from_draws.wrong(
    "its own reward in its baseline",
    "What is the baseline of the very first draw, and what is then left of its reward? May a draw "
    "enter its own baseline?",
    plain.edit(
        "brought / t if with_baseline and t > 0 else 0 * reward",
        "(brought + reward) / (t + 1) if with_baseline else 0 * reward",
    ),
)
learn_from_draws.wrong(
    "the last reward as the baseline",
    "After five draws, how many rewards should enter the baseline of the sixth?",
    plain.edit("brought = brought + reward", "brought = (t + 1) * reward"),
)
learn_from_draws.wrong(
    "the mean of the arm that was drawn",
    "A baseline must not depend on the draw. What remains of a reward if each arm is compared with "
    "itself?",
    plain.edit(
        "brought / t if with_baseline and t > 0 else 0 * reward",
        "np.sum(seen * drawn, axis=-1) * reward if with_baseline else 0 * reward",
    )
    .edit("reward = rewards[arm]", "reward, drawn = rewards[arm], np.eye(len(rewards))[arm]")
    .edit("brought = np.zeros(numbers.shape[:-1])", "seen = 0 * scores")
    .edit("brought = brought + reward", "seen = np.maximum(seen, drawn)"),
)
learn_from_draws.wrong(
    "divided by one step too many",
    "Before step t, counted from 0, how many draws has a learner made?",
    plain.edit("brought / t if", "brought / (t + 1) if"),
)
learn_from_draws.wrong(
    "the sum of the earlier rewards",
    "Suppose that all arms bring the same. What should the scores do once the baseline is known?",
    plain.edit("brought / t if", "brought if"),
)
learn_from_draws.wrong(
    "one baseline for all learners",
    "Each row is a learner of its own. May the rewards of one judge the draws of another?",
    plain.edit("brought / t if", "np.mean(brought) / t + 0 * reward if"),
)
learn_from_draws.wrong(
    "never a baseline",
    "Does your result change with `with_baseline`?",
    plain.edit("brought / t if with_baseline and t > 0 else 0 * reward", "0 * reward"),
)
learn_from_draws.wrong(
    "always a baseline",
    "Does your result change with `with_baseline`?",
    plain.edit("if with_baseline and t > 0", "if t > 0"),
)
learn_from_draws.wrong(
    "best arm instead of a drawn one",
    "In the first step all weights are equal. Which arm do you take then? Does it depend on the "
    "step's number?",
    plain.edit(
        "np.sum(weights.cumsum(axis=-1)[..., :-1] <= numbers[..., t, None], axis=-1)",
        "weights.argmax(axis=-1)",
    ),
)
learn_from_draws.wrong(
    "all arms equally likely",
    "When a learner has found the best arm, how often should it still draw the others?",
    plain.edit("weights.cumsum(axis=-1)", "(0 * weights + 1 / len(rewards)).cumsum(axis=-1)"),
)
learn_from_draws.wrong(
    "weights not subtracted",
    "The estimate of one draw sums to 0 over the arms. Does yours?",
    plain.edit("(np.eye(len(rewards))[arm] - weights)", "np.eye(len(rewards))[arm]"),
)
learn_from_draws.wrong(
    "downhill",
    "An arm brought more than expected. Should its score rise or fall?",
    plain.edit("scores + rate * estimate", "scores - rate * estimate"),
)
learn_from_draws.wrong(
    "scores returned",
    "What do the results of a row sum to?",
    plain.edit("return weights / weights.sum(axis=-1, keepdims=True)", "return scores"),
)
learn_from_draws.wrong(
    "the last step left out",
    "With one step, is your result different from that with no step at all?",
    plain.edit("range(numbers.shape[-1])", "range(numbers.shape[-1] - 1)"),
)


@learn_from_draws.public
def _(rng):
    by_hand = np.array([1.0, 3.0]), np.array([0.75, 0.2]), 1 / 3
    yield Case("two arms, two steps, with a baseline", (*by_hand, True)).holds(
        "Then its scores change by `rate` times the score-function estimate of that draw.",
        "The baseline is the mean reward of the learner's earlier steps if `with_baseline`, and 0 "
        "if not, or if there are none.",
    )
    yield Case("two arms, two steps, without", (*by_hand, False)).holds("The baseline…")
    yield Case("one step", (np.array([1.0, 3.0]), np.array([0.75]), 0.5, True)).holds(
        "The scores of a learner start at 0."
    )
    yield Case("no step", (rng.normal(size=3), np.zeros((2, 0)), 0.1, True)).holds(
        "one for each of T steps; each row is a learner of its own, and T may be 0."
    )
    yield Case("six steps of four learners", _draws(rng, 3, (4,), 6, True)).holds(
        "In each step it draws the first arm at which its weights, the softmax of its scores, "
        "added up from arm 0 on, exceed the step's number.",
        "The baseline…",
    )
    yield Case("the same without a baseline", _draws(rng, 3, (4,), 6, False)).holds("The baseline…")
    yield Case("as many learners as arms and steps", _draws(rng, 4, (4,), 4, True)).holds(
        "numbers: (..., T), between 0 and 1"
    )
    yield Case("three leading axes, one of length 1", _draws(rng, 3, (2, 1, 3), 5, True)).holds(
        "Returns the weights after the last step, of shape (..., A)."
    )
    yield Case("a batch of one, a single arm", _draws(rng, 1, (1,), 3, True)).holds("Returns the…")
    rewards, numbers, _, _ = _draws(rng, 3, (3,), 8, True)
    yield Case("rewards in the thousands", (1000 * rewards, numbers, 0.5, True)).holds(
        "rewards: (A,), of any size, what each arm brings whenever it is drawn."
    )
    yield Case("tiny rewards, a high rate", (1e-9 * rewards, numbers, 3e8, True)).holds("rewards:…")
    yield Case("40 steps", _draws(rng, 5, (3,), 40, True)).holds("In each…")
    yield Case("four other learners", _draws(rng, 3, (4,), 6, True)).holds("numbers:…")
    one_outshines = np.array([4000.0, 1.0, 2.0]), np.array([[0.1, 0.5], [0.5, 0.9]]), 0.5, False
    yield Case("one arm brings far more", one_outshines).holds("rewards:…")


@learn_from_draws.hidden
def _(rng):
    n, A, T = (int(one) for one in rng.permutation([4, 5, 6]))
    yield Case("one learner", _draws(rng, A, (), T, True)).holds("numbers:…")
    yield Case("some learners", _draws(rng, A, (n,), T, True)).holds("The baseline…")
    yield Case("some learners, no baseline", _draws(rng, A, (n,), T, False))
    yield Case("as many learners as arms and steps", _draws(rng, A, (A,), A, True))
    yield Case("two leading axes", _draws(rng, A, (2, n), T, True)).holds("Returns the…")
    yield Case("one step", _draws(rng, A, (n,), 1, True))
    yield Case("no step", _draws(rng, A, (n,), 0, False)).holds("one for each…")
    yield Case("two arms", _draws(rng, 2, (n,), 9, True))
    rewards, numbers, _, _ = _draws(rng, A, (n,), 8, True)
    yield Case("rewards in the thousands", (1000 * rewards, numbers, 0.5, False)).holds("rewards:…")
    yield Case("a batch of one, one arm", _draws(rng, 1, (1,), T, True))
    yield Case("40 steps", _draws(rng, A, (3,), 40, False)).holds("In each…")
    yield Case("other learners", _draws(rng, A, (n,), T, True))
    numbers = np.array([[0.1, 0.5], [0.5, 0.9]]) + 0.05 * rng.random()
    yield Case("one arm brings far more", (np.array([5000.0, 2, 1]), numbers, 0.5, True))


def _draws(
    rng: np.random.Generator, A: int, leading: tuple[int, ...], T: int, with_baseline: bool
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Rewards near 2, a number for each step of each learner, and a rate."""
    return rng.normal(size=A) + 2, rng.random((*leading, T)), 0.3, with_baseline


learn_from_draws.lets_through(
    "a softmax shifted by no less than 0",
    "that is right here: the scores of a learner sum to 0, so the largest is at least 0",
)
