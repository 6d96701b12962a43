"""Test the whole machine, its training and its search, against torch and at the edges."""

import itertools
import math
from pathlib import Path

import jupytext
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
from solutions.context_bottleneck import greedy_decode
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
EXERCISES = Path(__file__).parents[2] / "exercises"


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
@given(SEEDS, st.integers(2, 6), st.integers(0, 5))
def test_a_later_token_of_the_target_changes_no_earlier_logits(seed, m, place):
    torch.manual_seed(seed)
    place %= m
    machine = scrambled(Transformer(5, 7, 6, 3, 4, 2), torch.float64)
    sources, inputs = ids(5, 2, 3), ids(7, 2, m)
    changed = inputs.clone()
    changed[:, place] = (inputs[:, place] + 1) % 7
    before, after = machine(sources, inputs), machine(sources, changed)
    torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=0)
    assert (after[:, place:] != before[:, place:]).flatten(1).any(dim=1).all()


@settings(deadline=None)
@given(SEEDS, st.integers(0, 4), st.integers(0, 3), st.integers(0, 4), DTYPES)
def test_padding_changes_nothing(seed, n, padding, m, dtype):
    torch.manual_seed(seed)
    machine = scrambled(Transformer(5, 7, 6, 3, 4, 2), dtype)
    sources, inputs = ids(4, 2, n), ids(7, 2, m)
    padded = torch.cat([sources, torch.full((2, padding), 4)], dim=1)  # 4 does not occur elsewhere
    mask = (torch.arange(n + padding) < n).expand(2, -1)
    result = machine(padded, inputs, mask)
    assert_near(result, machine(sources, inputs), dtype)
    if m:
        (gradient,) = torch.autograd.grad(result.sum(), machine.encoder.embedding.weight)
        assert (gradient[4] == 0).all()


@pytest.mark.parametrize("n_layers", [0, 1, 2])
@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_zero_tokens_one_token_and_an_all_padding_source(n, m, n_layers):
    torch.manual_seed(0)
    machine = Transformer(5, 7, 6, 3, 4, n_layers)
    for mask in (None, torch.zeros(2, n, dtype=torch.bool)):
        logits = machine(ids(5, 2, n), ids(7, 2, m), mask)
        assert logits.shape == (2, m, 7)
        gradients = torch.autograd.grad(logits.sum(), machine.parameters(), allow_unused=True)
        for tensor in (logits, *gradients):
            assert tensor is None or tensor.isfinite().all()


def test_the_machine_refuses_mismatched_inputs():
    with pytest.raises(ValueError, match=r"6 features .* 4 heads"):
        Transformer(5, 7, 6, 4, 3, 1)
    with pytest.raises(ValueError, match="5"):
        Transformer(5, 7, 5, 5, 3, 1)(ids(5, 2, 3), ids(7, 2, 2))
    machine = Transformer(5, 7, 6, 3, 4, 1)
    message = r"\(2, 1, 4\) does not broadcast to \(2, 3, 3\)"
    with pytest.raises(ValueError, match=message):
        machine(ids(5, 2, 3), ids(7, 2, 2), torch.ones(2, 4, dtype=torch.bool))
    message = r"\(3, 1, 3\) does not broadcast to \(2, 3, 3\)"
    with pytest.raises(ValueError, match=message):
        machine(ids(5, 2, 3), ids(7, 2, 2), torch.ones(3, 3, dtype=torch.bool))


@settings(deadline=None)
@given(SEEDS, st.sampled_from([(), (1,), (3,), (2, 3)]), st.integers(0, 6))
def test_shift_right_is_the_token_before(seed, batch, m):
    torch.manual_seed(seed)
    targets = ids(9, *batch, m)  # most rows have no stop, and some have several
    before = targets.clone()
    inputs = shift_right(targets, 9)
    assert inputs.shape == targets.shape
    assert inputs.dtype == targets.dtype
    torch.testing.assert_close(targets, before)
    for place in range(m):
        expected = targets[..., place - 1] if place else torch.full(batch, 9)
        torch.testing.assert_close(inputs[..., place], expected)


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


@pytest.mark.parametrize("ignored", [1, -100])
def test_the_smoothed_loss_without_targets_is_0_and_so_are_its_gradients(ignored):
    logits = torch.randn(2, 3, 4, requires_grad=True)
    targets = torch.full((2, 3), ignored)
    loss = label_smoothed_loss(logits, targets, 0.1, ignored)
    assert loss == 0
    (gradient,) = torch.autograd.grad(loss, logits)
    assert (gradient == 0).all()


@settings(deadline=None)
@given(st.integers(1, 10_000), st.integers(1, 10_000), st.integers(1, 1000))
def test_the_rate_equals_that_of_the_paper(step, warmup, d_model):
    rate = warmup_learning_rate(step, d_model, warmup)
    peak = warmup_learning_rate(warmup, d_model, warmup)
    assert peak == pytest.approx((d_model * warmup) ** -0.5)
    assert rate <= peak * (1 + 1e-12)
    line, root = peak * step / warmup, peak * math.sqrt(warmup / step)
    assert rate == pytest.approx(line if step <= warmup else root)
    following = warmup_learning_rate(step + 1, d_model, warmup)
    assert abs(following - rate) <= peak / warmup * (1 + 1e-9)  # no jump, at the peak or elsewhere
    assert (following > rate) == (step < warmup)


@pytest.mark.parametrize("step", [0, -1])
def test_the_rate_has_no_step_below_1(step):
    with pytest.raises(ValueError, match=f"{step}"):
        warmup_learning_rate(step, 8, 4)


def language(seed, V, calls=None):
    """Return a step whose log-probabilities are drawn for every prefix."""

    def step(tokens):
        if calls is not None:
            calls.append(list(tokens))
        scores = np.random.default_rng([seed, *tokens]).normal(size=V) * 2
        return scores - np.log(np.exp(scores).sum())

    return step


def score_of(step, start, tokens, length_penalty):
    """Return the score of a sentence whose last token may be stop."""
    gains = [step([start, *tokens[:i]])[token] for i, token in enumerate(tokens)]
    return sum(gains) / ((5 + len(tokens)) / 6) ** length_penalty


@settings(deadline=None)
@given(SEEDS, st.integers(2, 6), st.integers(0, 8), PENALTIES)
def test_a_beam_of_1_is_greedy(seed, V, max_len, length_penalty):
    start, stop = seed % V, (seed + 1) % V
    step = language(seed, V)

    def decoder(previous, state, context):
        tokens = [*(state or []), previous]
        return step(tokens), tokens

    tokens, score = beam_search(step, start, stop, 1, max_len, length_penalty)
    assert tokens == greedy_decode(decoder, None, start, stop, max_len)
    full = [*tokens, stop] if len(tokens) < max_len else tokens
    assert score == pytest.approx(score_of(step, start, full, length_penalty))


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


def test_three_tokens_and_three_steps_are_searched_exhaustively_by_a_beam_of_twelve():
    calls = []
    beam_search(language(0, 3, calls), 0, 1, 12, 3, 0.0)
    assert len(calls) == 1 + 2 + 4  # every unfinished prefix once


@settings(deadline=None)
@given(SEEDS, st.integers(1, 3), st.integers(0, 6), PENALTIES)
def test_a_sentence_that_never_stops_is_cut_off(seed, beam, max_len, length_penalty):
    """The beam is not wider than the vocabulary, or it would keep the impossible stop."""
    drawn = language(seed, 4)

    def step(tokens):
        return np.where(np.arange(4) == 1, -np.inf, drawn(tokens))

    tokens, score = beam_search(step, 0, 1, beam, max_len, length_penalty)
    assert len(tokens) == max_len
    assert score == pytest.approx(score_of(step, 0, tokens, length_penalty))


def test_with_no_steps_left_the_model_is_not_called():
    calls = []
    assert beam_search(language(0, 4, calls), 0, 1, 3, 0, 1.0) == ([], 0.0)
    assert calls == []


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


def test_the_length_penalty_changes_the_answer():
    """A sentence of one token has the sum -2, and one of three tokens -2.5."""
    rows = {0: [-9, -9, -1, -1.25], 2: [-9, -1, -9, -9], 3: [-9, -9, -9, -0.75, -9]}
    rows |= {(0, 3, 3): [-9, -0.5, -9, -9]}

    def step(tokens):
        return np.array(rows.get(tuple(tokens), rows[tokens[-1]])[:4], dtype=float)

    assert beam_search(step, 0, 1, 3, 5, 0.0) == ([2], -2.0)
    tokens, score = beam_search(step, 0, 1, 3, 5, 2.0)
    assert tokens == [3, 3]
    assert score == pytest.approx(-2.5 / (8 / 6) ** 2)


def test_ties_prefer_the_better_prefix_and_then_the_lower_token():
    def step(tokens):
        return np.full(4, -1.0)

    assert beam_search(step, 0, 3, 2, 3, 0.0) == ([0, 0, 0], -3.0)
    assert beam_search(step, 0, 1, 2, 3, 0.0) == ([], -1.0)
    assert beam_search(step, 0, 1, 2, 3, 9.0)[0] == [0]  # then 0, 1 before 0, 2


# The page of exercises


@pytest.fixture(scope="module")
def given_parts():
    """Return what the locked cell of the page defines."""
    page = jupytext.read(EXERCISES / "transformer" / "assignment.md")
    source = next(cell.source for cell in page.cells if "class GivenBlock" in cell.source)
    namespace = {"nn": nn, "torch": torch, "F": F, "np": np, "math": math}
    exec(source, namespace)
    return namespace


def machine_of(parts):
    """A student's Transformer, built from the given parts."""

    class Stack(nn.Module):
        def __init__(self, block, size, d_model, n_heads, d_ff, n_layers):
            super().__init__()
            self.embedding = nn.Embedding(size, d_model)
            self.blocks = nn.ModuleList(block(d_model, n_heads, d_ff) for _ in range(n_layers))
            self.norm = nn.LayerNorm(d_model)

        def forward(self, tokens, *rest):
            X = self.embedding(tokens)
            X = X * X.shape[-1] ** 0.5 + parts["sinusoidal_positions"](*X.shape[1:])
            for block in self.blocks:
                X = block(X, *rest)
            return self.norm(X)

    class Machine(nn.Module):
        def __init__(self, source_size, target_size, d_model, *sizes):
            super().__init__()
            self.encoder = Stack(parts["GivenEncoderBlock"], source_size, d_model, *sizes)
            self.decoder = Stack(parts["GivenDecoderBlock"], target_size, d_model, *sizes)
            self.decoder.to_logits = nn.Linear(d_model, target_size)

        def forward(self, sources, inputs, source_mask=None):
            mask = None if source_mask is None else source_mask[:, None, :]
            causal = torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool).tril()
            X = self.decoder(inputs, self.encoder(sources, mask), causal, mask)
            return self.decoder.to_logits(X)

    return Machine


@pytest.mark.parametrize("seed", range(3))
def test_a_machine_built_from_the_given_parts_is_correct(given_parts, seed):
    exercise = COURSE["transformer"].exercise("Transformer")
    hidden = exercise.hidden(np.random.default_rng(seed))
    key = build_key(exercise, public_cases(exercise), hidden)
    judgement = judge(key, observe_quietly(machine_of(given_parts), key.cases))
    assert judgement.passed, judgement


def test_the_given_positions_equal_those_of_chapter_seven(given_parts):
    for n, d_model in ((0, 4), (1, 2), (7, 6)):
        result = given_parts["sinusoidal_positions"](n, d_model)
        assert result.dtype == torch.float32
        np.testing.assert_allclose(result, sinusoidal_positions(n, d_model), atol=1e-6)


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
