"""Test attention on pictures by hand, and the captioner and its training."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.alignment import softmax
from solutions.captioning import (
    doubly_stochastic_penalty,
    grid_to_annotations,
    hard_attention,
    localisation,
    score_function_gradient,
    soft_attention,
)
from solutions.data.pictures import (
    KINDS,
    SIDE,
    VOCABULARY,
    make_batch,
    sample_pictures,
)
from solutions.data.translation.vocabulary import START, STOP
from solutions.experiments.captioning.baselines import BASELINES, Linear, MovingAverage, Nothing
from solutions.experiments.captioning.captioner import (
    GRID,
    WIDTH,
    Captioner,
    Even,
    OneVector,
    WholeView,
    drawn,
)
from solutions.experiments.captioning.captions import LONGEST, Caption, caption, judge
from solutions.experiments.captioning.hiding import (
    FREE,
    LOOKS,
    ON_NAMED,
    ON_OTHER,
    Blinkered,
    kinds_said,
    seeing,
)
from solutions.experiments.captioning.learning import (
    WARM_UP,
    Softly,
    Stream,
    log_likelihood,
    log_probability,
    rewards,
    sampled,
    together,
)
from solutions.experiments.captioning.variance import gradient_variances

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 5)


def test_a_soft_look_by_hand():
    params = (np.array([[1.0, 0.0]]), np.eye(2), np.array([2.0, 1.0]))
    annotations = np.array([[0.0, 0.0], [-1.0, 0.0]])
    context, weights = soft_attention(np.array([0.5]), annotations, params)
    np.testing.assert_allclose(weights, [0.864, 0.136], atol=5e-4)
    np.testing.assert_allclose(context, [-0.136, 0.0], atol=5e-4)


class Fixed:
    """A generator whose numbers are known."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)

    def random(self, shape):
        return self.numbers.reshape(shape)


@pytest.mark.parametrize(("number", "place"), [(0.0, 0), (0.08, 0), (0.5, 1), (0.8, 2), (0.999, 2)])
def test_a_hard_look_by_hand(number, place):
    scores = np.array([0.0, 2.0, 1.0])  # weights 0.090, 0.665, 0.245
    one_hot, log_probability = hard_attention(scores, Fixed(number))
    assert one_hot.tolist() == [float(i == place) for i in range(3)]
    assert log_probability == pytest.approx(np.log(softmax(scores)[place]))


@given(SEEDS, SIZES)
def test_the_estimates_have_the_true_gradient_as_their_mean_whatever_the_baseline(seed, L):
    """Compare the mean over all places, weighted by their probability, with a numerical slope."""
    rng = np.random.default_rng(seed)
    scores, rewards = rng.normal(size=L), rng.normal(size=L)
    for baseline in (0.0, -2.0):
        estimates = score_function_gradient(scores, np.eye(L), rewards, baseline)  # (L draws, L)
        nudges = np.eye(L) * 1e-6
        slope = (softmax(scores + nudges) - softmax(scores - nudges)) @ rewards / 2e-6
        np.testing.assert_allclose(softmax(scores) @ estimates, slope, atol=1e-8)
        np.testing.assert_allclose(estimates.sum(axis=-1), 0, atol=1e-12)


def test_a_good_baseline_lowers_the_variance_and_a_bad_one_raises_it():
    """Check the claim of chapter 3 about its three places and rewards."""
    scores, rewards = np.array([0.0, 2.0, 1.0]), np.array([-4.0, -2.0, -3.0])
    weights = softmax(scores)

    def variance(baseline):
        estimates = score_function_gradient(scores, np.eye(3), rewards, baseline)  # (3 draws, 3)
        return weights @ ((estimates - weights @ estimates) ** 2).sum(axis=-1)

    assert variance(weights @ rewards) < variance(0.0) < variance(1.0)


def test_a_reward_equal_to_the_baseline_changes_nothing():
    scores, drawn = np.array([0.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0])
    assert not score_function_gradient(scores, drawn, -1.5, -1.5).any()
    np.testing.assert_allclose(
        score_function_gradient(scores, drawn, 3.0, 2.0), [-0.090, 0.335, -0.245], atol=5e-4
    )


def test_the_penalty_by_hand_and_at_its_ends():
    weights = np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])
    assert doubly_stochastic_penalty(weights) == 0.625
    assert doubly_stochastic_penalty(np.eye(5)) == 0  # every place once
    assert doubly_stochastic_penalty(np.zeros((0, 5))) == 5
    assert doubly_stochastic_penalty(np.stack([weights, weights[::-1]])).tolist() == [0.625, 0.625]


def test_localisation_by_hand_and_at_its_ends():
    weights = np.array([0.5, 0.3, 0.2])
    assert localisation(weights, np.array([0, 0.5, 1, 2]), (1, 3)) == pytest.approx(0.55)
    assert localisation(weights, np.array([-3, -1, 7, 9]), (1, 3)) == pytest.approx(1)
    for nowhere in ([0, 3, 1, 5], [0, 2, 1, 2], [0, 2, 1, 1], [-2, 0, -1, 3]):
        assert localisation(weights, np.array(nowhere), (1, 3)) == 0


PLACES = GRID[0] * GRID[1]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Captioner().eval()


@pytest.fixture(scope="module")
def pictures():
    return sample_pictures(6, np.random.default_rng(1))


@pytest.fixture(scope="module")
def tensors(pictures):
    batch = make_batch(pictures)
    return torch.from_numpy(batch.images), torch.from_numpy(batch.targets)


def test_the_annotations_of_the_captioner_are_its_grid_in_reading_order(model, tensors):
    images, _ = tensors
    annotations = model.encode(images).annotations.detach().numpy()
    assert annotations.shape == (6, PLACES, 34)
    features = model.cnn(images).detach().numpy()  # (6, 32, 8, 8)
    np.testing.assert_array_equal(annotations[..., :-2], grid_to_annotations(features))
    rows, columns = annotations[0, :, -2].reshape(GRID), annotations[0, :, -1].reshape(GRID)
    assert (np.diff(rows, axis=0) > 0).all()
    assert (np.diff(columns, axis=1) > 0).all()
    assert (np.diff(rows, axis=1) == 0).all()


def test_a_place_sees_its_cell_and_four_pixels_around_it(model, tensors):
    """The features of a place do not depend on a distant shape."""
    image = tensors[0][:1].clone().requires_grad_()
    row, column = 3, 5
    model.encode(image).annotations[0, GRID[1] * row + column, :-2].sum().backward()
    seen = image.grad[0].abs().sum(dim=0).numpy() > 0
    inside = np.zeros((SIDE, SIDE), dtype=bool)
    inside[6 * row - 4 : 6 * row + 10, 6 * column - 4 : 6 * column + 10] = True
    assert seen.any()
    assert not seen[~inside].any()


def test_reading_a_known_caption_is_decoding_it_step_by_step(model, tensors):
    images, targets = tensors
    reading = model(images, targets[:, :-1])
    memory, state = model.encode(images), None
    for i in range(targets.shape[1] - 1):
        logits, state, shares = model.decode_step(targets[:, i], state, memory)
        torch.testing.assert_close(logits, reading.logits[:, i])
        torch.testing.assert_close(shares, reading.shares[:, i])


def test_places_are_drawn_by_the_weights():
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3]).expand(20_000, 4)
    torch.manual_seed(0)
    np.testing.assert_allclose(drawn(weights).mean(dim=0), weights[0], atol=0.015)


def test_the_state_does_not_depend_on_the_look(model, tensors):
    """Other pictures with the same words and places give the same state."""
    images, targets = tensors
    step = [model.decode_step(targets[:, 0], None, model.encode(x)) for x in (images, 1 - images)]
    (_, first, _), (_, second, _) = step
    torch.testing.assert_close(first.hidden, second.hidden)
    second = dataclasses.replace(second, told=first.told)
    states = [
        model.decode_step(targets[:, 1], state, model.encode(x))[1].hidden
        for state, x in ((first, images), (second, 1 - images))
    ]
    torch.testing.assert_close(*states)


def test_a_state_fed_with_the_context_depends_on_the_look(tensors):
    images, targets = tensors
    torch.manual_seed(0)
    model = Captioner(told=WIDTH).eval()
    memory = model.encode(images)
    _, state, shares = model.decode_step(targets[:, 0], None, memory)
    context = (shares[:, None] @ memory.annotations)[:, 0]
    torch.testing.assert_close(state.told, context)


def test_a_captioner_without_attention_is_given_one_vector(tensors):
    images, targets = tensors
    torch.manual_seed(0)
    model = OneVector().eval()
    reading = model(images, targets[:, :-1])
    assert (reading.shares == 1).all()
    assert reading.shares.shape == (*targets[:, 1:].shape, 1)
    loss = log_likelihood(reading, targets).sum()
    loss.backward()
    assert not hasattr(model, "v")  # there is no choice of places
    assert model.whole.weight.grad.abs().max() > 0


def test_hidden_places_get_no_weight_and_the_rest_is_renormalised(model, pictures, tensors):
    images, targets = tensors
    words = torch.full((len(pictures),), 1)
    kept = torch.ones(len(pictures), PLACES, dtype=torch.bool)
    kept[0] = ~seeing(pictures[0].boxes[1])
    reading = model(images, targets[:, :-1], Blinkered(words, kept))
    shares, weights = reading.shares, reading.weights
    left = weights[0, 1] * kept[0]
    torch.testing.assert_close(shares[0, 1], left / left.sum())
    torch.testing.assert_close(shares[1, 1], weights[1, 1])  # no place is hidden
    free = torch.arange(shares.shape[1]) != 1
    assert torch.equal(shares[:, free], weights[:, free])


def test_exactly_the_places_that_see_a_shape_are_hidden(model, tensors, pictures):
    """Painting over a shape changes exactly the annotations that `seeing` names."""
    image, box = tensors[0][0].clone(), pictures[0].boxes[1]
    before = model.encode(image[None]).annotations[0]
    image[:, box.top : box.bottom, box.left : box.right] += 1
    changed = (model.encode(image[None]).annotations[0] != before).any(dim=-1)
    assert (changed <= seeing(box)).all()
    assert changed.sum() > 0.5 * seeing(box).sum()


def test_a_free_look_changes_no_word_and_only_contrasting_words_are_tested(
    model, pictures, tensors
):
    images, targets = tensors
    output = model(images, targets[:, :-1]).logits.argmax(-1)
    kinds = [
        (b, i)
        for b, picture in enumerate(pictures)
        for i, word in enumerate(picture.caption)
        if word in KINDS and set(KINDS) & set(picture.caption) != {word}
    ]
    right = np.mean([(output[b, i] == targets[b, i + 1]).item() for b, i in kinds])
    assert kinds_said(model, pictures, FREE).named == pytest.approx(right)
    for look in LOOKS:
        result = kinds_said(model, pictures, look)
        assert 0 <= result.named + result.other <= 1
        assert 0 <= result.weight <= 1
    result = {look: kinds_said(model, pictures, look).weight for look in LOOKS}
    assert result[FREE] == 0
    assert result[ON_OTHER] + result[ON_NAMED] > 1  # bare ground is hidden both times


def test_captions_have_one_row_per_word_and_do_not_depend_on_the_batch(model, pictures):
    images = [picture.image for picture in pictures]
    together = caption(model, images)
    for image, single in zip(images, together, strict=True):
        [alone] = caption(model, [image])
        assert alone.words == single.words
        assert single.shares.shape == (len(single.words), PLACES)
        assert len(single.words) <= LONGEST
        np.testing.assert_allclose(alone.shares, single.shares, atol=1e-5)
    assert caption(model, []) == []


def test_a_caption_ends_at_stop(pictures):
    """A captioner whose every word is [STOP] writes an empty caption."""
    torch.manual_seed(0)
    model = Captioner().eval()
    with torch.no_grad():
        model.read_out[-1].bias[STOP] = 100
    [silent] = caption(model, [pictures[0].image])
    assert silent.words == ()
    assert silent.shares.shape == (0, PLACES)
    with torch.no_grad():
        model.read_out[-1].bias[STOP], model.read_out[-1].bias[START + 4] = -100, 100
    [endless] = caption(model, [pictures[0].image])
    assert endless.words == (VOCABULARY.tokens[START + 4],) * LONGEST


def test_an_invalid_image_is_refused(model, pictures):
    with pytest.raises(ValueError, match="an image"):
        caption(model, [pictures[0].image, np.full((3, SIDE, SIDE), np.nan, np.float32)])


def test_judging_captions_by_hand(pictures):
    right = [
        Caption(picture.caption, np.full((len(picture.caption), PLACES), 1 / PLACES))
        for picture in pictures
    ]
    quality = judge(pictures, right)
    assert quality.accuracy == 1
    areas = [
        (box.bottom - box.top) * (box.right - box.left) / SIDE**2
        for picture in pictures
        for box in picture.boxes
        if box
    ]
    np.testing.assert_allclose(quality.localisation, areas)  # chance is the area of the box
    assert quality.named == [
        word
        for picture in pictures
        for word, box in zip(picture.caption, picture.boxes, strict=True)
        if box
    ]
    right[0] = Caption((), np.zeros((0, PLACES)))
    worse = judge(pictures, right)
    assert worse.accuracy == pytest.approx(5 / 6)
    assert worse.localisation[0] == 0


def test_a_look_is_rewarded_for_its_word_and_all_after_it():
    output = torch.tensor([[-1.0, -2.0, -4.0]])
    assert rewards(output).tolist() == [[-7.0, -6.0, -4.0]]


def test_the_baseline_finds_a_linear_reward():
    generator = torch.Generator().manual_seed(0)
    baseline = Linear()
    true = torch.randn(64, generator=generator)
    for _ in range(5):
        states = torch.randn(400, 64, generator=generator)
        baseline.fit(states, states @ true - 3)
    states = torch.randn(2, 7, 64, generator=generator)
    torch.testing.assert_close(baseline(states), states @ true - 3, atol=1e-2, rtol=0)


def test_a_moving_average_forgets_and_is_the_same_in_all_states():
    baseline, states = MovingAverage(), torch.randn(4, 64)
    assert (baseline(states) == 0).all()
    baseline.fit(states, torch.tensor([-2.0, -4.0, -6.0, -8.0]))
    assert (baseline(states) == -5).all()
    baseline.fit(states, torch.full((4,), -1.0))
    assert baseline(states[:2]).tolist() == pytest.approx([-5.75 / 1.95] * 2)


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_has_a_number_for_each_state(name):
    baseline = BASELINES[name]()
    baseline.fit(torch.randn(5, 64), -torch.rand(5))
    assert baseline(torch.randn(2, 7, 64)).shape == (2, 7)


def test_the_gradient_of_the_experiment_is_that_of_the_exercise(model, tensors):
    """Compare autograd on the log probability of one look with the formula."""
    images, targets = tensors
    torch.manual_seed(0)
    reading = model(images, targets[:, :-1], drawn)
    scores = reading.weights[:, 0].log().detach().requires_grad_()  # equal up to a constant
    chance = log_probability(dataclasses.replace(reading, weights=scores.softmax(-1)[:, None]))
    reward = torch.tensor([-1.0, -2.0, 0.5, 1.0, -3.0, 0.0])
    ((reward + 1.5) * chance[:, 0]).sum().backward()
    expected = score_function_gradient(
        scores.detach().numpy(), reading.shares[:, 0].numpy(), reward.numpy(), -1.5
    )
    np.testing.assert_allclose(scores.grad.numpy(), expected, atol=1e-5)


def test_a_zero_baseline_keeps_the_variance_and_a_good_one_lowers_it(tensors):
    torch.manual_seed(0)
    model = Captioner()
    nothing, fitted = Nothing(), Linear()
    for _ in range(10):
        fitted.fit(*sampled(model, *tensors))
    same, without = gradient_variances(model, nothing, *tensors)
    assert same == pytest.approx(without, rel=1e-5)
    lower, without = gradient_variances(model, fitted, *tensors)
    assert lower < 0.5 * without


def test_an_even_captioner_sees_all_places_equally_whatever_look_it_is_given(tensors):
    reading = Even()(tensors[0], tensors[1][:, :-1], drawn)
    torch.testing.assert_close(reading.shares, torch.full_like(reading.shares, 1 / 64))
    assert reading.weights.std() > 0.001


def test_every_place_of_a_whole_view_sees_all_corners():
    model = WholeView().eval()
    image = torch.rand(1, 3, 48, 48, requires_grad=True)
    for place in (0, 63):
        (seen,) = torch.autograd.grad(model.encode(image).annotations[0, place, :32].sum(), image)
        assert (seen[0].abs().sum(dim=0)[[0, 0, -4, -4], [0, -4, 0, -4]] > 0).all()


class Witness:
    """A stand-in for a learner that records what it was shown."""

    def __init__(self):
        self.seen = []

    def learn(self, images, targets):
        self.seen.append(targets)


def test_all_learners_see_the_same_pictures_once():
    one, other = Witness(), Witness()
    together([one, other], Stream(0), 3)
    assert all(torch.equal(a, b) for a, b in zip(one.seen, other.seen, strict=True))
    first, second, _ = one.seen
    assert first.shape != second.shape or not torch.equal(first, second)


def test_the_rate_rises_and_then_falls_to_its_end():
    learner = Softly(Captioner(), 0.01, WARM_UP + 10, end=0.5)
    rates = []
    for _ in range(WARM_UP + 10):
        rates.append(learner.schedule.get_last_lr()[0])
        learner.optimiser.step()
        learner.schedule.step()
    assert np.argmax(rates) == WARM_UP
    assert rates[WARM_UP] == pytest.approx(0.01)
    assert (np.diff(rates[: WARM_UP + 1]) > 0).all()
    assert (np.diff(rates[WARM_UP:]) < 0).all()
    assert learner.schedule.get_last_lr()[0] == pytest.approx(0.005)
