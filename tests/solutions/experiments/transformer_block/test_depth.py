"""Test the experiment on depth: its blocks are the chapter's, and it measures what it states."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.transformer_block import depth, torch_blocks, warm_up
from solutions.transformer_block import EncoderBlock


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_with_residual_and_norm_it_is_the_encoder_block(norm):
    torch.manual_seed(0)
    course_model = depth.Block(residual=True, norm=norm)
    right = EncoderBlock(depth.D_MODEL, depth.HEADS, depth.D_FF, norm)
    for parameter in course_model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    right.load_state_dict(course_model.state_dict())
    X = torch.randn(2, depth.LENGTH, depth.D_MODEL)
    torch.testing.assert_close(course_model(X), right(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("design", depth.DESIGNS)
def test_with_all_weights_zero_only_the_residual_is_left(design):
    residual, norm = depth.DESIGNS[design]
    block = depth.Block(residual, norm)
    for sublayer in (block.attention, block.feed_forward):
        for parameter in sublayer.parameters():
            torch.nn.init.zeros_(parameter)
    X = torch.randn(2, depth.LENGTH, depth.D_MODEL)
    Y = block(X)
    if not residual:
        assert (Y == 0).all()
    elif norm == "post":
        assert not torch.allclose(Y, X)
        torch.testing.assert_close(Y, block.norm_1(X), rtol=0, atol=1e-4)
    else:
        assert torch.equal(Y, X)


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


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 5), st.floats(0.1, 10))
def test_unlikeness_reaches_its_extremes_and_ignores_scale(seed, batch, n, factor):
    torch.manual_seed(seed)
    X = torch.randn(batch, n, 4, dtype=torch.float64)
    value = depth.unlikeness(X)
    assert 0 <= value <= 1 + 1e-9
    assert depth.unlikeness(factor * X) == pytest.approx(value, abs=1e-9)
    assert depth.unlikeness(X[:, :1].expand(batch, n, 4)) == pytest.approx(0, abs=1e-9)
    if n > 1:
        centred = X - X.mean(dim=1, keepdim=True)
        assert depth.unlikeness(centred) == pytest.approx(1)


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


def test_two_blocks_with_the_norm_before_learn_in_the_time_given():
    run = depth.train("norm before", 2, seed=3)
    assert list(run.losses) == list(range(0, depth.STEPS + 1, depth.EVERY))
    assert run.accuracy > 0.95
    assert min(run.losses.values()) == pytest.approx(0, abs=0.2)
