"""Test the loops with hand-written backward passes against PyTorch and its autograd."""

import pytest
import torch
from torch import nn

from solutions.translators.recurrence import gru, look_and_move
from solutions.translators.recurrent import AttentionDecoder, Encoder
from solutions.translators.seq2seq import Memory

STEPS, ROWS, TOKENS, WIDTH, CONTEXT = 5, 3, 4, 6, 7


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_the_gru_loop_equals_pytorch_in_values_and_gradients():
    X, start = numbers(ROWS, STEPS, CONTEXT), numbers(ROWS, WIDTH)
    torch_model = nn.GRU(CONTEXT, WIDTH, batch_first=True).double()
    W_word, W_state, bias, state_bias = parameters = list(torch_model.parameters())
    states, _ = torch_model(X, start[None])
    output = nn.functional.linear(X.transpose(0, 1), W_word, bias)
    actual = gru(output, start, W_state, state_bias).transpose(0, 1)
    torch.testing.assert_close(actual, states)
    upstream = torch.randn_like(states)
    for part, right in zip(
        torch.autograd.grad(actual, [X, start, *parameters], upstream),
        torch.autograd.grad(states, [X, start, *parameters], upstream),
        strict=True,
    ):
        torch.testing.assert_close(part, right)


@pytest.mark.parametrize("steps", [1, STEPS])
def test_the_gradients_of_a_gru_match_finite_differences(steps):
    inputs = numbers(steps, ROWS, 3 * WIDTH), numbers(ROWS, WIDTH)
    assert torch.autograd.gradcheck(gru, (*inputs, numbers(3 * WIDTH, WIDTH), numbers(3 * WIDTH)))


MASK = torch.arange(TOKENS) < torch.tensor([4, 2, 1])[:, None]


def looked(output, start, side, states, *weights):
    return look_and_move(output, start, (side, states, MASK), *weights)


def to_look(steps=STEPS):
    return (
        *(numbers(steps, ROWS, 3 * WIDTH), numbers(ROWS, WIDTH)),
        *(numbers(ROWS, TOKENS, WIDTH), numbers(ROWS, TOKENS, CONTEXT)),
        *(numbers(WIDTH, WIDTH), numbers(WIDTH), numbers(3 * WIDTH, CONTEXT)),
        *(numbers(3 * WIDTH, WIDTH), numbers(3 * WIDTH)),
    )


@pytest.mark.parametrize("steps", [1, 3])
def test_the_gradients_of_the_attention_decoder_match_finite_differences(steps):
    assert torch.autograd.gradcheck(lambda *inputs: looked(*inputs)[:2], to_look(steps))


def test_no_weight_and_no_gradient_goes_to_padding():
    inputs = to_look()
    states, contexts, weights = looked(*inputs)
    assert (weights[:, ~MASK] == 0).all()
    assert not weights.requires_grad
    side, memory = torch.autograd.grad(states.sum() + contexts.sum(), inputs[2:4])
    assert (side[~MASK] == 0).all()
    assert (memory[~MASK] == 0).all()


def test_chapter_2s_decoder_trains_on_the_steps_that_it_writes_with():
    decoder = AttentionDecoder(11, CONTEXT, WIDTH).double()
    states = torch.randn(ROWS, TOKENS, decoder.W_h.in_features, dtype=torch.float64)
    memory = Memory(states, MASK, torch.randn(ROWS, CONTEXT, dtype=torch.float64))
    inputs = torch.randint(11, (ROWS, STEPS))
    logits, weights = decoder(inputs, memory)
    state, slow, maps = decoder.start(memory), [], []
    for ids in inputs.T:
        scored, state, looked_at = decoder.step(ids, state, memory)
        slow.append(scored)
        maps.append(looked_at)
    torch.testing.assert_close(torch.stack(maps, dim=1), weights)
    torch.testing.assert_close(torch.stack(slow, dim=1), logits)
    upstream, parameters = torch.randn_like(logits), list(decoder.parameters())
    result = torch.autograd.grad(logits, parameters, upstream)
    right = torch.autograd.grad(torch.stack(slow, dim=1), parameters, upstream)
    for gradient, expected in zip(result, right, strict=True):
        torch.testing.assert_close(gradient, expected)


def test_the_encoder_equals_pytorchs_bidirectional_gru():
    encoder = Encoder(9, WIDTH).double()
    lengths = MASK.sum(dim=1)
    sources = torch.randint(1, 9, MASK.shape) * MASK
    memory = encoder(sources, lengths)
    packed = nn.utils.rnn.pack_padded_sequence(
        encoder.embedding(sources), lengths, batch_first=True, enforce_sorted=False
    )
    states, last = encoder.rnn(packed)
    states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    torch.testing.assert_close(memory.states[MASK], states[MASK])
    torch.testing.assert_close(memory.context, torch.cat(list(last), dim=-1))
