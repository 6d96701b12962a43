"""An exercise that asks for a test: implementations of a mean of each row, right ones and wrong."""

from __future__ import annotations

import numpy as np

from autograder.judging.exercise import Assignment, Exercise, Kind, Misconception
from autograder.judging.written_tests import mutant, right, shuffled


def by_method(X):
    return X.mean(axis=-1)


def by_sum(X):
    return np.asarray(X).sum(-1) / len(X[0])


def by_loop(X):
    return np.array([sum(row) / len(row) for row in X.tolist()])


def of_columns(X):
    return X.mean(axis=0)


def of_the_first_row(X):
    return np.full(len(X), X[0].mean())


def without_division(X):
    return X.sum(axis=-1)


def of_magnitudes(X):
    return np.abs(X).mean(axis=-1)


def of_all_but_one(X):
    return X[:, :-1].mean(axis=-1)


def upside_down(X):
    return X[::-1].mean(axis=-1)


STYLES = (right("a method", by_method), right("a sum", by_sum), right("a loop", by_loop))
PUBLIC = (
    mutant("columns for rows", of_columns),
    mutant("never divided", without_division),
    mutant("one row for all", of_the_first_row),
    mutant("signs lost", of_magnitudes),
)
UNSEEN = (mutant("a column left out", of_all_but_one), mutant("rows upside down", upside_down))


def cases(rng):
    yield from (*PUBLIC, *STYLES[:2])


def hidden(rng):
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


X = np.array([[1.0, -2.0, 4.0], [0.0, 5.0, 7.0], [2.0, 2.0, -7.0]])
NOISE = np.random.default_rng(0).normal(size=(3, 33))


def test_row_mean(implementation):
    """Test a function that returns the mean of each row of a matrix."""
    assert np.allclose(implementation(X), [1, 4, -1])


def test_row_mean__loop(implementation):
    for row, mean in zip(implementation(X), X.mean(axis=1), strict=True):
        assert abs(row - mean) < 1e-6


def test_row_mean__numpy(implementation):
    np.testing.assert_allclose(implementation(X[:2]), X[:2].mean(1), rtol=1e-6)


def test_row_mean__raises(implementation):
    if not np.allclose(implementation(X), [1, 4, -1]):
        raise AssertionError("not the mean of each row")


def test_row_mean__one_row(implementation):
    assert np.allclose(implementation(X[:1]), X[0].mean())


def test_row_mean__positive(implementation):
    assert np.allclose(implementation(np.abs(X)), np.abs(X).mean(axis=1))


def test_row_mean__total(implementation):
    assert np.isclose(implementation(X).mean(), X.mean())


def test_row_mean__exact(implementation):
    assert implementation(NOISE).tobytes() == NOISE.mean(axis=-1).tobytes()


TEST_ROW_MEAN = Exercise(
    name="test_row_mean",
    points=4,
    difficulty=1,
    minutes=5,
    reference=test_row_mean,
    cases=cases,
    hidden=hidden,
    misconceptions=(
        Misconception("only one row", test_row_mean__one_row, "Would a second row show more?"),
        Misconception("nothing below zero", test_row_mean__positive, "What of a minus?"),
        Misconception("only the total", test_row_mean__total, "What do all columns share?"),
        Misconception("to the last bit", test_row_mean__exact, "How exact is a sum of floats?"),
    ),
    alternatives=(test_row_mean__loop, test_row_mean__numpy, test_row_mean__raises),
    help=("A sketch.", "A hint.", "Where to look."),
    kind=Kind.TEST,
)

TOY = Assignment("toy_test", "Toy", (TEST_ROW_MEAN,), ())
