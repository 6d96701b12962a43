"""Test chapter 11's functions against torch, and against what their names promise."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from solutions.cost import (
    attention_flops,
    cached_attention_step,
    crossover_length,
    grouped_query_attention,
    merge_attention,
    online_softmax_attention,
)
from solutions.cost_of_today import delta_rule_step, expected_compute, mla_absorb, ridge_batch
from solutions.experiments.cost import training
from solutions.experiments.cost.measuring import flops, peak_bytes
from solutions.transformer_block import split_heads


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(("n", "d_model", "n_heads"), [(7, 8, 1), (5, 12, 4), (100, 16, 16)])
def test_the_count_equals_torch(n, d_model, n_heads):
    W_q, W_k, W_v, W_o = drawn(4, d_model, d_model)
    X = drawn(n, d_model)

    def layer():
        Q, K, V = (split_heads(X @ W, n_heads) for W in (W_q, W_k, W_v))
        heads = (Q @ K.mT).softmax(-1) @ V
        return heads.transpose(0, 1).flatten(1) @ W_o

    assert flops(layer) == attention_flops(n, d_model, n_heads)


@pytest.mark.parametrize("block", [1, 3, 64, 100, 1000])
@pytest.mark.parametrize("size", [1, 1000])
def test_blocks_change_nothing(block, size):
    Q, K, V = size * drawn(2, 50, 8), drawn(2, 100, 8, seed=1), drawn(2, 100, 4, seed=2)
    right = F.scaled_dot_product_attention(Q, K, V)
    result = online_softmax_attention(Q, K, V, block)
    torch.testing.assert_close(result, right, rtol=0, atol=1e-12)


def test_memory_in_blocks_grows_linearly_with_the_length():
    held = [
        peak_bytes(lambda n=n: online_softmax_attention(*drawn(3, n, 4), block=16))
        for n in (200, 400, 800)
    ]
    for less, more in itertools.pairwise(held):
        assert more == pytest.approx(2 * less, rel=0.1)


def test_one_token_at_a_time_is_the_causal_layer():
    Q, K, V = drawn(3, 2, 9, 4)
    right = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    cache = (K[:, :0], V[:, :0])
    for t in range(9):
        result, cache = cached_attention_step(Q[:, t], K[:, t], V[:, t], cache)
        torch.testing.assert_close(result, right[:, t])
    assert torch.equal(cache[0], K)
    assert torch.equal(cache[1], V)


def test_three_sets_merge_in_any_order():
    Q, K, V = drawn(5, 4), drawn(9, 4, seed=1), drawn(9, 3, seed=2)
    parts = []
    for keys, values in zip(K.split([2, 3, 4]), V.split([2, 3, 4]), strict=True):
        scores = Q @ keys.T / 2
        parts.append((scores.softmax(-1) @ values, scores.logsumexp(-1)))
    for a, b, c in ((0, 1, 2), (2, 0, 1)):
        first = merge_attention(*parts[a], *parts[b])
        output, log_sum = merge_attention(*first, *parts[c])
        torch.testing.assert_close(output, F.scaled_dot_product_attention(Q, K, V))
        torch.testing.assert_close(log_sum, (Q @ K.T / 2).logsumexp(-1))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_grouped_queries_are_those_of_torch(n_kv_heads):
    Q, K, V = drawn(2, 6, 5, 4), drawn(2, n_kv_heads, 7, 4), drawn(2, n_kv_heads, 7, 3)
    right = F.scaled_dot_product_attention(Q, K, V, enable_gqa=True)
    torch.testing.assert_close(grouped_query_attention(Q, K, V), right)


def test_powers_cross_where_they_are_equal():
    n = np.array([10.0, 30, 90, 270])
    assert crossover_length(n, n**2, 50 * n) == pytest.approx(50)
    assert crossover_length(n, n**2, 90 * n) == pytest.approx(90)
    bumps = crossover_length(n, np.array([1, 5, 3, 40.0]), np.full(4, 9.0))
    assert bumps == pytest.approx(90 * 3 ** (math.log(3) / math.log(40 / 3)))


def test_the_delta_rule_answers_the_newest_value():
    state, k, v = drawn(2, 4, 3), 5 * drawn(2, 4, seed=1), drawn(2, 3, seed=2)
    written = delta_rule_step(state, k, v, torch.ones(2, 1, dtype=torch.float64))
    unit = F.normalize(k, dim=-1)
    torch.testing.assert_close((unit[:, None] @ written)[:, 0], v)
    kept = delta_rule_step(state, k, v, torch.zeros(2, 1, dtype=torch.float64))
    torch.testing.assert_close(kept, state)


def test_no_key_needs_to_be_made():
    Q, C = drawn(2, 3, 4, 6), drawn(2, 5, 7, seed=1)
    W_uk, W_uv = drawn(3, 7, 6, seed=2), drawn(3, 7, 2, seed=3)
    K, V = (C[:, None] @ W for W in (W_uk, W_uv))
    right = F.scaled_dot_product_attention(Q, K, V)
    torch.testing.assert_close(mla_absorb(Q, C, W_uk, W_uv), right)


def test_the_count_of_a_training_step_equals_torch():
    counted, n = training.operations(16), 16
    sizes = (training.VOCABULARY, 128, 2, training.N_BLOCKS, n, training.BATCH)
    operations, stored = expected_compute(*sizes, False)
    assert operations == counted.forward + counted.backward
    assert stored == 4 * training.N_BLOCKS * 2 * training.BATCH * n**2
    again, inputs = expected_compute(*sizes, True)
    unneeded = training.N_BLOCKS * training.BATCH * n * 2 * 128 * 512  # the last product of a block
    assert counted.again == again - unneeded
    assert inputs == 4 * training.N_BLOCKS * training.BATCH * n * 128


def test_two_bounds_meet():
    batches = 2.0 ** np.arange(9)
    assert ridge_batch(batches, np.maximum(8.0, batches)) == pytest.approx(8)
