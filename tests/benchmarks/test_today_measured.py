"""Test that what chapter 12 reads was measured by these scripts; nothing is measured here."""

import pytest

from solutions.experiments.today import newer
from solutions.experiments.today.inside import ALL_HEADS
from solutions.running.reporting import read_measured
from solutions.running.seeds import SEEDS
from tests.benchmarks import own_budgets, silences


def test_every_newer_model_has_a_loss_for_each_seed():
    result = read_measured("today_newer")
    assert list(result["models"]) == list(newer.NAMES)
    assert all(len(one["losses"]) == len(SEEDS) for one in result["models"].values())
    high = result["losses_at_the_high_rate"]
    assert list(high) == [newer.GPT, newer.QK_NORM]
    assert all(len(losses) == len(SEEDS) for losses in high.values())
    shares = [sum(block) for seed in result["models"][newer.EXPERTS]["loads"] for block in seed]
    assert shares == pytest.approx([1] * len(shares), abs=1e-4)


def test_the_half_of_the_heads_is_the_half_with_the_lowest_rises():
    result = read_measured("single_silences")
    rises = {head: result["rises"][head[0]][head[1]] for head in ALL_HEADS}
    least = sorted(sorted(ALL_HEADS, key=rises.__getitem__)[: len(ALL_HEADS) // 2])
    assert [tuple(head) for head in result["least"]] == least
    assert len(result["rises_elsewhere"]) == len(least)
    passages = (result["ranking_passages"], result["other_passages"])
    assert passages == (silences.RANKING, silences.OTHERS)


def test_budgets_grow_by_a_half_or_less():
    pairs = zip(own_budgets.BUDGETS, own_budgets.BUDGETS[1:], strict=False)
    assert all(1 < longer / shorter <= 1.5 for shorter, longer in pairs)
