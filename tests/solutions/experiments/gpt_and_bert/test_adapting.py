"""Test how chapter 10's published encoder is adapted, on an encoder that is as small as can be."""

import numpy as np
import pytest
import torch
from torch import nn

from solutions.experiments.gpt_and_bert import adapting
from solutions.published.bert import BERT

ROWS, LABELS = [[1, 2, 3], [4, 5], [6, 7, 8, 9]] * 8, np.array([0, 1, 1] * 8)


def encoder():
    torch.manual_seed(0)
    return BERT(12, 16, 2, 32, 2, 6).eval()


def examples(below):
    return adapting.Examples(adapting.states(encoder(), ROWS, below), LABELS)


def classifier(blocks):
    return adapting.Classifier(blocks, torch.ones(16), 0.5)


@pytest.mark.parametrize("below", [0, 1, 2])
def test_the_lower_and_the_upper_blocks_give_the_vectors_of_the_encoder(below):
    body = encoder()
    found = adapting.vectors(body.blocks[below:], examples(below))
    with torch.no_grad():
        expected = [nn.functional.normalize(body(torch.tensor([row])).mean(dim=1)) for row in ROWS]
    assert found == pytest.approx(torch.cat(expected).numpy(), abs=1e-5)


def test_an_adapted_layer_begins_as_it_was_and_trains_only_its_addition():
    layer, X = nn.Linear(5, 3), torch.randn(2, 4, 5)
    adapted = adapting.LowRank(layer, 2)
    assert torch.equal(adapted(X), layer(X))
    trained = {name: one.shape for name, one in adapted.named_parameters() if one.requires_grad}
    assert trained == {"A": (2, 5), "B": (3, 2)}


def test_only_the_additions_and_the_linear_layer_are_counted_as_trained():
    blocks = encoder().blocks
    adapting.add_lora(blocks, 3)
    additions = 2 * 2 * (3 * 16 + 16 * 3)  # two blocks, two matrices
    assert adapting.trained_parameters(classifier(blocks)) == additions + 16 + 1


def test_fine_tuning_learns_changes_nothing_frozen_and_is_written_into_the_weights():
    blocks, plain = encoder().blocks, encoder().blocks
    before = {name: one.clone() for name, one in blocks.state_dict().items()}
    adapting.add_lora(blocks, 2)
    model = classifier(blocks)
    adapting.fine_tune(model, examples(0), 0.05, 40, seed=0)
    answers = adapting.logits(model, examples(0))
    assert ((answers > 0) == LABELS).all()
    weights = adapting.merged(blocks)
    changed = {name for name, one in weights.items() if not torch.equal(one, before[name])}
    assert changed == {f"{block}.attention.{W}.weight" for block in (0, 1) for W in ("W_q", "W_v")}
    plain.load_state_dict(weights)
    same = adapting.Classifier(plain, model.weight.detach(), model.bias.item())
    assert adapting.logits(same, examples(0)) == pytest.approx(answers, abs=1e-4)
