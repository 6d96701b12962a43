"""Test attention with queries, keys and values against torch, and the experiments."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.alignment import softmax
from solutions.experiments.queries_keys_values.associative_recall import (
    LAYERS,
    LETTERS,
    SMALL,
    TASKS,
    USUAL,
    Recall,
    Run,
    best_of,
    following,
    partner,
    sample,
)
from solutions.experiments.queries_keys_values.controls import (
    FACTOR,
    rotated,
    with_scores_times,
)
from solutions.experiments.queries_keys_values.real_heads import (
    asymmetry,
    on_itself,
    scores_asymmetry,
)
from solutions.experiments.queries_keys_values.scaled_training import (
    ARMS,
    ROOT,
    SMALLER_START,
    SMALLER_STEPS,
    model,
    train,
)
from solutions.experiments.queries_keys_values.scaling import (
    SCALES,
    WIDTHS,
    entropy,
    measure,
    measure_all,
    softmax_jacobian,
)
from solutions.queries_keys_values import (
    attention_with_bias,
    cross_attention,
    scaled_dot_product_attention,
)

SIZES = st.integers(1, 7)
NONE_OR_SOME = st.integers(0, 7)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-5}


def qkv(rng, batch, n_q, n_k, d_k, d_v, dtype=np.float64):
    shapes = (*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


@given(
    *(SEEDS, BATCHES, NONE_OR_SOME, NONE_OR_SOME, SIZES, SIZES),
    st.sampled_from([np.float64, np.float32]),
)
def test_equals_torch_over_shapes_and_masks(seed, batch, n_q, n_k, d_k, d_v, dtype):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v, dtype)
    masks = (None, rng.random((n_q, n_k)) < 0.5, rng.random((*batch, 1, n_k)) < 0.5)
    for mask in masks:  # some rows of the masks hide every key
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(torch.from_numpy(array) for array in (Q, K, V)),
            attn_mask=None if mask is None else torch.from_numpy(mask),
        )
        assert output.dtype == weights.dtype == dtype
        np.testing.assert_allclose(output, expected.numpy(), rtol=0, atol=TOLERANCE[dtype])


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_a_bias_is_added_as_torch_adds_it_and_minus_infinity_is_a_mask(
    seed, batch, n_q, n_k, d_k, d_v
):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v)
    mask = rng.random((n_q, n_k)) < 0.6
    bias = np.where(mask, rng.normal(size=(n_q, n_k)) * 3, -np.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(array) for array in (Q, K, V)), attn_mask=torch.from_numpy(bias)
    )
    actual = attention_with_bias(Q, K, V, bias)
    np.testing.assert_allclose(actual[0], expected.nan_to_num().numpy(), rtol=0, atol=1e-6)
    yes_or_no = attention_with_bias(Q, K, V, np.where(mask, 0, -np.inf))
    for output, other in zip(yes_or_no, scaled_dot_product_attention(Q, K, V, mask), strict=True):
        np.testing.assert_array_equal(output, other)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3), (3,), (2, 4, 4), (5, 1, 4), (2, 2, 2, 4)])
def test_a_mask_that_does_not_broadcast_is_an_error(shape):
    """Scores are (2, 2, 4). NumPy's own message names both shapes, or the number of axes."""
    X, context, mask = np.ones((2, 2, 3)), np.ones((2, 4, 3)), np.ones(shape, dtype=bool)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        scaled_dot_product_attention(X, context, context, mask)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        cross_attention(X, context, np.eye(3), np.eye(3), np.eye(3), mask)


@given(SEEDS, st.integers(2, 6))
def test_softmax_jacobian_is_the_slope(seed, n):
    scores = np.random.default_rng(seed).normal(size=n)
    nudges = np.eye(n) * 1e-6
    slope = (softmax(scores + nudges) - softmax(scores - nudges)).T / 2e-6
    np.testing.assert_allclose(softmax_jacobian(softmax(scores)), slope, atol=1e-8)


def test_entropy_ranges_from_zero_to_the_logarithm_of_the_length():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]])
    np.testing.assert_allclose(entropy(rows), [np.log(4), 0.0])


def test_measurements_have_a_row_per_seed_and_a_column_per_width():
    measured = measure_all([3, 1])
    assert {scale for scale, _ in measured} == set(SCALES)
    assert {table.shape for table in measured.values()} == {(2, len(WIDTHS))}
    assert measured["1 / d", "entropy"][1, 2] == measure(WIDTHS[2], SCALES["1 / d"], 1)["entropy"]


def test_following_letters_stand_in_circles_of_three():
    letters = torch.arange(6)
    assert following(letters).tolist() == [1, 2, 0, 4, 5, 3]
    assert following(following(following(letters))).tolist() == letters.tolist()


@pytest.mark.parametrize("task", TASKS)
def test_recall_sequences_hold_the_answer_and_the_distractors(task):
    letters, numbers, asked, answer = sample(200, task, torch.Generator().manual_seed(7))
    target = TASKS[task](asked)
    related = {
        "own": (partner,),
        "partner": (partner,),
        "next": (following, lambda letter: following(following(letter))),
    }[task]
    for row in range(200):
        stored = dict(zip(letters[row].tolist(), numbers[row].tolist(), strict=True))
        assert len(stored) == letters.shape[1]
        assert len(set(stored.values())) == letters.shape[1]
        wanted = {int(asked[row]), *(int(relation(asked[row])) for relation in related)}
        assert wanted <= stored.keys()
        assert stored[int(target[row])] == answer[row]
    places = (letters == target[:, None]).int().argmax(dim=1)
    assert torch.bincount(places, minlength=letters.shape[1]).min() > 0  # no place is special


@given(SEEDS, st.sampled_from(LAYERS[:2]))
def test_without_two_projections_one_of_each_pair_prefers_itself(seed, layer):
    """Check the chapter's two-line proof on random models: margins of a pair sum to <= 0."""
    torch.manual_seed(seed)
    assert (margins(Recall(layer)) <= 1e-5).all()


def test_with_two_projections_both_of_a_pair_may_prefer_the_other():
    torch.manual_seed(0)
    assert (margins(Recall("Q, K, V")) > 0).any()


@given(SEEDS, st.sampled_from(LAYERS[:3]))
def test_with_a_symmetric_score_the_three_margins_of_a_circle_sum_to_zero(seed, layer):
    """Check the chapter's second proof on random models."""
    torch.manual_seed(seed)
    table = Recall(layer).letter_scores()
    letters = torch.arange(LETTERS // 3 * 3)
    after, before = following(letters), following(following(letters))
    margins = (table[letters, after] - table[letters, before]).view(-1, 3)
    assert margins.sum(dim=1).abs().max() < 1e-5


def test_the_signed_layer_is_symmetric_and_no_inner_product():
    torch.manual_seed(0)
    table = Recall("one projection, signed").letter_scores()
    torch.testing.assert_close(table, table.T)
    assert (table.diagonal() < 0).any()
    assert (margins(Recall("one projection, signed")) > 0).any()


@pytest.mark.parametrize("start", [SMALL, USUAL, (0.3, 1.0)])
def test_the_initial_scale_affects_only_the_embeddings(start):
    torch.manual_seed(0)
    model = Recall("Q, K, V", start, d=512)
    for embedding, deviation in zip((model.letter, model.number), start, strict=True):
        assert embedding.weight.std().item() == pytest.approx(deviation, rel=0.05)
    torch.manual_seed(0)
    assert torch.equal(model.W_q.weight, Recall("Q, K, V", (2.0, 2.0), d=512).W_q.weight)


@pytest.mark.parametrize("start", [SMALL, USUAL])
def test_the_rotated_layer_is_antisymmetric_and_has_as_many_parameters(start):
    torch.manual_seed(0)
    layer = rotated(start)
    table = layer.letter_scores()
    torch.testing.assert_close(table, -table.T)
    assert margins(layer).abs().max() < 1e-5 * table.abs().max()
    sizes = [sum(p.numel() for p in one.parameters()) for one in (layer, Recall("Q, K, V"))]
    assert sizes[0] == sizes[1]


def test_a_factor_makes_the_first_scores_of_one_start_those_of_the_other():
    tables = []
    for build in (lambda: with_scores_times(FACTOR, USUAL), lambda: Recall(LAYERS[0], SMALL)):
        torch.manual_seed(0)
        tables.append(build().letter_scores())
    torch.testing.assert_close(*tables)


@pytest.mark.parametrize("name", [SMALLER_START, SMALLER_STEPS])
def test_a_smaller_start_gives_the_first_scores_of_the_division(name):
    tables = []
    for arm in (ARMS[name], ARMS[ROOT]):
        torch.manual_seed(0)
        tables.append(model(arm).letter_scores())
    torch.testing.assert_close(*tables)


def test_smaller_steps_as_well_give_the_training_of_the_division():
    results = [train(ARMS[name], 0.003, seed=0, steps=20) for name in (SMALLER_STEPS, ROOT)]
    assert 0.3 < results[0].accuracy < 0.95
    assert results[0].accuracy == pytest.approx(results[1].accuracy, abs=0.02)
    other = train(ARMS[SMALLER_START], 0.003, seed=0, steps=20)
    assert other.accuracy != pytest.approx(results[1].accuracy, abs=0.02)


def test_asymmetry_is_the_share_of_the_antisymmetric_part():
    symmetric = torch.tensor([[1.0, 2.0], [2.0, 3.0]])
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    products = torch.stack([symmetric, turn, torch.eye(2) + turn])
    shares = asymmetry(products, torch.eye(2).expand(3, 2, 2))
    torch.testing.assert_close(shares, torch.tensor([0.0, 1.0, 0.5]))


def test_asymmetry_of_scores_depends_on_no_vector_that_all_words_share():
    draw = torch.Generator().manual_seed(0)
    Q, K = torch.randn(2, 5, 7, 3, generator=draw)  # (heads, words and two marks, d_head)
    shares = scores_asymmetry(Q, K)
    assert (shares > 0.1).all()
    torch.testing.assert_close(scores_asymmetry(Q + 1, K - 2), shares)
    torch.testing.assert_close(scores_asymmetry(Q, Q), torch.zeros(5))
    K[:, [0, -1]] = 100  # the marks
    torch.testing.assert_close(scores_asymmetry(Q, K), shares)


def test_weights_on_itself_leave_out_the_two_marks():
    scores = torch.zeros(4, 4)
    scores[:, 3] = 90.0  # all prefer the last mark
    scores[1, 1] = scores[2, 1] = 50.0  # and of the words, both the first
    own, first = on_itself(scores)
    assert own.item() == pytest.approx(0.5)
    assert first.item() == 0.5


def test_validation_chooses_the_rate_and_the_reported_accuracy_does_not():
    runs = [
        Run(rate, validation, {0: 0.0, 300: accuracy}, 0.0, {}, [], 0)
        for rate, validation, accuracy in ((0.003, 0.9, 0.2), (0.01, 0.5, 0.8), (0.03, 0.9, 0.7))
    ]
    assert best_of(runs).rate == 0.003


def margins(model):
    """Return each pair's summed margins of the partner's record over the letter's own."""
    table = model.letter_scores()
    letters = torch.arange(len(table))
    preference = table[letters, partner(letters)] - table.diagonal()
    return preference + preference[partner(letters)]
