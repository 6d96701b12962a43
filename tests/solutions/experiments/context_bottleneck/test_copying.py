"""Test the capacity of the copier's vector, and that the machine depends only on the vector."""

import numpy as np
import pytest
import torch

from solutions.experiments.context_bottleneck import copying


@pytest.mark.parametrize(("width", "length"), [(3, 2), (4, 4)])
def test_text_within_capacity_may_be_entirely_right(width, length):
    assert copying.most_right(width, length) == pytest.approx(1)


def test_half_of_the_bits_allow_a_known_share():
    assert copying.most_right(4, 8) == pytest.approx(0.88997, abs=1e-4)


def test_no_length_beyond_the_longest_counts_as_held():
    for width in copying.NOISY:
        longest = copying.most_held(width)
        assert copying.most_right(width, longest) >= copying.HELD
        assert copying.most_right(width, longest + 1) < copying.HELD


def test_the_code_by_hand_is_below_the_ceiling():
    flips = np.random.default_rng(0).integers(2, size=(5000, 8))
    c = 2 * flips - 1 + np.random.default_rng(1).normal(size=flips.shape) * copying.NOISE
    assert 0.9 < ((c > 0) == flips).mean() < copying.most_right(8, 8)


def test_held_lengths_end_at_the_first_failure():
    assert copying.held([1.0, 0.95, 0.9, 0.89, 1.0]) == 3
    assert copying.held([0.8, 1.0]) == 0
    assert copying.held([1.0] * copying.LONGEST) == copying.LONGEST


def test_a_flip_is_independent_of_earlier_flips():
    """Logits depend on the whole sequence only through c, and on the flips before."""
    torch.manual_seed(0)
    model = copying.Copier(4, 0.0)
    with torch.no_grad():
        model.squeeze.weight.zero_()  # c carries no information
    flips = torch.randint(2, (3, 7))
    changed = flips.clone()
    changed[:, 4] = 1 - changed[:, 4]
    before, after = model(flips), model(changed)
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert not torch.isclose(before[:, 5], after[:, 5]).all()
