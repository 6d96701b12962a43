"""Test how the maps of a Transformer are read; an untrained model is enough."""

import numpy as np
import pytest
import torch

from solutions.data.translation import Vocabulary, sample_pairs
from solutions.experiments.transformer.maps import read_maps
from solutions.translators.machines import transformer
from solutions.translators.training import Task, tensors

PAIRS = sample_pairs("french", 8, np.random.default_rng(3), clauses=(1, 3))
TASK = Task(
    PAIRS,
    Vocabulary.of(pair.source for pair in PAIRS),
    Vocabulary.of(pair.target for pair in PAIRS),
)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return transformer(len(TASK.source_vocabulary), len(TASK.target_vocabulary)).eval()


@pytest.fixture(scope="module")
def maps(model):
    return read_maps(model, TASK, PAIRS)


def test_every_row_distributes_its_weight_over_visible_tokens(maps):
    for read_map in maps:
        for table in (read_map.encoder, read_map.decoder, read_map.cross):  # padding gets no weight
            np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-5)
        later = np.triu(np.ones(read_map.decoder.shape[-2:], dtype=bool), k=1)
        assert (read_map.decoder[..., later] == 0).all()


def test_layers_come_in_order(model, maps):
    """Only the weights of the first layer can be computed from the embeddings."""
    attention = model.encoder.stack.blocks[0].attention
    with torch.no_grad():
        attention.W_q.weight.zero_()
        attention.W_q.bias.zero_()
    changed = read_maps(model, TASK, PAIRS[:1])[0].encoder
    n = changed.shape[-1]
    np.testing.assert_allclose(changed[0], 1 / n, atol=1e-6)
    assert np.abs(changed[1] - 1 / n).max() > 1e-3
    assert np.abs(maps[0].encoder[0] - 1 / n).max() > 1e-3


def test_reading_leaves_no_hook_behind_and_changes_no_logits(model):
    sources, lengths, targets = tensors(TASK.batch(PAIRS))
    with torch.no_grad():
        before, _ = model(sources, lengths, targets[:, :-1])
        result = read_maps(model, TASK, PAIRS)
        after, _ = model(sources, lengths, targets[:, :-1])
    assert torch.equal(before, after)
    assert not any(module._forward_hooks for module in model.modules())
    right = (before.argmax(dim=-1) == targets[:, 1:]).numpy()
    for k, read_map in enumerate(result):
        np.testing.assert_array_equal(read_map.right, right[k, : len(read_map.right)])
