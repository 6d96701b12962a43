"""The exercise `test_masked_blend`: write the test that finds a mask which does not hide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.variants import written_tests as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_masked_blend_implementations import PUBLIC, STYLES, UNSEEN


def blend_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def blend_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_masked_blend__without_the_hidden(implementation):
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(4, 5)) * 3000, rng.normal(size=(5, 3))
    scores[1:, 2] += 1e6
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0]]) == 1
    for scale in (1, 1e-3):
        output = implementation(scores * scale, values, mask)
        for i in range(4):
            kept = scores[i, mask[i]] * scale
            weights = np.exp(kept - kept.max()) if kept.size else kept
            wanted = weights @ values[mask[i]] / max(weights.sum(), 1)
            assert np.allclose(output[i], wanted)


def test_masked_blend__table(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    wanted = np.array([[2, 8], [18 / 7 + 96 / 7, 96 / 7], [0, 0]])
    np.testing.assert_allclose(implementation(scores, values, mask), wanted, rtol=1e-6)
    np.testing.assert_allclose(implementation(scores + 800, values, mask), wanted, rtol=1e-6)
    loud = np.where(mask, scores, 1e5)
    np.testing.assert_allclose(implementation(loud, values, mask), wanted, rtol=1e-6)


def test_masked_blend__by_properties(implementation):
    rng = np.random.default_rng(1)
    scores, values = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    mask = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]]) == 1
    output = implementation(scores, values, mask)
    if np.any(output[2] != 0):
        raise AssertionError("nothing to attend to should give 0")
    if not np.allclose(implementation(scores, np.ones((4, 1)), mask)[:2], 1):
        raise AssertionError("the weights should sum to 1")
    if not np.allclose(implementation(np.where(mask, scores + 5000, 1e5), values, mask), output):
        raise AssertionError("a hidden score, or a shift, should change nothing")
    marked = values.copy()
    marked[3] += 7
    if not np.allclose(implementation(scores, marked, mask)[1], output[1]):
        raise AssertionError("a hidden value should change nothing")
    ratio = np.exp(scores[0, 3] - scores[0, 0])
    weights = implementation(scores, np.eye(4), mask)[0]
    if not np.isclose(weights[3] / weights[0], ratio):
        raise AssertionError("weights should be as the exponentials of the scores")


def test_masked_blend__sums_to_one(implementation):
    scores = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    mask = np.array([[True, True, False], [False, True, True]])
    assert np.allclose(implementation(scores, np.ones((3, 2)), mask), 1)


def test_masked_blend__nothing_hidden(implementation):
    scores, values = np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([[4.0], [8.0]])
    everything = np.ones((2, 2), dtype=bool)
    assert np.allclose(implementation(scores, values, everything), [[7], [6]])
    assert np.allclose(implementation(scores + 800, values, everything), [[7], [6]])


def test_masked_blend__small_scores(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    wanted = np.array([[2, 8], [18 / 7 + 96 / 7, 96 / 7], [0, 0]])
    assert np.allclose(implementation(scores, values, mask), wanted)


def test_masked_blend__always_something(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True]])
    wanted = np.array([[2, 8], [18 / 7 + 96 / 7, 96 / 7]])
    for shift in (0, 800):
        assert np.allclose(implementation(scores + shift, values, mask), wanted)
    assert np.allclose(implementation(np.where(mask, scores, 1e5), values, mask), wanted)


def test_masked_blend__to_the_last_bit(implementation):
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(6, 40)), rng.normal(size=(40, 7))
    mask = rng.random((6, 40)) < 0.6
    hidden = np.where(mask, scores, -np.inf)
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    wanted = weights / weights.sum(axis=-1, keepdims=True) @ values
    assert (implementation(scores, values, mask) == wanted).all()


def test_masked_blend__one_query(implementation):
    scores, values = np.log([[1.0, 2.0, 5.0]]), np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False]])
    for shift in (0, 800):
        assert np.allclose(implementation(scores + shift, values, mask), [[2, 8]])
    assert np.allclose(implementation(np.where(mask, scores, 1e5), values, mask), [[2, 8]])
    assert not implementation(scores, values, ~np.ones((1, 3), dtype=bool)).any()


MISCONCEPTIONS = (
    Misconception(
        "only that the weights sum to 1",
        test_masked_blend__sums_to_one,
        "Equal values hide where the weights went. Which values tell one key from another?",
    ),
    Misconception(
        "nothing is hidden",
        test_masked_blend__nothing_hidden,
        "With a mask that allows everything, how would you notice that the mask is not read?",
    ),
    Misconception(
        "small scores only",
        test_masked_blend__small_scores,
        "What if a hidden score is larger than all that hides it, or a visible one overflows?",
    ),
    Misconception(
        "every query may attend to something",
        test_masked_blend__always_something,
        "What should a query get that may attend to nothing, and do you ask?",
    ),
    Misconception(
        "equal to the last bit",
        test_masked_blend__to_the_last_bit,
        "In which order does a loop add, and a matrix product? Are both not right?",
    ),
    Misconception(
        "one query only",
        test_masked_blend__one_query,
        "Whose mask does the second query get? Can one query show it?",
    ),
)

NOTHING = "a query that may attend to nothing gets the mean of all values"
TEST_MASKED_BLEND = Exercise(
    name="test_masked_blend",
    points=4,
    difficulty=3,
    minutes=25,
    reference=solutions.test_masked_blend,
    cases=blend_cases,
    hidden=blend_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_masked_blend__without_the_hidden,
        test_masked_blend__table,
        test_masked_blend__by_properties,
    ),
    help=(
        "Choose scores, values and a mask for which you know the answer, and compare. Then take "
        "the task sentence by sentence: which input would show that an implementation breaks it?",
        "`assert np.allclose(implementation(scores, values, mask), right)`. The logarithms of "
        "small whole numbers are good scores. Take two queries that differ, and values that tell "
        "the keys apart; in what way may scores and masks be extreme?",
        "The sections on masks in the chapter, and “Where people go wrong”.",
    ),
    promises=(
        Promise(
            "It is called `implementation(scores, values, mask)`", ("a loop over the queries",)
        ),
        Promise("scores: (n_q, n_k)", ("a softmax over the queries",)),
        Promise("values: (n_k, d_v)", ("the last key is never looked at",)),
        Promise("mask: boolean", ("True hides", "the mask is ignored")),
        Promise(
            "should return an array of shape (n_q, d_v)",
            ("the first query's mask for every query",),
        ),
        Promise(
            "A hidden key changes nothing, however large its score",
            ("hidden by a penalty that a large score outweighs", "a hidden score counts as 0"),
        ),
        Promise("may be large", ("large scores overflow",)),
        Promise("gets 0", (NOTHING, "a query that may attend to nothing gets NaN")),
        Promise("Raises AssertionError", ("the mask is ignored",)),
        Promise("right to seven digits", ("a loop over the queries",)),
    ),
    kind=Kind.TEST,
)
