"""Test the references about removed heads against the chapter's experiments."""

import numpy as np
import torch

from solutions.experiments.multi_head.one_blend import larger_and_smaller, pairs_read_right
from solutions.experiments.multi_head.switches import Switches
from solutions.variants.removing_heads import accuracy_by_heads, pairs_answered


def test_one_head_set_by_hand_answers_one_half():
    readers = np.array([reader.T.numpy() for reader in larger_and_smaller(16)])
    counts = pairs_answered(np.eye(16), np.array([[0.5, 0.5]]), readers)
    assert counts.tolist() == [120, 120, 120]


def test_pairs_are_counted_as_in_the_appendix():
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        first, second = torch.randn(2, 5, 5, generator=generator)
        shares = torch.rand(2, generator=generator)
        both, *_ = pairs_answered(
            np.eye(5), shares[None].numpy(), np.array([first.T.numpy(), second.T.numpy()])
        )
        assert both == pairs_read_right(first, second, shares)


def test_accuracies_are_those_of_the_chapters_figure():
    rng = np.random.default_rng(0)
    switches = Switches(rng.random((16, 3)), rng.random(4))
    rows = accuracy_by_heads(switches.accuracy[:, 0], switches.importance)
    removed = [switches.with_removed(4 - k) for k in range(5)]
    order = switches.importance.argsort().tolist()
    assert np.allclose(rows[0], [found.max() for found in removed])
    assert np.allclose(rows[1], switches.in_order(order)[::-1])
    assert np.allclose(rows[2], [found.mean() for found in removed])
