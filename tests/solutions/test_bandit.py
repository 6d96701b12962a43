"""Test learning by draws: by hand, and what the baseline is worth."""

import numpy as np
import pytest

from solutions.bandit import learn_from_draws


def test_two_steps_by_hand():
    by_hand = np.array([1.0, 3.0]), np.array([0.75, 0.2]), 1 / 3
    np.testing.assert_allclose(learn_from_draws(*by_hand, True), [0.122, 0.878], atol=5e-4)
    np.testing.assert_allclose(learn_from_draws(*by_hand, False), [0.375, 0.625], atol=5e-4)


@pytest.mark.parametrize(
    ("rewards", "with_baseline", "found"), [(11, False, 0.5), (11, True, 1), (0, False, 1)]
)
def test_a_baseline_lets_every_learner_find_the_best_arm(rewards, with_baseline, found):
    numbers = np.random.default_rng(0).random((300, 300))
    weights = learn_from_draws(rewards + np.array([-1, 0, 1]), numbers, 0.1, with_baseline)
    assert np.mean(weights[:, 2] > 0.5) == pytest.approx(found, abs=0.1)
