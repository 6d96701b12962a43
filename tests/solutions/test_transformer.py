"""Test the whole machine, its loss and its search against torch, enumeration and hand."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_modules import TOLERANCE, matched, scrambled

from autograder.exercise.model import public_cases
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from exercises import COURSE
from exercises.transformer import given_blocks
from solutions.positions import sinusoidal_positions
from solutions.transformer import (
    Transformer,
    beam_search,
    label_smoothed_loss,
    shift_right,
    warmup_learning_rate,
)

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 6)
HEADS = st.sampled_from([4, 6, 8])  # features of a head; with fewer a norm magnifies rounding
DTYPES = st.sampled_from([torch.float64, torch.float32])
PENALTIES = st.sampled_from([0.0, 0.6, 1.0, 2.0])


class TorchTransformer(nn.Module):
    """Wrap torch's Transformer between the course's embeddings and logits."""

    def __init__(self, source_size, target_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.source = nn.Embedding(source_size, d_model)
        self.target = nn.Embedding(target_size, d_model)
        sizes = (d_model, n_heads, n_layers, n_layers, d_ff, 0.0)
        self.body = nn.Transformer(*sizes, batch_first=True, norm_first=True)
        self.to_logits = nn.Linear(d_model, target_size)

    def forward(self, sources, inputs, source_mask=None):
        later = torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool).triu(1)
        padding = None if source_mask is None else ~source_mask
        Y = self.body(
            *(self.embed(self.source, sources), self.embed(self.target, inputs)),
            tgt_mask=later,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.to_logits(Y)

    def embed(self, embedding, tokens):
        X = embedding(tokens)
        places = torch.tensor(sinusoidal_positions(tokens.shape[1], X.shape[-1]), dtype=X.dtype)
        return X * math.sqrt(X.shape[-1]) + places


def pairs(course_model, torch_model):
    """Yield (the course's parameters, torch's parameter that stacks them) for all parameters."""
    for stack, other, embedding in (
        (course_model.encoder, torch_model.body.encoder, torch_model.source),
        (course_model.decoder, torch_model.body.decoder, torch_model.target),
    ):
        yield [stack.embedding.weight], embedding.weight
        for block, layer in zip(stack.blocks, other.layers, strict=True):
            yield from matched(block, layer)
        yield from matched(stack.norm, other.norm)
    yield from matched(course_model.decoder.to_logits, torch_model.to_logits)


def same_machines(sizes, dtype):
    course_model = scrambled(Transformer(*sizes), dtype)
    torch_model = TorchTransformer(*sizes).to(dtype)
    with torch.no_grad():
        for part, full in pairs(course_model, torch_model):
            full.copy_(torch.cat(part))
    assert len(list(pairs(course_model, torch_model))) == len(list(torch_model.parameters()))
    assert sum(len(part) for part, _ in pairs(course_model, torch_model)) == len(
        list(course_model.parameters())
    )
    return course_model, torch_model


def ids(size, *shape):
    return torch.randint(size, shape)


def assert_near(result, expected, dtype):
    assert result.dtype == expected.dtype == dtype
    scale = max(1.0, expected.abs().max().item()) if expected.numel() else 1.0
    torch.testing.assert_close(result, expected, rtol=0, atol=TOLERANCE[dtype] * scale)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@settings(deadline=None)
@given(
    SEEDS, SIZES, SIZES, SIZES, SIZES, SIZES, st.integers(1, 4), HEADS, SIZES, st.integers(1, 3),
    DTYPES, st.booleans(),
)  # fmt: skip
def test_the_machine_equals_torch(
    seed, batch, n, m, source, target, n_heads, d_head, d_ff, n_layers, dtype, padded
):
    """Compare logits, and the gradients of every parameter."""
    torch.manual_seed(seed)
    course_model, torch_layer = same_machines(
        (source, target, n_heads * d_head, n_heads, d_ff, n_layers), dtype
    )
    sources, inputs = ids(source, batch, n), ids(target, batch, m)
    mask = torch.arange(n) < torch.randint(1, n + 1, (batch, 1)) if padded else None
    result, expected = course_model(sources, inputs, mask), torch_layer(sources, inputs, mask)
    assert_near(result, expected, dtype)
    cotangent = torch.randn_like(result)
    both = list(pairs(course_model, torch_layer))
    flat = [parameter for part, _ in both for parameter in part]
    part = iter(torch.autograd.grad(result, flat, cotangent))
    right = torch.autograd.grad(expected, [full for _, full in both], cotangent)
    for (parts, _), gradient in zip(both, right, strict=True):
        assert_near(torch.cat([next(part) for _ in parts]), gradient, dtype)


@settings(deadline=None)
@given(
    SEEDS, st.sampled_from([(1,), (3,), (2, 3)]), st.integers(2, 6),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from([0, 1, -100]), st.booleans(), DTYPES,
)  # fmt: skip
def test_the_smoothed_loss_equals_torch(seed, shape, V, smoothing, ignored, large, dtype):
    torch.manual_seed(seed)
    logits = torch.randn(*shape, V, dtype=dtype) * (300 if large else 2)
    logits.requires_grad_()
    targets = ids(V, *shape)
    targets[torch.rand(shape) < 0.3] = ignored
    counts = (targets != ignored).any()
    result = label_smoothed_loss(logits, targets, smoothing, ignored)
    assert result.shape == ()
    (gradient,) = torch.autograd.grad(result, logits, retain_graph=True)
    if not counts:
        assert result == 0
        assert result.dtype == dtype
        assert (gradient == 0).all()
        return
    right = F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignored,
        label_smoothing=smoothing,
    )
    assert_near(result, right, dtype)
    assert_near(gradient, torch.autograd.grad(right, logits)[0], dtype)


def language(seed, V):
    """Return a step whose log-probabilities are drawn for every prefix."""

    def step(tokens):
        scores = np.random.default_rng([seed, *tokens]).normal(size=V) * 2
        return scores - np.log(np.exp(scores).sum())

    return step


def score_of(step, start, tokens, length_penalty):
    """Return the score of a sentence whose last token may be stop."""
    gains = [step([start, *tokens[:i]])[token] for i, token in enumerate(tokens)]
    return sum(gains) / ((5 + len(tokens)) / 6) ** length_penalty


@settings(deadline=None)
@given(SEEDS, st.integers(2, 3), st.integers(1, 4), PENALTIES, st.integers(1, 4))
def test_a_beam_as_wide_as_the_tree_finds_what_enumeration_finds(
    seed, V, max_len, length_penalty, narrow
):
    """With V tokens, one step makes at most V (V - 1)^(max_len - 1) prefixes, and

    (V - 1)^0 + ... + (V - 1)^(max_len - 1) sentences can end. A beam as wide as the larger number
    discards nothing and does not stop early, so the search is exhaustive: it finds the best
    sentence that ends within max_len steps. No narrower beam finds a better sentence.
    """
    start, stop = seed % V, (seed + 1) % V
    step = language(seed, V)
    words = [token for token in range(V) if token != stop]
    sentences = [
        [*sentence, stop]
        for length in range(max_len)
        for sentence in itertools.product(words, repeat=length)
    ]
    scores = [score_of(step, start, sentence, length_penalty) for sentence in sentences]
    beam = max(V * (V - 1) ** (max_len - 1), len(sentences))
    tokens, score = beam_search(step, start, stop, beam, max_len, length_penalty)
    assert score == pytest.approx(max(scores))
    assert [*tokens, stop] == sentences[int(np.argmax(scores))]
    tokens, score = beam_search(step, start, stop, narrow, max_len, length_penalty)
    if [*tokens, stop] in sentences:
        assert score <= max(scores) + 1e-9


def test_with_no_steps_left_the_model_is_not_called():
    assert beam_search(None, 0, 1, 3, 0, 1.0) == ([], 0.0)


def test_the_search_ends_when_beam_width_sentences_have_ended():
    rows = {0: [0.0, 0.5, 0.3, 0.2], 2: [0.0, 0.6, 0.2, 0.2], 3: [0.0, 0.6, 0.2, 0.2]}
    calls = []

    def step(tokens):
        calls.append(list(tokens))
        with np.errstate(divide="ignore"):
            return np.log(rows[tokens[-1]])

    tokens, score = beam_search(step, 0, 1, 2, 9, 0.0)
    assert calls == [[0], [0, 2]]  # 1 ends at once; 2 is kept, and then 2, 1 ends
    assert tokens == []
    assert score == pytest.approx(math.log(0.5))


# The page of exercises


def machine_of_given_parts():
    """A student's Transformer, built from the given parts."""

    class Stack(nn.Module):
        def __init__(self, block, size, d_model, n_heads, d_ff, n_layers):
            super().__init__()
            self.embedding = nn.Embedding(size, d_model)
            self.blocks = nn.ModuleList(block(d_model, n_heads, d_ff) for _ in range(n_layers))
            self.norm = nn.LayerNorm(d_model)

        def forward(self, tokens, *rest):
            X = self.embedding(tokens)
            X = X * X.shape[-1] ** 0.5 + given_blocks.sinusoidal_positions(*X.shape[1:])
            for block in self.blocks:
                X = block(X, *rest)
            return self.norm(X)

    class Machine(nn.Module):
        def __init__(self, source_size, target_size, d_model, *sizes):
            super().__init__()
            self.encoder = Stack(given_blocks.GivenEncoderBlock, source_size, d_model, *sizes)
            self.decoder = Stack(given_blocks.GivenDecoderBlock, target_size, d_model, *sizes)
            self.decoder.to_logits = nn.Linear(d_model, target_size)

        def forward(self, sources, inputs, source_mask=None):
            mask = None if source_mask is None else source_mask[:, None, :]
            causal = torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool).tril()
            X = self.decoder(inputs, self.encoder(sources, mask), causal, mask)
            return self.decoder.to_logits(X)

    return Machine


@pytest.mark.parametrize("seed", range(3))
def test_a_machine_built_from_the_given_parts_is_correct(seed):
    exercise = COURSE["transformer"].exercise("Transformer")
    hidden = exercise.hidden(np.random.default_rng(seed))
    key = build_key(exercise, public_cases(exercise), hidden)
    judgement = judge(key, observe_quietly(machine_of_given_parts(), key.cases))
    assert judgement.passed, judgement


def test_the_examples_of_the_page():
    inputs = shift_right(torch.tensor([7, 8, 2]), 1)
    assert inputs.tolist() == [1, 7, 8]
    logits = torch.log(torch.tensor([[1.0, 3.0]]) / 4)
    target = torch.tensor([1])
    assert round(label_smoothed_loss(logits, target, 0.2, -100).item(), 4) == 0.3975
    assert round(label_smoothed_loss(logits, target, 0.0, -100).item(), 4) == 0.2877
    rates = [warmup_learning_rate(step, 16, 4) for step in (1, 4, 16)]
    assert rates == pytest.approx([1 / 32, 1 / 8, 1 / 16])
    machine = Transformer(4, 3, 2, 1, 1, 0)
    with torch.no_grad():
        machine.decoder.embedding.weight[:2] = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
        machine.decoder.to_logits.weight.copy_(torch.tensor([[1.0, 0], [0, 1], [1, 1]]))
        machine.decoder.to_logits.bias.zero_()
    logits = machine(torch.tensor([[3]]), torch.tensor([[0, 1]]))[0]
    torch.testing.assert_close(logits, torch.tensor([[-1.0, 1, 0], [1, -1, 0]]), rtol=0, atol=1e-4)
    table = np.array([[1, 1, 1], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05], [0, 0.6, 0.4]])

    def step(tokens):
        with np.errstate(divide="ignore"):
            return np.log(table[tokens[-1]])

    assert beam_search(step, 3, 0, 1, 5, 0.0) == ([1], pytest.approx(math.log(0.24)))
    tokens, score = beam_search(step, 3, 0, 2, 5, 1.0)
    assert tokens == [2]
    assert round(score, 3) == -0.876
