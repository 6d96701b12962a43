"""Test position encodings by hand, and properties of the chapter's experiment."""

import itertools

import numpy as np
import pytest
import torch

from solutions.alignment import softmax
from solutions.experiments.positions import longer_context
from solutions.experiments.positions.distance_curves import curves_of, mean_scores, score_at
from solutions.experiments.positions.doors import REACH, Drawn, Rotary, bucket
from solutions.experiments.positions.length_generalisation import (
    DISTANCES,
    DRAWN,
    LENGTHS,
    LETTERS,
    LONGEST,
    NUMBERS,
    SCHEMES,
    START,
    TASKS,
    Reader,
    assess,
    clipped_oracle,
    sample,
    trained,
)
from solutions.experiments.positions.longer_context import (
    METHODS,
    compare_methods,
    short_steps_only,
    speeds,
    stretch,
)
from solutions.experiments.positions.published_distance import FARTHEST, by_distance, forecast
from solutions.experiments.today.inside import LATER
from solutions.positions import (
    frequencies,
    interpolated_positions,
    linear_bias,
    relative_scores,
    rotary,
    rotary_by_halves,
    sinusoidal_positions,
    stretched_frequencies,
)
from solutions.published.smollm2 import SIZES


def test_sinusoids_by_hand():
    expected = [
        [0, 1, 0, 1],
        [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)],
        [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)],
    ]
    np.testing.assert_allclose(sinusoidal_positions(3, 4), expected, atol=1e-15)


def test_rotary_by_hand():
    X = np.array([[1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0]])
    expected = [[1, 0, 0, 2], [np.cos(3), np.sin(3), -2 * np.sin(0.03), 2 * np.cos(0.03)]]
    np.testing.assert_allclose(rotary(X, np.array([0, 3])), expected, atol=1e-15)


@pytest.mark.parametrize("turn", [rotary, rotary_by_halves])
def test_turning_keeps_the_dtype(turn):
    assert turn(np.ones((3, 4), np.float32), np.arange(3)).dtype == np.float32


@pytest.mark.parametrize("shape", [(2,), (5,), (2, 4), (3, 2, 4)])
def test_positions_that_do_not_broadcast_to_the_tokens_are_an_error(shape):
    with pytest.raises(ValueError, match=r"broadcast|reshape"):
        rotary(np.ones((1, 4, 6)), np.zeros(shape))


def test_interpolated_positions_by_hand():
    positions = np.array([[0, 1, 2, 7], [0, 1, 2, 3]])
    expected = [[0, 0.5, 1, 3.5], [0, 1, 2, 3]]
    np.testing.assert_array_equal(interpolated_positions(positions, 4), expected)


def test_stretched_frequencies_keep_the_fast_pairs_and_slow_down_the_others():
    speeds, trained = frequencies(128), 4096
    turns = trained * speeds / (2 * np.pi)
    stretched = stretched_frequencies(128, trained, factor=8, whole=32)
    np.testing.assert_allclose(stretched[turns >= 32], speeds[turns >= 32])
    np.testing.assert_allclose(stretched[turns <= 1], speeds[turns <= 1] / 8)
    between = (turns < 32) & (turns > 1)
    assert between.any()
    assert (speeds / 8 < stretched)[between].all()
    assert (stretched < speeds)[between].all()
    assert (np.diff(stretched) < 0).all()


def test_linear_bias_by_hand():
    expected = [[0, -1, -2], [-1, 0, -1], [-2, -1, 0]] * np.array([[[1 / 16]], [[1 / 256]]])
    np.testing.assert_array_equal(linear_bias(3, 2), expected)


@pytest.mark.parametrize("task", TASKS)
def test_the_sequences_hold_the_answer(task):
    letters, numbers, asked, answer = sample(300, 12, task, torch.Generator().manual_seed(5))
    assert letters.max() < LETTERS
    assert numbers.max() < NUMBERS
    for row in range(300):
        if task == "last":
            place = letters[row].tolist()[::-1].index(int(asked[row]))  # from the end
        else:
            place = int(asked[row]) - LETTERS
            assert 0 <= place < DISTANCES
        assert numbers[row].tolist()[-1 - place] == answer[row]


@pytest.mark.parametrize("method", METHODS)
def test_torch_turns_as_numpy_does(method):
    """Interpolation is the same with other speeds and with other positions."""
    Q, K = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 2, 3, 5, 16)))
    place = Rotary(9, 16)
    place.set_speeds(speeds(method))
    angles = np.arange(5)[:, None] * speeds(method)  # (5, 8)
    points = (K.numpy()[..., ::2] + 1j * K.numpy()[..., 1::2]) * np.exp(1j * angles)
    expected = np.stack([points.real, points.imag], axis=-1).reshape(K.shape)
    _, turned = place.turn(Q[..., -1:, :], K)
    np.testing.assert_allclose(turned, expected, atol=1e-6)
    if method == "unchanged":
        np.testing.assert_allclose(turned, rotary(K.numpy(), np.arange(5)), atol=1e-6)
    if method == "interpolation":
        np.testing.assert_allclose(turned, rotary(K.numpy(), np.arange(5) / 4), atol=1e-6)


def test_stretching_changes_only_rotary_in_a_copy():
    torch.manual_seed(0)
    model = Reader("rotary")
    before = model.place.waves.clone()
    longer = stretch(model, "YaRN")
    assert torch.equal(model.place.waves, before)
    assert not torch.equal(longer.place.waves, before)
    assert torch.equal(stretch(model, "unchanged").place.waves, before)
    with pytest.raises(TypeError, match="Doors has no speeds"):
        stretch(Reader("none"), "YaRN")


def test_methods_share_one_model_and_the_same_further_training(monkeypatch):
    torch.manual_seed(0)
    model = Reader("rotary")
    before = [parameter.clone() for parameter in model.parameters()]
    monkeypatch.setattr(longer_context, "trained", lambda *_: model)
    monkeypatch.setattr(longer_context, "MORE_STEPS", (2, 4))
    results = compare_methods(0)
    assert list(results) == list(METHODS)
    assert results["unchanged"].at_once == assess(model, "before", 0)
    at_once = [result.at_once.looks for result in results.values()]
    assert all(first != second for first, second in itertools.combinations(at_once, 2))
    for result in results.values():
        assert result.at_once != result.after[2] != result.after[4]
    short_only = short_steps_only(0)
    assert list(short_only) == [2, 4]
    assert short_only[2] != results["unchanged"].after[2]
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


def test_curves_are_the_models_own_mean_scores():
    """Average the scores over all records, as the model's own door turns them."""
    torch.manual_seed(0)
    model = Reader("rotary")
    for method in METHODS[:2]:
        longer = stretch(model, method)
        for curve, own in zip(curves_of(longer, 3), mean_scores(longer, 3, 40), strict=True):
            scores = score_at(curve, speeds(method), np.arange(1, 41))
            np.testing.assert_allclose(scores, own, atol=1e-6)


def test_embeddings_start_at_the_stated_size():
    torch.manual_seed(0)
    model = Reader("none")
    for table in (model.asked, model.number):
        assert table.weight.std().item() == pytest.approx(START, rel=0.1)


def test_drawn_positions_are_in_order_and_new_for_each_sequence():
    torch.manual_seed(0)
    place = Drawn(20, 1, learned=True)
    place.rows.data = torch.arange(20.0)[:, None]
    drawn = place.add(torch.zeros(200, 6, 1))[..., 0]  # (200, 6)
    assert (drawn.diff(dim=1) >= 1).all()
    assert set(drawn.flatten().tolist()) == set(range(20))
    assert len(drawn.unique(dim=0)) > 150
    every_row = place.add(torch.zeros(2, 20, 1))[..., 0]
    assert torch.equal(every_row, torch.arange(20.0).expand(2, -1))


def test_the_clipped_oracle_needs_luck_only_beyond_its_reach():
    letters, _, asked, _ = sample(1000, 32, "last", torch.Generator().manual_seed(2000))
    near = (letters == asked[:, None])[:, -(REACH - 1) :].any(dim=1).float().mean().item()
    assert near < clipped_oracle(32, 0) < near + (1 - near) * 0.7
    assert clipped_oracle(REACH - 1, 0) == 1


def test_buckets_are_exact_near_and_wide_far_away():
    """The 32 buckets of T5's decoder: 16 exact ones, then up to a distance of 128."""
    result = bucket(np.arange(300), 32, 16, 128)
    assert result[:16].tolist() == list(range(16))
    assert (np.diff(result) >= 0).all()
    assert set(np.diff(result)) == {0, 1}
    assert (result[128:] == 31).all()
    assert result[127] == 31
    widths = np.bincount(result)[16:31]
    assert widths[-1] > 4 * widths[0]


@pytest.mark.parametrize("scheme", [*SCHEMES, *DRAWN, "buckets"])
def test_without_positions_the_order_of_the_records_does_not_matter(scheme):
    torch.manual_seed(0)
    model = Reader(scheme)
    if scheme in ("relative", "buckets"):
        next(model.place.parameters()).data.normal_()  # starts close to zero
    letters, numbers, asked, _ = sample(4, 6, "last", torch.Generator().manual_seed(1))
    logits, weights = model(letters, numbers, asked)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    turned, _ = model(letters.flip(1), numbers.flip(1), asked)
    same = (logits - turned).abs().max() < 1e-5
    assert same if scheme == "none" else not same


@pytest.mark.parametrize("scheme", ["rotary", "linear bias", "relative"])
def test_the_models_score_as_the_exercises_do(scheme):
    """Recompute the question's weights with the functions of `solutions.positions`."""
    torch.manual_seed(0)
    model = Reader(scheme)
    letters, numbers, asked, _ = sample(1, 12, "last", torch.Generator().manual_seed(1))
    weights = model(letters, numbers, asked)[1][0].detach().numpy()  # (heads, n + 1)
    records = model.asked(letters) + model.number(numbers)
    question = model.asked(asked) + model.number.weight[NUMBERS]
    X = torch.cat([records, question[:, None]], dim=1)[0]
    Q, K = (W(X).detach().numpy() for W in (model.W_q, model.W_k))
    heads = len(weights)
    Q, K = (np.swapaxes(Z.reshape(13, heads, -1), 0, 1) for Z in (Q, K))  # (heads, n + 1, d_head)
    if scheme == "relative":
        back = model.place.table.detach().numpy()  # for 0, 1, 2, ... places back
        scores = relative_scores(Q, K, np.concatenate([back[::-1], back[1:]]))
    elif scheme == "rotary":
        Q, K = rotary(Q, np.arange(13)), rotary(K, np.arange(13))
        scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    else:
        scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5 + linear_bias(13, heads)
    np.testing.assert_allclose(weights, softmax(scores)[:, -1], atol=1e-5)


def test_position_vectors_beyond_the_trained_lengths_stay_as_initialised():
    rows = trained("learned", "last", 0, LONGEST, steps=5).place.rows
    torch.manual_seed(0)
    fresh = Reader("learned").place.rows
    assert len(fresh) == max(LENGTHS) + 1
    assert torch.equal(rows[LONGEST + 1 :], fresh[LONGEST + 1 :])
    assert not (rows[:LONGEST] == fresh[:LONGEST]).all(dim=-1).any()


def test_a_published_heads_forecast_is_the_softmax_of_its_turned_mean_key():
    rng = np.random.default_rng(0)
    Q, K = torch.from_numpy(rng.normal(size=(2, 3, 64)))
    base = float(SIZES["base"])
    angles = np.arange(FARTHEST + 1)[:, None] * frequencies(64, base)  # (distances, 32)
    for query, key, found in zip(Q.numpy(), K.numpy(), forecast(Q, K), strict=True):
        products = (query[::2] + 1j * query[1::2]) * (key[::2] - 1j * key[1::2])
        scores = (products * np.exp(1j * angles)).real.sum(axis=-1) / 8
        np.testing.assert_allclose(found, softmax(scores), atol=1e-6)


def test_weights_by_distance_are_those_of_the_diagonals():
    weights = torch.rand(2, 9, 60, 60, generator=torch.Generator().manual_seed(0))
    found = by_distance(weights)
    rows = range(LATER + FARTHEST, 60)
    for distance in (0, 1, FARTHEST):
        expected = torch.stack([weights[:, :, i, i - distance] for i in rows]).mean(dim=(0, 1))
        torch.testing.assert_close(found[:, distance], expected)
