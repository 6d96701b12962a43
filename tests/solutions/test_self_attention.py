"""Test the experiment with a distant token: its tasks, its models and its measures."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from solutions.experiments.self_attention import (
    far_token,
    measures,
    models,
    only_far,
    sequences,
    static_vectors,
    training,
)
from solutions.self_attention import permute_equivariantly, window_mask


def test_the_answer_of_the_permutation_test_is_a_plain_bool():
    assert permute_equivariantly(lambda X: X, np.eye(3), np.arange(3)) is True


def test_path_lengths_follow_the_formulas():
    lengths = measures.path_lengths(window_mask(10, 3))
    apart = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    assert np.array_equal(lengths, np.ceil(apart / 3))
    assert (measures.path_lengths(np.tri(4, dtype=bool))[0, 1:] == -1).all()


def test_the_payload_is_only_at_the_requested_position():
    distance = torch.tensor(sequences.DISTANCES)
    tokens, answer = sequences.one_payload(distance, torch.Generator().manual_seed(0))
    rows = torch.arange(len(distance))
    assert torch.equal(tokens[rows, sequences.N_TOKENS - 1 - distance], answer)
    assert ((tokens < sequences.N_PAYLOADS).sum(dim=1) == 1).all()
    assert (tokens[:, -1] == sequences.PROBE).all()


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("distance", [1, 31])
def test_a_payload_has_so_many_fillers_before_it_at_every_distance(before, distance):
    generator = torch.Generator().manual_seed(0)
    tokens, answer = sequences.payload_after(before, distance, 50, generator)
    assert tokens.shape == (50, before + 1 + distance)
    assert torch.equal(tokens[:, -1 - distance], answer)
    assert ((tokens < sequences.N_PAYLOADS).sum(dim=1) == 1).all()
    assert (tokens[:, -1] == sequences.PROBE).all()


def test_the_gru_that_keeps_has_a_gradient_that_survives_the_path():
    norms = {}
    for body in ("GRU", only_far.KEEPING):
        torch.manual_seed(0)
        model = only_far.start(body)
        norms[body] = measures.gradient_norm(model, 31, torch.Generator().manual_seed(0))
    assert norms[only_far.KEEPING] > 1000 * norms["GRU"]


def test_no_payload_is_nearer_than_the_nearest():
    tokens, _ = sequences.any_distance(200, torch.Generator().manual_seed(0), nearest=16)
    _, places = torch.nonzero(tokens < sequences.N_PAYLOADS, as_tuple=True)
    assert (sequences.N_TOKENS - 1 - places).min() == 16


def test_the_second_task_answers_the_later_payload_also_for_twins():
    generator = torch.Generator().manual_seed(0)
    tokens, later = sequences.with_twins(*sequences.two_payloads(200, generator))
    for row, answer in zip(tokens.tolist(), later.tolist(), strict=True):
        first, second = (token for token in row if token < sequences.N_PAYLOADS)
        assert second == answer != first
        places = [place for place, token in enumerate(row) if token < sequences.N_PAYLOADS]
        assert min(places) >= sequences.N_TOKENS - 1 - sequences.NEAR
    assert torch.equal(tokens[:200].sort(dim=1).values, tokens[200:].sort(dim=1).values)


def test_no_attention_body_can_tell_twins_apart():
    torch.manual_seed(0)
    model = models.Reader("self-attention")
    tokens, _ = sequences.with_twins(*sequences.two_payloads(50, torch.Generator().manual_seed(0)))
    logits = model(tokens)
    assert torch.allclose(logits[:50], logits[50:], atol=1e-6)


@pytest.mark.parametrize(
    ("body", "dilations"), [("convolution", models.DENSE), ("dilated", models.DILATED)]
)
def test_the_gradient_is_zero_exactly_outside_the_receptive_field(body, dilations):
    torch.manual_seed(0)
    model, reach = models.Reader(body), models.reach(dilations)
    generator = torch.Generator().manual_seed(0)
    assert measures.gradient_norm(model, reach, generator) > 0
    assert measures.gradient_norm(model, reach + 1, generator) == 0


@pytest.mark.parametrize("dilations", [models.DENSE, models.DILATED])
def test_the_last_position_does_not_depend_on_truncated_tokens(dilations):
    torch.manual_seed(0)
    body = models.ConvolutionalBody(dilations)
    X = torch.randn(3, sequences.N_TOKENS, models.D_MODEL)
    everything = body.layers(X.transpose(1, 2))[..., -1]
    torch.testing.assert_close(body(X), everything)


def test_the_rate_that_is_chosen_has_the_highest_mean_over_the_checkpoints():
    accuracies = {rate: [0.1, 0.9] for rate in far_token.RATES} | {3e-3: [0.6, 0.8]}
    validated = [accuracies[rate] for _, rate in far_token.TRIALS]
    assert set(far_token.best_rates(validated).values()) == {3e-3}


def test_no_reported_seed_chooses_a_rate():
    assert far_token.VALIDATION_SEED not in {seed for _, seed in far_token.RUNS}


def test_the_readers_with_scaled_scores_differ_only_in_the_embedding_and_the_divisor():
    lengths, divisors = {}, []
    for body in ("self-attention", *models.SCALED_BODIES):
        torch.manual_seed(0)
        model = models.Reader(body)
        lengths[body] = model.embedding.weight.norm(dim=-1).mean().item()
        assert isinstance(model.body, models.AttentionBody)
        divisors.append(model.body.divisor)
    d = models.D_MODEL
    assert divisors == [1, 1, math.sqrt(d), d, 1 / d]
    assert all(0.9 < lengths[body] < 1.1 for body in ("self-attention", models.SHORT_TIMES_D))
    assert all(5.2 < lengths[body] < 6 for body in models.LONG_BODIES)


def test_scores_divided_by_d_give_the_weights_of_short_vectors():
    X = torch.randn(2, 5, models.D_MODEL, generator=torch.Generator().manual_seed(0))
    short = models.AttentionBody().weights(X / math.sqrt(models.D_MODEL))
    torch.testing.assert_close(models.AttentionBody(models.D_MODEL).weights(X), short)


def test_a_reader_of_the_mean_stays_what_it_is_when_the_mean_is_swapped_in():
    torch.manual_seed(0)
    model = models.Reader("mean")
    test = sequences.any_distance(100, torch.Generator().manual_seed(0))
    assert measures.accuracy_of_the_mean(model, *test) == training.accuracy(model, *test)


@pytest.fixture
def encoder() -> SimpleNamespace:
    """Return an encoder of four words whose static vectors are orthonormal."""
    words = ("date", "fruit", "calendar", "sweet")

    def encode(text: str, add_special_tokens: bool) -> SimpleNamespace:
        return SimpleNamespace(ids=[words.index(word) for word in text.split()])

    return SimpleNamespace(
        tokenizer=SimpleNamespace(encode=encode),
        encoder=SimpleNamespace(embedding=SimpleNamespace(weight=torch.eye(4))),
    )


def test_date_keeps_the_weight_that_softmax_gives_it(encoder):
    moved = static_vectors.move_date(encoder, "sweet date")
    assert math.isclose(moved.own_weight, math.e / (math.e + 1))
    assert math.isclose(moved.to_date, math.e / math.hypot(math.e, 1))
    assert moved.to_fruit == moved.to_calendar == 0


def test_equal_weights_turn_date_into_the_mean_of_its_sentence(encoder):
    moved = static_vectors.move_date(encoder, "sweet date", static_vectors.equal_weights)
    assert moved.own_weight == 0.5
    assert math.isclose(moved.to_date, math.sqrt(0.5))


def test_the_null_of_the_own_weight_differs_only_in_what_the_others_get():
    X = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    weights, null = (
        rule(X, 1) for rule in (static_vectors.attention, static_vectors.own_weight_only)
    )
    assert null[1] == weights[1]
    assert math.isclose(null.sum(), 1)
    assert null[0] == null[2]
    assert weights[0] > null[0]


def test_doubled_vectors_have_four_times_the_scores():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    own = static_vectors.attention_of_doubled(X, 0)[0]
    assert math.isclose(own, math.exp(4) / (math.exp(4) + 1))
