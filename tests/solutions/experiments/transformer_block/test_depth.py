"""Test the experiment on depth: its blocks are the chapter's, and it measures what it states."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.transformer_block import depth, torch_blocks, warm_up


def test_the_answer_is_the_question_backwards():
    letters, answers = depth.sample(5, torch.Generator().manual_seed(0))
    assert letters.shape == answers.shape == (5, depth.LENGTH)
    assert answers[2].tolist() == letters[2].tolist()[::-1]
    assert letters.unique().tolist() == list(range(depth.LETTERS))


@pytest.mark.parametrize("design", depth.DESIGNS)
def test_a_stack_has_its_blocks_and_starts_by_glorots_rule(design):
    torch.manual_seed(0)
    model = depth.Stack(design, 3)
    letters, _ = depth.sample(4, torch.Generator().manual_seed(0))
    assert model(letters).shape == (4, depth.LENGTH, depth.LETTERS)
    assert len(model.states(letters)) == 1 + 3
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            assert (module.bias == 0).all()
            largest = (6 / (module.in_features + module.out_features)) ** 0.5
            assert 0.95 * largest < module.weight.abs().max() <= largest


def test_unlikeness_by_hand():
    X = torch.tensor([[[3.0, 0.0], [3.0, 2.0]]])  # mean (3, 1), so 1 + 1 of 9 + 9 + 4
    assert depth.unlikeness(X) == pytest.approx((2 / 22) ** 0.5)


def test_gradients_are_those_of_each_blocks_parameters():
    start = depth.at_start("norm before", 3, seed=1)
    assert len(start.gradients) == 3
    assert len(start.unlike) == 4
    torch.manual_seed(1)
    model = depth.Stack("norm before", 3).double()
    generator = torch.Generator().manual_seed(1001)
    loss = depth.loss_of(model, *depth.sample(depth.SAMPLE, generator))
    for norm, block in zip(start.gradients, model.blocks, strict=True):
        pieces = torch.autograd.grad(loss, list(block.parameters()), retain_graph=True)
        flat = torch.cat([piece.flatten() for piece in pieces])
        assert norm == pytest.approx(flat.norm().item(), rel=1e-9)


def test_only_weights_that_write_to_the_stream_start_smaller():
    models = []
    for smaller in (False, True):
        torch.manual_seed(0)
        models.append(depth.Stack("norm after", 8, smaller))
    (_, *full), (_, *small) = (list(model.named_parameters()) for model in models)
    for (name, before), (_, after) in zip(full, small, strict=True):
        writes = name.endswith(("attention.W_o.weight", "feed_forward.W_2.weight"))
        torch.testing.assert_close(after, before / 4 if writes else before)


def test_a_warm_up_changes_the_first_steps_only_in_size(monkeypatch):
    seen = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(
        torch.optim.Adam,
        "step",
        lambda self: (seen.append(self.param_groups[0]["lr"]), step(self)),
    )
    depth.train("norm after", 2, 0, steps=6, rate=1.0, warm_up=4)
    assert seen == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    seen.clear()
    depth.train("norm after", 2, 0, steps=3, rate=0.5)
    assert seen == [0.5, 0.5, 0.5]


def test_the_baseline_that_uses_only_the_letters():
    letters = torch.tensor([[1, 2, 1, 1], [3, 3, 2, 2]])
    assert warm_up.letters_alone(letters) == (3 / 4 + 2 / 4) / 2


def test_the_comparison_of_blocks_sees_a_wrong_one(monkeypatch):
    assert max(map(torch_blocks.encoder_difference, range(4))) < 1e-12
    assert max(map(torch_blocks.decoder_difference, range(4))) < 1e-12

    class Exchanged(torch_blocks.EncoderBlock):
        def __init__(self, d_model, n_heads, d_ff, norm):
            super().__init__(d_model, n_heads, d_ff, {"pre": "post", "post": "pre"}[norm])

    monkeypatch.setattr(torch_blocks, "EncoderBlock", Exchanged)
    assert min(map(torch_blocks.encoder_difference, range(4))) > 1e-3


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(list(depth.DESIGNS)), st.integers(0, 3))
def test_a_seed_gives_the_same_training_again(design, seed):
    first, second = (depth.train(design, 2, seed, steps=10) for _ in range(2))
    assert first == second
    assert list(first.losses) == [0, 10]
    assert 0 <= first.accuracy <= 1
