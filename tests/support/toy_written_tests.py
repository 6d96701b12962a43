"""An exercise that asks for a test: correct and wrong implementations of a mean of each row."""

from __future__ import annotations

import numpy as np
import toy

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Assignment, Kind

X = np.array([[1.0, -2.0, 4.0], [0.0, 5.0, 7.0], [2.0, 2.0, -7.0]])
NOISE = np.random.default_rng(0).normal(size=(3, 33))


def test_row_mean(implementation):
    """Test a function that returns the mean of each row of a matrix."""
    assert np.allclose(implementation(X), [1, 4, -1])


DECLARED = Declaration(
    test_row_mean, points=4, difficulty=1, minutes=5, help=toy.HELP, kind=Kind.TEST
)


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


for right in (test_row_mean__loop, test_row_mean__numpy, test_row_mean__raises):
    DECLARED.right(right)
DECLARED.wrong("only one row", "Would a second row show more?", test_row_mean__one_row)
DECLARED.wrong("nothing below zero", "What of a minus?", test_row_mean__positive)
DECLARED.wrong("only the total", "What do all columns share?", test_row_mean__total)
DECLARED.wrong("to the last bit", "How exact is a sum of floats?", test_row_mean__exact)


@DECLARED.accepts("a method")
def by_method(X):
    return X.mean(axis=-1)


@DECLARED.accepts("a sum")
def by_sum(X):
    return np.asarray(X).sum(-1) / len(X[0])


@DECLARED.accepts("a loop")
def by_loop(X):
    return np.array([sum(row) / len(row) for row in X.tolist()])


DECLARED.rejects("columns for rows", by_method.edit("axis=-1", "axis=0"))
DECLARED.rejects("never divided", by_method.edit("mean", "sum"))
DECLARED.rejects(
    "one row for all", by_method.edit("X.mean(axis=-1)", "np.full(len(X), X[0].mean())")
)
DECLARED.rejects("signs lost", by_method.edit("X.mean", "np.abs(X).mean"))
DECLARED.rejects("a column left out", by_method.edit("X.mean", "X[:, :-1].mean"), shown=False)
DECLARED.rejects("rows upside down", by_method.edit("X.mean", "X[::-1].mean"), shown=False)

TEST_ROW_MEAN = DECLARED.exercise
TOY = Assignment("toy_test", "Toy", (TEST_ROW_MEAN,), ())
