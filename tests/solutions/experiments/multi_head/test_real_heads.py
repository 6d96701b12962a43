"""Test the removal of heads of the published encoder."""

import numpy as np
import pytest
import torch

from solutions.experiments.multi_head import real_heads
from solutions.published.minilm import MiniLM


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


def test_head_of_the_encoder_is_removed_and_put_back(minilm):
    sentence = real_heads.SENTENCES[:1]
    whole = minilm.embed(sentence)
    X = minilm.layers(sentence)[0]
    layer = real_heads.attentions(minilm)[0]
    with real_heads.without(minilm, [(0, head) for head in range(12)]):
        assert torch.equal(layer(X), layer.W_o.bias.expand_as(X))
        assert real_heads.cosines(minilm, sentence, []) == pytest.approx(1)
    assert torch.equal(minilm.embed(sentence), whole)
    assert real_heads.cosines(minilm, sentence, [(5, 0)]) < 1


def test_importance_in_the_encoder_is_measured_on_its_output(minilm):
    sentence = real_heads.SENTENCES[:1]
    importance = real_heads.importances(minilm, sentence)[0, 2]
    X, layer = minilm.layers(sentence)[2], real_heads.attentions(minilm)[2]
    output = layer(X) - layer.W_o.bias
    with real_heads.without(minilm, [(2, 7)]):
        change = (output - (layer(X) - layer.W_o.bias)).norm() / output.norm()
    assert importance[7] == pytest.approx(change.item(), rel=1e-4)


def test_spearman_is_the_correlation_of_ranks():
    assert real_heads.spearman(np.array([1.0, 2, 30]), np.array([5.0, 6, 7])) == pytest.approx(1)
    assert real_heads.spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)
    tied = real_heads.spearman(np.array([[0, 0], [1, 1]]), np.array([[1.0, 2], [3, 4]]))
    assert tied == pytest.approx(2 / 5**0.5)
