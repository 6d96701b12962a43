"""Test the translators' common interface: bottleneck, decoder with attention, Transformer."""

import copy

import numpy as np
import pytest
import torch
from numpy.random import default_rng

from solutions.data.translation import Vocabulary, make_batch, sample_pairs
from solutions.data.translation.loaders import TokenPair
from solutions.data.translation.vocabulary import START, STOP, UNKNOWN
from solutions.transformer import DecoderStack
from solutions.transformer_block import LayerNorm
from solutions.translators.machines import attention, bottleneck, transformer
from solutions.translators.seq2seq import Memory, Seq2Seq, continuation, translate
from solutions.translators.training import tensors
from solutions.translators.transformer import TransformerEncoder, with_fused_norms

PAIRS = sample_pairs("german", 6, default_rng(0), clauses=(1, 3))
SOURCE = Vocabulary.of(pair.source for pair in PAIRS)
TARGET = Vocabulary.of(pair.target for pair in PAIRS)
SOURCES, LENGTHS, TARGETS = tensors(make_batch(PAIRS, SOURCE, TARGET))


@pytest.fixture(
    params=[bottleneck, attention, transformer], ids=["bottleneck", "attention", "transformer"]
)
def model(request):
    torch.manual_seed(0)
    return request.param(len(SOURCE), len(TARGET)).eval()


def step_by_step(model, memory, inputs):
    state, logits, looks = None, [], []
    for i in range(inputs.shape[1]):
        step_logits, state, weights = model.decode_step(inputs[:, i], state, memory)
        logits.append(step_logits)
        looks.append(weights)
    return torch.stack(logits, dim=1), looks


def test_single_steps_equal_decoding_the_whole_target(model):
    full, weights = model(SOURCES, LENGTHS, TARGETS[:, :-1])
    logits, looks = step_by_step(model, model.encode(SOURCES, LENGTHS), TARGETS[:, :-1])
    torch.testing.assert_close(logits, full, rtol=1e-4, atol=1e-5)
    if weights is None:
        assert set(looks) == {None}
    else:
        torch.testing.assert_close(torch.stack(looks, dim=1), weights, rtol=1e-4, atol=1e-6)


def test_padding_changes_nothing(model):
    full, _ = model(SOURCES, LENGTHS, TARGETS[:, :-1])
    for i, n in enumerate(LENGTHS.tolist()):
        alone, _ = model(SOURCES[i : i + 1, :n], LENGTHS[i : i + 1], TARGETS[i : i + 1, :-1])
        torch.testing.assert_close(alone[0], full[i], rtol=1e-4, atol=1e-5)


def test_the_bottleneck_depends_on_the_source_through_one_vector_only():
    model = bottleneck(len(SOURCE), len(TARGET)).eval()
    memory = model.encode(SOURCES, LENGTHS)
    assert memory.context.shape == (len(PAIRS), 256)
    blind = Memory(torch.full_like(memory.states, torch.nan), memory.mask, memory.context)
    seeing, _ = model.decoder(TARGETS, memory)
    assert torch.equal(seeing, model.decoder(TARGETS, blind)[0])


def test_no_row_of_logits_depends_on_a_later_token(model):
    inputs = TARGETS[:, :-1]
    changed = inputs.clone()
    changed[:, 3:] = UNKNOWN
    full, other = (model(SOURCES, LENGTHS, targets)[0] for targets in (inputs, changed))
    torch.testing.assert_close(other[:, :3], full[:, :3], rtol=1e-4, atol=1e-5)
    assert (other[:, 3] - full[:, 3]).abs().max() > 1e-2


def test_a_recurrent_decoder_refuses_an_encoder_without_one_vector():
    encoder = TransformerEncoder(len(SOURCE), 32, 2, 32, 1)
    model = Seq2Seq(encoder, bottleneck(len(SOURCE), len(TARGET)).decoder)
    with pytest.raises(ValueError, match="one vector of the source"):
        model(SOURCES, LENGTHS, TARGETS)


def test_continuations_are_the_log_probabilities_of_the_next_token(model):
    n = int(LENGTHS[0])
    sources, lengths, inputs = SOURCES[:1, :n], LENGTHS[:1], TARGETS[:1, :4]
    step = continuation(model, sources, lengths)
    with torch.no_grad():
        logits, _ = model(sources, lengths, inputs)
    for i in range(1, 5):
        result = step(inputs[0, :i].tolist())
        np.testing.assert_allclose(np.exp(result).sum(), 1, atol=1e-5)
        np.testing.assert_allclose(result, logits[0, i - 1].log_softmax(-1).numpy(), atol=1e-4)


class Script(torch.nn.Module):
    """A model that writes a fixed script, whatever it reads."""

    def __init__(self, *rows):
        super().__init__()
        self.rows, self.heard = rows, []

    def encode(self, sources, lengths):
        return sources

    def decode_step(self, previous, state, memory):
        self.heard.append(previous.tolist())
        place = 0 if state is None else state + 1
        tokens = torch.tensor([row[place] for row in self.rows])
        weights = torch.full((len(self.rows), memory.shape[1]), 1.0 + place)
        return torch.nn.functional.one_hot(tokens, 9).float(), place, weights


def test_a_translation_ends_at_stop_and_is_fed_its_own_words():
    model = Script([5, 6, STOP, 8, 8], [7, STOP, 7, 7, 7])
    long, short = translate(model, torch.zeros(2, 3, dtype=torch.long), torch.tensor([3, 2]), 5)
    assert (long.tokens, short.tokens) == ([5, 6], [7])
    assert model.heard == [[START, START], [5, 7], [6, STOP]]
    assert long.weights.tolist() == [[1.0] * 3, [2.0] * 3]
    assert short.weights.tolist() == [[1.0] * 2]


def test_a_translation_without_stop_is_cut():
    (cut,) = translate(Script([4] * 9), torch.zeros(1, 1, dtype=torch.long), torch.tensor([1]), 4)
    assert cut.tokens == [4] * 4


def test_a_translation_may_be_empty(model):
    at_once = Script([STOP])
    sources, lengths = torch.zeros(1, 1, dtype=torch.long), torch.tensor([1])
    assert translate(at_once, sources, lengths, 4)[0].tokens == []
    assert [translation.tokens for translation in translate(model, SOURCES, LENGTHS, 0)] == [
        []
    ] * len(PAIRS)


def test_unknown_words_and_long_sentences_are_translated_somehow(model):
    strange = TokenPair(("xylophone",) * 200, ("Xylophon",))
    batch = make_batch([strange], SOURCE, TARGET)
    assert set(batch.sources[0]) == {UNKNOWN}
    sources, lengths, _ = tensors(batch)
    (translation,) = translate(model, sources, lengths, 7)
    assert len(translation.tokens) <= 7
    assert translation.weights is None or translation.weights.shape[1] == 200


def test_the_fused_norms_have_the_values_and_names_of_chapter_8():
    torch.manual_seed(0)
    course_model = DecoderStack(len(TARGET), 32, 2, 32, 2)
    for parameter in course_model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    fused = with_fused_norms(copy.deepcopy(course_model))
    assert not any(isinstance(module, LayerNorm) for module in fused.modules())
    assert list(fused.state_dict()) == list(course_model.state_dict())
    fused.load_state_dict(course_model.state_dict())
    context = torch.randn(len(PAIRS), 4, 32)
    torch.testing.assert_close(fused(TARGETS, context), course_model(TARGETS, context))
