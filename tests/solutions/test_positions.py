"""Test properties of position encodings, and of the chapter's experiment."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.alignment import softmax
from solutions.experiments.positions import longer_context
from solutions.experiments.positions.doors import Rotary, bucket
from solutions.experiments.positions.length_generalisation import (
    DISTANCES,
    LENGTHS,
    LETTERS,
    LONGEST,
    NUMBERS,
    SCHEMES,
    TASKS,
    Reader,
    Run,
    assess,
    fit,
    sample,
    trained,
)
from solutions.experiments.positions.longer_context import METHODS, compare_methods, speeds, stretch
from solutions.positions import (
    cached_rotary_scores,
    frequencies,
    interpolated_positions,
    linear_bias,
    relative_scores,
    relative_scores_backward,
    rotary,
    rotary_by_halves,
    shift_matrix,
    sinusoidal_positions,
    stretched_frequencies,
    weights_for_halves,
)

SIZES = st.integers(1, 7)
EVEN = st.integers(1, 8).map(lambda half: 2 * half)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
DTYPES = st.sampled_from([np.float64, np.float32])
STEPS = st.integers(-50, 50)


def test_sinusoids_by_hand():
    expected = [
        [0, 1, 0, 1],
        [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)],
        [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)],
    ]
    np.testing.assert_allclose(sinusoidal_positions(3, 4), expected, atol=1e-15)


@given(st.integers(0, 40), EVEN)
def test_every_pair_of_a_sinusoid_lies_on_the_unit_circle(n, d):
    encoding = sinusoidal_positions(n, d)
    assert encoding.shape == (n, d)
    pairs = encoding.reshape(n, d // 2, 2)
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=-1), 1)


@given(EVEN, st.integers(0, 30))
def test_a_shift_is_the_same_matrix_for_every_position(d, k):
    encoding = sinusoidal_positions(40 + k, d)
    moved = (shift_matrix(d, k) @ encoding[:40].T).T
    np.testing.assert_allclose(moved, encoding[k:], atol=1e-12)


@given(EVEN, STEPS, STEPS)
def test_shifts_are_rotations_that_add_up(d, first, second):
    M = shift_matrix(d, first)
    np.testing.assert_allclose(M @ M.T, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(M.T, shift_matrix(d, -first), atol=1e-12)
    np.testing.assert_allclose(
        M @ shift_matrix(d, second), shift_matrix(d, first + second), atol=1e-11
    )


@given(EVEN, st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_the_product_of_two_encodings_depends_only_on_their_distance(d, p, distance, elsewhere):
    encoding = sinusoidal_positions(41, d)
    here = encoding[p] @ encoding[p + distance]
    elsewhere_product = encoding[elsewhere] @ encoding[elsewhere + distance]
    assert here == pytest.approx(elsewhere_product, abs=1e-9)


def test_rotary_by_hand():
    X = np.array([[1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0]])
    expected = [[1, 0, 0, 2], [np.cos(3), np.sin(3), -2 * np.sin(0.03), 2 * np.cos(0.03)]]
    np.testing.assert_allclose(rotary(X, np.array([0, 3])), expected, atol=1e-15)


@given(SEEDS, BATCHES, st.integers(0, 6), EVEN, DTYPES)
def test_rotary_keeps_lengths_shape_and_dtype(seed, batch, n, d, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(*batch, n, d)).astype(dtype)
    before = X.copy()
    turned = rotary(X, rng.integers(0, 100, size=n))
    assert turned.shape == X.shape
    assert turned.dtype == dtype
    np.testing.assert_array_equal(X, before)
    norms = (np.linalg.norm(array, axis=-1) for array in (turned, X))
    np.testing.assert_allclose(*norms, rtol=1e-5)


@given(SEEDS, BATCHES, SIZES, SIZES, EVEN, STEPS)
def test_rotary_scores_do_not_change_when_all_move(seed, batch, n_q, n_k, d, shift):
    rng = np.random.default_rng(seed)
    Q, K = rng.normal(size=(*batch, n_q, d)), rng.normal(size=(*batch, n_k, d))
    at, keys_at = rng.integers(0, 50, size=n_q), rng.integers(0, 50, size=n_k)

    def scores(by):
        return rotary(Q, at + by) @ np.swapaxes(rotary(K, keys_at + by), -1, -2)

    np.testing.assert_allclose(scores(0), scores(shift), atol=1e-10)


@given(SEEDS, SIZES, EVEN)
def test_rotary_turns_by_the_inverse_of_the_shift_matrix(seed, position, d):
    """A pair (sin, cos) rotates clockwise as the position grows, rotary counter-clockwise."""
    x = np.random.default_rng(seed).normal(size=(1, d))
    expected = shift_matrix(d, position).T @ x[0]
    np.testing.assert_allclose(rotary(x, np.array([position]))[0], expected, atol=1e-12)


@given(SEEDS, SIZES, EVEN)
def test_rotary_takes_positions_of_each_sequence(seed, n, d):
    rng = np.random.default_rng(seed)
    X, positions = rng.normal(size=(2, 3, n, d)), rng.integers(0, 50, size=(2, 1, n))
    alone = [rotary(sequence, places[0]) for sequence, places in zip(X, positions, strict=True)]
    np.testing.assert_allclose(rotary(X, positions), alone, atol=1e-12)


@given(SEEDS, SIZES, st.integers(1, 3), EVEN)
def test_converted_weights_score_in_halves_as_the_old_ones_did_in_pairs(seed, n, heads, d_head):
    rng = np.random.default_rng(seed)
    X, positions = rng.normal(size=(n, 5)), rng.integers(0, 50, size=n)
    W_q, W_k = rng.normal(size=(2, 5, heads * d_head))

    def scores(W_q, W_k, turn):
        split = (np.swapaxes((X @ W).reshape(n, heads, d_head), 0, 1) for W in (W_q, W_k))
        Q, K = (turn(Z, positions) for Z in split)  # (heads, n, d_head)
        return Q @ np.swapaxes(K, -1, -2)

    converted = (weights_for_halves(W, heads) for W in (W_q, W_k))
    expected = scores(W_q, W_k, rotary)
    np.testing.assert_allclose(scores(*converted, rotary_by_halves), expected, atol=1e-9)
    if d_head > 2 and n > 1 and np.ptp(positions):
        assert not np.allclose(scores(W_q, W_k, rotary_by_halves), expected)


@given(SEEDS, BATCHES, st.lists(st.integers(1, 4), min_size=1, max_size=4), EVEN)
def test_a_cache_filled_in_steps_scores_as_the_whole_sequence_does(seed, batch, steps, d):
    n = sum(steps)
    Q, K = np.random.default_rng(seed).normal(size=(2, *batch, n, d))
    full = rotary(Q, np.arange(n)) @ np.swapaxes(rotary(K, np.arange(n)), -1, -2) / d**0.5
    cache, done = K[..., :0, :], 0
    for m in steps:
        new = slice(done, done + m)
        scores, cache = cached_rotary_scores(Q[..., new, :], K[..., new, :], cache)
        done += m
        np.testing.assert_allclose(scores, full[..., new, :done], atol=1e-9)
    np.testing.assert_allclose(cache, rotary(K, np.arange(n)), atol=1e-12)


def test_interpolated_positions_by_hand():
    positions = np.array([[0, 1, 2, 7], [0, 1, 2, 3]])
    expected = [[0, 0.5, 1, 3.5], [0, 1, 2, 3]]
    np.testing.assert_array_equal(interpolated_positions(positions, 4), expected)


@given(st.integers(1, 40), st.integers(1, 40))
def test_interpolated_positions_never_leave_the_trained_range(n, trained):
    squeezed = interpolated_positions(np.arange(n), trained)
    assert squeezed.max() < trained
    np.testing.assert_allclose(np.diff(squeezed), min(1, trained / n))


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


@given(st.integers(0, 12), st.integers(1, 12))
def test_linear_bias_for_any_number_of_heads(n, n_heads):
    bias = linear_bias(n, n_heads)
    assert bias.shape == (n_heads, n, n)
    for h in range(1, n_heads + 1):
        for i in range(n):
            for j in range(n):
                assert bias[h - 1, i, j] == pytest.approx(-(2 ** (-8 * h / n_heads)) * abs(i - j))


@given(SEEDS, BATCHES, st.integers(0, 6), st.integers(0, 6), SIZES, st.integers(0, 4), DTYPES)
def test_relative_scores_pair_by_pair(seed, batch, n_q, n_k, d, reach, dtype):
    rng = np.random.default_rng(seed)
    Q, K = (rng.normal(size=(*batch, n, d)).astype(dtype) for n in (n_q, n_k))
    table = rng.normal(size=(2 * reach + 1, d)).astype(dtype)
    scores = relative_scores(Q, K, table)
    assert scores.shape == (*batch, n_q, n_k)
    assert scores.dtype == dtype
    for i in range(n_q):
        for j in range(n_k):
            vector = table[min(max(j - i, -reach), reach) + reach]
            expected = np.sum(Q[..., i, :] * (K[..., j, :] + vector), axis=-1) / d**0.5
            np.testing.assert_allclose(scores[..., i, j], expected, atol=1e-5)


@given(SEEDS, SIZES, SIZES)
def test_relative_scores_of_a_table_of_zeros_are_plain_scores(seed, n, d):
    Q, K = np.random.default_rng(seed).normal(size=(2, n, d))
    np.testing.assert_allclose(relative_scores(Q, K, np.zeros((3, d))), Q @ K.T / d**0.5)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, st.integers(0, 4))
def test_the_gradients_of_relative_scores_say_how_a_loss_changes(seed, batch, n_q, n_k, d, reach):
    """Scores are linear in each input: a step in any direction changes them by the gradient."""
    rng = np.random.default_rng(seed)
    shapes = ((*batch, n_q, d), (*batch, n_k, d), (2 * reach + 1, d))
    inputs = [rng.normal(size=shape) for shape in shapes]
    d_scores = rng.normal(size=(*batch, n_q, n_k))
    before = np.sum(relative_scores(*inputs) * d_scores)
    for place, gradient in enumerate(relative_scores_backward(*inputs, d_scores)):
        step = rng.normal(size=gradient.shape)
        moved = [array + step if at == place else array for at, array in enumerate(inputs)]
        change = np.sum(relative_scores(*moved) * d_scores) - before
        assert change == pytest.approx(np.sum(gradient * step), abs=1e-9)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_an_odd_width_is_refused_with_its_number(d):
    with pytest.raises(ValueError, match=f"d = {d} is odd"):
        sinusoidal_positions(4, d)
    with pytest.raises(ValueError, match=f"d = {d} is odd"):
        shift_matrix(d, 1)
    with pytest.raises(ValueError, match=f"d = {d} is odd"):
        rotary(np.ones((4, d)), np.arange(4))
    with pytest.raises(ValueError, match=f"d = {d} is odd"):
        rotary_by_halves(np.ones((4, d)), np.arange(4))
    with pytest.raises(ValueError, match=f"d_head = {d} is odd"):
        weights_for_halves(np.ones((4, 2 * d)), 2)


@pytest.mark.parametrize("shape", [(2,), (5,), (2, 4), (3, 2, 4)])
def test_positions_that_do_not_broadcast_to_the_tokens_are_an_error(shape):
    with pytest.raises(ValueError, match=r"broadcast|reshape"):
        rotary(np.ones((1, 4, 6)), np.zeros(shape))


@pytest.mark.parametrize("rows", [0, 2, 6])
def test_a_table_without_a_middle_is_refused_with_its_number(rows):
    with pytest.raises(ValueError, match=f"the table has {rows} rows"):
        relative_scores(np.ones((2, 4)), np.ones((2, 4)), np.ones((rows, 4)))


def test_one_token_and_no_token():
    assert sinusoidal_positions(0, 6).shape == (0, 6)
    assert sinusoidal_positions(1, 2).tolist() == [[0, 1]]
    x = np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(rotary(x, np.array([0])), x)
    assert rotary(np.zeros((2, 0, 4)), np.arange(0)).shape == (2, 0, 4)
    assert linear_bias(1, 2).tolist() == [[[0]], [[0]]]
    assert linear_bias(0, 2).shape == (2, 0, 0)
    assert relative_scores(x, x, np.array([[9.0, 9.0]])).item() == pytest.approx(88 / 2**0.5)
    assert relative_scores(x[:0], x[:0], np.ones((3, 2))).shape == (0, 0)


def attend(X, place):
    """Return self-attention after `place` has encoded the positions of the tokens of X."""
    Q, K, bias = place(X)
    return softmax(Q @ K.T + bias) @ X


@pytest.mark.parametrize(
    "place",
    [
        lambda X: (X + sinusoidal_positions(*X.shape),) * 2 + (0,),
        lambda X: (rotary(X, np.arange(len(X))),) * 2 + (0,),
        lambda X: (X, X, linear_bias(len(X), 8)[0]),
        lambda X: (X, X, relative_scores(X, X, np.arange(12.0).reshape(3, 4))),
    ],
    ids=["sinusoidal", "rotary", "linear bias", "relative"],
)
def test_every_scheme_breaks_permutation_equivariance(place):
    X = np.random.default_rng(0).normal(size=(5, 4))
    order = np.array([2, 0, 4, 1, 3])
    plain = [attend(Z, lambda Z: (Z, Z, 0)) for Z in (X[order], X)]
    np.testing.assert_allclose(plain[0], plain[1][order], atol=1e-12)
    assert np.abs(attend(X[order], place) - attend(X, place)[order]).max() > 1e-2


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
    monkeypatch.setattr(longer_context, "trained", lambda *_: model)
    monkeypatch.setattr(longer_context, "MORE_STEPS", 2)
    results = compare_methods(0)
    assert list(results) == list(METHODS)
    assert results["unchanged"].at_once == assess(model, "before", 0)
    at_once = [result.at_once.looks for result in results.values()]
    assert all(first != second for first, second in itertools.combinations(at_once, 2))
    assert all(result.after != result.at_once for result in results.values())


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


@pytest.mark.parametrize("scheme", [*SCHEMES, "buckets"])
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


def test_rows_beyond_the_trained_lengths_are_never_trained():
    rows = trained("learned", "last", seed=0, steps=5).place.rows
    torch.manual_seed(0)
    fresh = Reader("learned").place.rows
    assert len(fresh) == max(LENGTHS) + 1
    assert torch.equal(rows[LONGEST + 1 :], fresh[LONGEST + 1 :])
    assert not (rows[:LONGEST] == fresh[:LONGEST]).all(dim=-1).any()


def test_a_short_training_fills_all_results_of_the_chapter():
    run = assess(trained("relative", "before", seed=0, steps=150), "before", seed=0)
    assert isinstance(run, Run)
    assert list(run.accuracy) == list(LENGTHS)
    assert run.accuracy[LONGEST] > 0.5
    assert len(run.looks) == 65
    assert sum(run.looks) == pytest.approx(1, abs=1e-4)
    assert int(np.argmax(run.looks)) == 3


def test_further_training_changes_the_given_model():
    torch.manual_seed(0)
    model = Reader("rotary")
    before = model.W_q.weight.clone()
    fit(model, "before", 2, 0.01, 2 * LONGEST, torch.Generator().manual_seed(1))
    assert not torch.equal(model.W_q.weight, before)
