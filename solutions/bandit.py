"""Learning by draws where nothing else is to be learned: which of a few arms brings most."""

from __future__ import annotations

import numpy as np

from .alignment import softmax
from .captioning import score_function_gradient


def learn_from_draws(
    rewards: np.ndarray, numbers: np.ndarray, rate: float, with_baseline: bool
) -> np.ndarray:
    """Train a softmax over arms by the score-function estimate of one draw a step (Williams 1992).

    rewards: (A,), of any size, what each arm brings whenever it is drawn. numbers: (..., T),
    between 0 and 1, one for each of T steps; each row is a learner of its own, and T may be 0. The
    scores of a learner start at 0. In each step it draws the first arm at which its weights, the
    softmax of its scores, added up from arm 0 on, exceed the step's number. Then its scores change
    by `rate` times the score-function estimate of that draw. The baseline is the mean reward of the
    learner's earlier steps if `with_baseline`, and 0 if not, or if there are none.
    Returns the weights after the last step, of shape (..., A).
    """
    rewards, leading = np.asarray(rewards, dtype=float), numbers.shape[:-1]
    scores, brought = np.zeros((*leading, len(rewards))), np.zeros(leading)
    for step, number in enumerate(np.moveaxis(numbers, -1, 0)):
        weights = softmax(scores)
        arm = (np.cumsum(weights, axis=-1)[..., :-1] <= number[..., None]).sum(axis=-1)  # (...)
        baseline = brought / step if with_baseline and step else 0.0
        one_hot = np.eye(len(rewards))[arm]  # (..., A)
        scores = scores + rate * score_function_gradient(scores, one_hot, rewards[arm], baseline)
        brought = brought + rewards[arm]
    return softmax(scores)
