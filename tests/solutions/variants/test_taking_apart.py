"""Test chapter 12's search for a head, and its rule for drafts, by what they have to achieve."""

import numpy as np
import pytest

from solutions.variants.taking_apart import draft_rule, head_below


def test_what_is_written_has_exactly_the_distribution_of_the_large_model():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(6), size=(2, 4))
    keep, instead, rate = draft_rule(p, q)
    assert np.allclose(q * keep + (1 - rate)[:, None] * instead, p)
    assert np.allclose((q * keep).sum(axis=-1), rate)
    assert (keep <= 1).all()


def test_drafts_of_the_large_model_itself_are_always_kept():
    p = np.array([0.5, 0.25, 0.25, 0.0])
    keep, instead, rate = draft_rule(p, p)
    assert (keep == 1).all()
    assert rate == 1
    assert np.array_equal(instead, p)


def copying_needs(needed):
    """Return a model of two blocks of two heads, whose head (1, 0) copies if `needed` is heard."""

    def model(tokens, silent):
        n, half = len(tokens), len(tokens) // 2
        weights = np.tile(np.tri(n) / np.arange(1, n + 1)[:, None], (2, 2, 1, 1))
        share = 0.1 if needed in silent else 0.9
        later = np.arange(half, n)
        weights[1, 0, later] *= 1 - share
        weights[1, 0, later, later - half + 1] += share
        return weights

    return model


@pytest.mark.parametrize("needed", [(0, 0), (0, 1)])
def test_the_head_on_which_copying_stands_is_found(needed):
    block, head, fall = head_below(copying_needs(needed), np.array([3, 1, 2, 3, 1, 2]), 3)
    assert (block, head) == needed
    even = np.mean(1 / np.arange(4, 7))
    assert fall == pytest.approx(0.8 * (1 - even))


def test_nothing_is_below_block_0():
    def model(tokens, silent):
        return copying_needs((0, 0))(tokens, silent)[1:]

    with pytest.raises(ValueError, match="block 0"):
        head_below(model, np.array([3, 1, 3, 1]), 2)
