"""Test on a small scale that chapter 11 measures what it states."""

import os
import sys
import time
from functools import partial

import pytest
import torch

from solutions.cost import attention_flops, linear_attention
from solutions.experiments.cost import (
    buffers,
    by_length,
    crossing,
    generation,
    measuring,
    recall,
    sharing,
    training,
)
from solutions.experiments.cost.reading import Kind, Reader, delta_state


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


def test_a_key_that_is_written_again_gets_another_value():
    task = recall.Task(16, 4)
    keys, values, asked, answers = task.draw(50, torch.Generator().manual_seed(0))
    assert keys.shape == values.shape == (50, 64)
    assert asked.shape == answers.shape == (50, 16)
    for row in range(50):
        latest = dict(zip(keys[row].tolist(), values[row].tolist(), strict=True))
        assert [latest[key] for key in asked[row].tolist()] == answers[row].tolist()
    assert (values[:, :16] != values[:, 48:]).any()


def test_the_delta_rule_without_a_loop_is_the_loop():
    generator = torch.Generator().manual_seed(1)
    K, V, shares = (
        torch.randn(2, 9, width, generator=generator, dtype=torch.float64) for width in (4, 3, 1)
    )
    K, shares = torch.nn.functional.normalize(K, dim=-1), shares.sigmoid()
    state = torch.zeros(2, 4, 3, dtype=torch.float64)
    for i in range(9):
        key, value = K[:, i, :, None], V[:, i, None, :]
        state = state + shares[:, i, None] * key @ (value - key.mT @ state)
    torch.testing.assert_close(delta_state(K, V, shares), state)


def test_a_layer_of_sums_is_the_chapters_linear_attention():
    torch.manual_seed(0)
    layer = Reader(Kind("share", features="elu"), 8)
    X, keys, values = torch.randn(3, 2, 5, 8)
    right = linear_attention(layer.W_q(X), layer.W_k(keys), values, causal=False)
    torch.testing.assert_close(layer(X, keys, values), right)


def test_the_numbers_a_layer_remembers():
    assert Kind("softmax").numbers(64, 64) == 64 * 80
    assert Kind("sum").numbers(64, 64) == Kind("delta").numbers(4, 64) == 1024
    assert Kind("share", features="relu").numbers(64, 64) == 32 * 65
    assert Kind("share", features="random elu").numbers(64, 64) == 64 * 65


@pytest.mark.parametrize("kind", [*recall.LAYERS.values(), *recall.CONTROLS.values(), Kind("near")])
def test_every_layer_reads_pairs_and_learns(kind):
    run = recall.train([kind], recall.Task(2), 0.03, 0, steps=40)
    assert run.accuracy > 2 / recall.VALUES


def test_features_that_control_for_the_sign():
    X = torch.randn(2, 3, 16)
    half, centred = (Reader(recall.CONTROLS[name], 8).featured(X) for name in ("half", "centred"))
    assert (half >= 0).all()
    assert ((half > 1e-5) == (X > 0)).all()
    torch.testing.assert_close(centred.mean(dim=-1), torch.zeros(2, 3))


def test_the_numbers_that_ways_of_sharing_cache():
    cached = {name: way.cached for name, way in sharing.WAYS.items()}
    assert cached == {"own": 72, "two": 36, "one": 18, "latent": 18, "single": 18, "divided": 18}


@pytest.mark.parametrize("name", ["one", "latent", "divided"])
def test_heads_that_share_answer_every_question(name):
    model = sharing.SharedRecall(sharing.WAYS[name])
    keys, values, _ = recall.sample(3, 5, torch.Generator().manual_seed(0))
    assert model(keys, values, keys[:, :2]).shape == (3, 2, recall.VALUES)


def test_what_is_stored_has_no_parameters_in_it():
    stored = training.stored((128, 256))
    for way in ("in blocks", "again"):
        assert stored[way][256] == pytest.approx(2 * stored[way][128], rel=0.01)
    tables = 4 * training.N_BLOCKS * by_length.N_HEADS * 256**2
    assert stored["whole table"][256] - stored["in blocks"][256] == tables


def test_three_ways_write_the_same_tokens():
    model = generation.writer()
    found = generation.written(model, 12)
    for way in generation.WAYS[1:]:
        torch.testing.assert_close(found[way], found["all rows"], rtol=0, atol=1e-4)
    ids = found["all rows"].argmax(dim=-1)
    right = model(torch.tensor([[0, *ids[:2].tolist()]]))[0, -1]
    torch.testing.assert_close(found["all rows"][2], right)


def test_the_operations_of_the_next_token():
    d, words = by_length.D_MODEL, generation.VOCABULARY
    one = generation.N_BLOCKS * (24 * d**2 + 4 * d * 100) + 2 * d * words
    assert generation.operations("cache", 100) == one
    assert generation.operations("all rows", 100) == 100 * one
    rest = 100 * (24 * d**2 + 4 * d * 100) + 4 * 100 * d**2
    assert generation.operations("last row", 100) == rest + 20 * d**2 + 400 * d + 2 * d * words


def test_fresh_memory_is_handed_out_page_by_page(monkeypatch):
    monkeypatch.setattr(buffers, "SIZES", (2048,))
    entry = buffers.compare()[2048]
    assert min(*entry.softmax, *entry.copy) > 0
    assert entry.pages[1] < 100


def test_a_crossing_is_found_where_there_is_one():
    lengths = (10, 1000)
    assert crossing.where_equal(lengths, (1, 10_000), (20, 2000)) == pytest.approx(200)
    assert crossing.where_equal(lengths, (3, 3), (1, 1)) == 0
    assert crossing.where_equal(lengths, (1, 1), (3, 3)) == float("inf")


def test_every_batch_has_a_crossing_or_none():
    found = crossing.by_batch((2,), 8, {2: 16})
    assert set(found) == {(name, 2) for name in crossing.WAYS}
    assert min(found.values()) >= 0
