"""Test the experiment on depth: its blocks are the chapter's, and it measures what it states."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.transformer_block import stacks, starts, torch_blocks, training
from solutions.transformer_block import EncoderBlock

ALL = {**stacks.DESIGNS, **stacks.SMALLER, **stacks.CONTROLS}


def stack(name, depth, seed=0):
    torch.manual_seed(seed)
    return stacks.Stack(ALL[name], depth)


def test_the_answer_is_the_question_backwards():
    letters, answers = stacks.sample(5, torch.Generator().manual_seed(0))
    assert letters.shape == answers.shape == (5, stacks.LENGTH)
    assert answers[2].tolist() == letters[2].tolist()[::-1]
    assert letters.unique().tolist() == list(range(stacks.LETTERS))


@pytest.mark.parametrize("name", stacks.DESIGNS)
def test_a_stack_has_its_blocks_and_starts_by_glorots_rule(name):
    model = stack(name, 3)
    letters, _ = stacks.sample(4, torch.Generator().manual_seed(0))
    assert model(letters).shape == (4, stacks.LENGTH, stacks.LETTERS)
    assert len(model.states(letters)) == 1 + 3
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            assert (module.bias == 0).all()
            largest = (6 / (module.in_features + module.out_features)) ** 0.5
            assert 0.95 * largest < module.weight.abs().max() <= largest


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_with_residual_and_norm_a_block_is_the_chapters(norm):
    block = stacks.Block(norm, stream=1.0, centred=False)
    encoder = EncoderBlock(stacks.D_MODEL, stacks.HEADS, stacks.D_FF, norm)
    encoder.load_state_dict(block.state_dict())
    X = torch.randn(2, 5, stacks.D_MODEL)
    torch.testing.assert_close(block(X), encoder(X))


def test_unlikeness_by_hand():
    X = torch.tensor([[[3.0, 0.0], [3.0, 2.0]]])  # mean (3, 1), so 1 + 1 of 9 + 9 + 4
    assert starts.unlikeness(X) == pytest.approx((2 / 22) ** 0.5)


def test_the_gradient_is_that_of_the_stream():
    start = starts.at_start(ALL["norm before"], 3, seed=1)
    assert len(start.size) == len(start.gradient) == len(start.unlike) == 1 + 3
    model = stack("norm before", 3, seed=1).double()
    letters, answers = stacks.sample(starts.SAMPLE, torch.Generator().manual_seed(1001))
    X = model.states(letters)[2].detach().requires_grad_()
    stacks.loss_of(model.answers(model.blocks[2](X)), answers).backward()
    assert start.gradient[2] == pytest.approx(X.grad.norm().item(), rel=1e-9)
    assert start.size[2] == pytest.approx(X.square().mean().sqrt().item(), rel=1e-9)


def test_attention_without_scores_keeps_what_tokens_have_in_common_and_no_more():
    design = stacks.Design(residual=False, norm="none")
    scored, even = (starts.at_start(design, 1, seed=0, even=one) for one in (False, True))
    assert scored.unlike[1] > 1e-3
    assert even.unlike[1] < 1e-12  # without a residual, all tokens get the same blend


@pytest.mark.parametrize(
    ("name", "endings"),
    [
        ("norm after, smaller", ("attention.W_o.weight", "feed_forward.W_2.weight")),
        ("norm after, smaller W_o", ("attention.W_o.weight",)),
        ("norm after, smaller W_2", ("feed_forward.W_2.weight",)),
        ("norm after, louder stream", ()),
    ],
)
def test_only_weights_that_write_to_the_stream_start_smaller(name, endings):
    usual, changed = (dict(stack(one, 8).named_parameters()) for one in ("norm after", name))
    for parameter, before in usual.items():
        expected = before / 4 if endings and parameter.endswith(endings) else before
        torch.testing.assert_close(changed[parameter], expected)


def test_a_louder_stream_starts_as_the_same_function_as_smaller_weights():
    letters, _ = stacks.sample(4, torch.Generator().manual_seed(0))
    smaller, louder = (
        stack(name, 8).double()(letters)
        for name in ("norm after, smaller", "norm after, louder stream")
    )
    torch.testing.assert_close(smaller, louder, rtol=0, atol=1e-3)  # eps is not scaled


def test_a_warm_up_changes_the_first_steps_only_in_size(monkeypatch):
    rates = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(
        torch.optim.Adam,
        "step",
        lambda self: (rates.append(self.param_groups[0]["lr"]), step(self)),
    )
    training.trained(ALL["norm after"], 2, 0, rate=1.0, after=(2,), warm_up=4)
    assert rates == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    rates.clear()
    training.trained(ALL["norm after"], 2, 0, rate=0.5, after=(3,))
    assert rates == [0.5, 0.5, 0.5]


def test_the_baseline_that_uses_only_the_letters():
    letters = torch.tensor([[1, 2, 1, 1], [3, 3, 2, 2]])
    assert training.letters_alone(letters) == (3 / 4 + 2 / 4) / 2


def test_the_comparison_of_blocks_sees_a_wrong_one(monkeypatch):
    assert max(map(torch_blocks.encoder_difference, range(4))) < 1e-12
    assert max(map(torch_blocks.decoder_difference, range(4))) < 1e-12

    class Exchanged(torch_blocks.EncoderBlock):
        def __init__(self, d_model, n_heads, d_ff, norm):
            super().__init__(d_model, n_heads, d_ff, {"pre": "post", "post": "pre"}[norm])

    monkeypatch.setattr(torch_blocks, "EncoderBlock", Exchanged)
    assert min(map(torch_blocks.encoder_difference, range(4))) > 1e-3


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(sorted(ALL)), st.integers(0, 3))
def test_a_seed_gives_the_same_training_again_also_as_part_of_a_longer_one(name, seed):
    short = training.trained(ALL[name], 2, seed, 1e-3, after=(5,))
    both = training.trained(ALL[name], 2, seed, 1e-3, after=(5, 10))
    assert [*short] == [5]
    assert [*both] == [5, 10]
    assert both[5] == short[5]
    assert all(0 <= share <= 1 for share in both.values())
