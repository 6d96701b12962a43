"""The exercise `leave_one_out_gradient`: several draws, each judged by the others."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions import captioning as solutions

from .. import forbidden

leave_one_out_gradient = Declaration(
    solutions.leave_one_out_gradient,
    points=3,
    difficulty=4,
    minutes=20,
    kind=Kind.TRANSFER,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "For each draw, compute the mean reward of the others, and use it as the baseline of the "
        "score-function estimate.",
        "You do not need a loop: the sum of the others is the sum of all rewards minus the draw's "
        "own. Then mind the axes: one row of weights meets k draws.",
        "Section “A gradient through a draw”.",
    ),
)


@leave_one_out_gradient.right
def one_by_one(scores, sampled, rewards):
    k = rewards.shape[-1]
    if k < 2:
        raise ValueError(f"needs two draws or more, got {k}")
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    estimates = np.empty(sampled.shape)
    for i in range(k):
        baseline = np.delete(rewards, i, axis=-1).mean(axis=-1)
        estimates[..., i, :] = (rewards[..., i] - baseline)[..., None] * (
            sampled[..., i, :] - weights
        )
    return estimates


@leave_one_out_gradient.right
def stretched(scores, sampled, rewards):
    k = rewards.shape[-1]
    if k < 2:
        raise ValueError(f"needs two draws or more, got {k}")
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = np.expand_dims(weights / weights.sum(axis=-1, keepdims=True), -2)
    advantage = (rewards - rewards.mean(axis=-1, keepdims=True)) * k / (k - 1)
    return advantage[..., None] * sampled - advantage[..., None] * weights


@leave_one_out_gradient.right
def matrix(scores, sampled, rewards):
    k = rewards.shape[-1]
    if k == 1:
        raise ValueError(f"needs two draws or more, got {k}")
    advantage = rewards - rewards @ ((np.ones((k, k)) - np.eye(k)) / (k - 1)).astype(rewards.dtype)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("...k,...kl->...kl", advantage, sampled - weights[..., None, :])


@leave_one_out_gradient.base(("a single draw",))
def plain(scores, sampled, rewards):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = (weights / weights.sum(axis=-1, keepdims=True))[..., None, :]
    others = rewards.sum(axis=-1, keepdims=True) - rewards
    baseline = others / (rewards.shape[-1] - 1)
    return (rewards - baseline)[..., None] * (sampled - weights)


leave_one_out_gradient.wrong(
    "the mean of all draws, its own included",
    "May a draw's own reward enter its baseline? What would that do to the mean of the estimates, "
    "with two draws?",
    plain.edit("others / (rewards.shape[-1] - 1)", "rewards.mean(axis=-1, keepdims=True)"),
)
leave_one_out_gradient.wrong(
    "the sum of the others",
    "Suppose that all draws brought the same reward. Is your estimate 0?",
    plain.edit("others / (rewards.shape[-1] - 1)", "others"),
)
leave_one_out_gradient.wrong(
    "divided by the number of all draws",
    "How many others are there? If all draws brought the same reward, is your estimate 0?",
    plain.edit("(rewards.shape[-1] - 1)", "rewards.shape[-1]"),
)
leave_one_out_gradient.wrong(
    "the others of the whole batch",
    "Should the rewards of one picture be judged by those of another picture?",
    plain.edit(
        "others / (rewards.shape[-1] - 1)", "(rewards.sum() - rewards) / (rewards.size - 1)"
    ),
)
leave_one_out_gradient.wrong(
    "the mean over the draws",
    "Which shape does the docstring ask for? How many estimates should there be for one row?",
    plain.edit(
        "(rewards - baseline)[..., None] * (sampled - weights)",
        "((rewards - baseline)[..., None] * (sampled - weights)).mean(axis=-2)",
    ),
)
leave_one_out_gradient.wrong(
    "no baseline",
    "Suppose that all draws brought the same reward. Was any of them better than the others? What "
    "is your estimate?",
    plain.edit("(rewards - baseline)", "rewards"),
)
leave_one_out_gradient.wrong(
    "sign reversed",
    "Suppose that a draw brought more than the others. Should the score of its place rise or fall?",
    plain.edit("rewards - baseline", "baseline - rewards"),
)


leave_one_out_gradient.wrong(
    "softmax forgotten",
    "Each estimate should sum to 0 over the places. Does yours?",
    plain.edit("(sampled - weights)", "sampled"),
)
leave_one_out_gradient.wrong(
    "a single draw accepted",
    "What do you return for a single draw, and what do you compare it with?",
    plain.edit("(rewards.shape[-1] - 1)", "max(rewards.shape[-1] - 1, 1)"),
)
leave_one_out_gradient.wrong(
    "the next draw in place of the others",
    "With four draws, how many of them enter each of your baselines?",
    plain.edit("others / (rewards.shape[-1] - 1)", "np.roll(rewards, -1, axis=-1)"),
)


@leave_one_out_gradient.public
def _(rng):
    two = (np.array([0.0, 2.0, 1.0]), np.eye(3)[[1, 2]], np.array([-2.0, -3.0]))
    yield Case("three places, two draws", two).holds(
        "The baseline of a draw is the mean reward of the other k - 1 draws from its row"
    )
    yield Case("three draws from one row", _draws(rng, (), 3, 4)).holds(
        "one-hot, k independent draws from each row of scores"
    )
    yield Case("a batch", _draws(rng, (3,), 4, 5)).holds("The baseline…")
    yield Case("as many rows as draws and places", _draws(rng, (3,), 3, 3)).holds("one-hot, k…")
    yield Case(
        "float32, three leading axes, one of length 1", _draws(rng, (2, 1, 3), 4, 3, "f4")
    ).holds(
        "Returns the estimate of each draw, of shape (..., k, L), as the score function gives it "
        "with that baseline"
    )
    yield Case("large scores", _draws(rng, (2,), 3, 4, shift=1000.0)).holds(
        "scores: (..., L); places are drawn by their softmax, and they may be large"
    )
    yield Case("rows with very different scores", _apart(rng, 3, 4, 5)).holds("scores: (...…")
    scores, sampled, rewards = _draws(rng, (2,), 5, 4)
    yield Case(
        "the same reward for all draws", (scores, sampled, np.full_like(rewards, -1.5))
    ).holds("rewards: (..., k), what each draw brought")
    yield Case("tiny rewards", (scores, sampled, rewards * 1e-9)).holds("rewards: (...…")
    yield Case("rewards near -100 000", (scores, sampled, rewards - 1e5)).holds("rewards: (...…")
    yield Case("a batch of one, one place", _draws(rng, (1,), 2, 1)).holds("Returns the…")
    yield Case("a single draw", _draws(rng, (3,), 1, 4), raises=Raises("ValueError", ("1",))).holds(
        "Raises ValueError, which names the number of draws, if there are fewer than 2"
    )


@leave_one_out_gradient.hidden
def _(rng):
    n, k, L = (int(one) for one in rng.permutation([3, 4, 5, 6])[:3])
    yield Case("one row", _draws(rng, (), k, L)).holds("scores: (...…")
    yield Case("a batch", _draws(rng, (n,), k, L))
    yield Case("as many rows as draws and places", _draws(rng, (k,), k, k))
    yield Case("two draws a row", _draws(rng, (n,), 2, L)).holds("one-hot, k…", "The baseline…")
    yield Case("float32, two leading axes", _draws(rng, (2, n), k, L, "f4")).holds("Returns the…")
    yield Case("large scores", _draws(rng, (n,), k, L, shift=1000.0))
    yield Case("rows with very different scores", _apart(rng, n, k, L))
    yield Case("a batch of one", _draws(rng, (1,), k, L)).holds("Returns the…")
    yield Case("a single draw", _draws(rng, (n,), 1, L), raises=Raises("ValueError", ("1",)))


def _draws(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    k: int,
    L: int,
    dtype: str = "f8",
    shift: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """Random scores, k draws a row, and what they brought."""
    scores, sampled = rng.normal(size=(*batch, L)), np.eye(L)[rng.integers(L, size=(*batch, k))]
    rewards = rng.normal(size=(*batch, k)) - 2
    return tuple(one.astype(dtype) for one in (scores + shift, sampled, rewards))


def _apart(rng: np.random.Generator, n: int, k: int, L: int) -> tuple[np.ndarray, ...]:
    """Draws from `n` rows, whose scores are near 1000 and near -1000 in turn."""
    scores, *others = _draws(rng, (n,), k, L)
    return scores + np.where(np.arange(n) % 2, 1000.0, -1000.0)[:, None], *others


leave_one_out_gradient.lets_through("k of 1 refused", "that is asked for: one draw has no others")
