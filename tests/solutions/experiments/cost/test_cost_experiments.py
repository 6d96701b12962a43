"""Test on a small scale that chapter 11 measures what it states."""

import os
import sys
import time
from functools import partial

import pytest
import torch

from solutions.cost import attention_flops
from solutions.experiments.cost import by_length, measuring, recall


def test_seconds_measure_one_call():
    calls = {"short": lambda: time.sleep(0.02), "long": lambda: time.sleep(0.06)}
    taken = measuring.seconds(calls, least=0.05)
    assert 0.02 <= taken["short"] < taken["long"]


def test_the_peak_is_the_largest_simultaneous_allocation():
    def call():
        tensor = torch.ones(1000)  # 4000 bytes
        two = tensor + 1
        del tensor
        return (two * 2).sum()

    assert 8000 <= measuring.peak_bytes(call) < 9000


@pytest.mark.skipif(sys.platform != "linux", reason="the bound on what is given back is glibc's")
def test_a_process_grows_only_by_the_size_of_its_tensors():
    peak = measuring.peak_bytes(partial(by_length.layers()["in blocks"], torch.randn(8192, 128)))
    grown = [by_length.process_bytes("in blocks", 8192) for _ in range(3)]
    assert max(grown) < 1.15 * peak
    assert min(grown) > 0.9 * peak
    assert by_length.MALLOC_BOUND not in os.environ


def test_the_exponent_of_a_power_is_fitted_to_long_lengths_only():
    lengths = (1, 10, 100, 1000)
    costs = [max(50.0, 0.1 * n**1.5) for n in lengths]
    assert measuring.fitted_exponent(lengths, costs, least=100) == pytest.approx(1.5)
    assert measuring.fitted_exponent(lengths, costs, least=1) < 1.2


def test_the_three_ways_to_attend_agree_and_are_counted_right():
    layers = by_length.layers()
    X = torch.randn(300, by_length.D_MODEL)
    right = layers["attention"](X)
    for name in ("in blocks", "torch's own"):
        torch.testing.assert_close(layers[name](X), right, rtol=0, atol=1e-5)
    for name in ("attention", "in blocks"):
        predicted = attention_flops(300, by_length.D_MODEL, by_length.N_HEADS)
        assert measuring.flops(lambda name=name: layers[name](X)) == predicted


def test_every_key_is_unique_and_queried_once():
    keys, values, order = recall.sample(50, 16, torch.Generator().manual_seed(0))
    assert all(len(set(row)) == 16 for row in keys.tolist())
    assert order.sort(dim=1).values.equal(torch.arange(16).expand(50, 16))
    assert values.min() >= 0
    assert values.max() < recall.VALUES
