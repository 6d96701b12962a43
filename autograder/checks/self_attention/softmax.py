"""The exercise `softmax`: scores into weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.alignment import softmax

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise


def softmax_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("four scores", (np.array([0.0, 2.0, 1.0, 1.0]),))
    yield Case("a table of two rows and three columns", (rng.normal(size=(2, 3)),))
    yield Case("square table, axis 0", (rng.normal(size=(3, 3)),), {"axis": 0})
    yield Case(
        "float32, axis 1 of 3", (rng.normal(size=(2, 4, 3)).astype(np.float32),), {"axis": 1}
    )
    yield Case("axis 0 of 3", (rng.normal(size=(2, 2, 3)),), {"axis": 0})
    yield Case("one score", (np.array([3.0]),))
    yield Case("axis -4 of five", (rng.normal(size=(2, 3, 1, 2, 2)),), {"axis": -4})
    yield Case("scores of 1000", (np.array([[1000.0, 1001.0, 999.0]]),))
    yield Case("scores of -1000, two of them equal", (np.array([[-1000.0, -1001.0, -1000.0]]),))
    yield Case("one small row and one large", (np.array([[0.0, 1.0], [1000.0, 1002.0]]),))


def softmax_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("five scores", (rng.normal(size=5),))
    yield Case("a square table", (rng.normal(size=(4, 4)),))
    yield Case("axis 0 of a table that is not square", (rng.normal(size=(2, 5)),), {"axis": 0})
    yield Case("axis -2 of a batch", (rng.normal(size=(3, 2, 4)),), {"axis": -2})
    yield Case("axis 1 of five", (rng.normal(size=(2, 3, 1, 2, 4)),), {"axis": 1})
    yield Case("one score in each row", (rng.normal(size=(3, 1)),))
    yield Case("float32", (rng.normal(size=(3, 4)).astype(np.float32),))
    yield Case("large scores, some negative", (rng.normal(size=(3, 4)) * 5000,))
    heights = np.array([-3000.0, 0.0, 50.0, 3000.0])
    yield Case("rows far apart", (rng.normal(size=(4, 3)) + heights[:, None],))


def softmax__overflows(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def softmax__axis_ignored(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def softmax__first_axis(x, axis=0):
    exponentials = np.exp(x - x.max(axis=0, keepdims=True))
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def softmax__over_the_whole_array(x, axis=-1):
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def softmax__largest_of_the_whole_array(x, axis=-1):
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def softmax__no_exponential(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


def softmax__axis_not_kept(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis)


def softmax__overflows_and_axis_not_kept(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis)


def softmax__changes_its_input(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def softmax__one_number_along_the_axis(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials.max(axis=axis) / exponentials.sum(axis=axis)


def softmax__by_logarithms(x, axis=-1):
    total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - total)


def softmax__one_row_at_a_time(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for index in np.ndindex(moved.shape[:-1]):
        exponentials = np.exp(moved[index] - max(moved[index]))
        result[index] = exponentials / sum(exponentials)
    return np.moveaxis(result, -1, axis)


def softmax__by_differences(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(moved[..., None, :] - moved[..., :, None])  # e^(x_j - x_i)
    return np.moveaxis(1 / ratios.sum(axis=-1), -1, axis)


SOFTMAX = Exercise(
    name="softmax",
    points=2,
    difficulty=2,
    minutes=10,
    reference=softmax,
    cases=softmax_cases,
    hidden=softmax_hidden,
    misconceptions=(
        Misconception(
            "exponential overflows",
            softmax__overflows,
            "What is np.exp(1000.0)? You may subtract the same number from all scores before the "
            "exponential. What does that do to the quotient?",
        ),
        Misconception(
            "axis ignored",
            softmax__axis_ignored,
            "With axis=0, which sums are 1 in your result: those of the rows or of the columns?",
        ),
        Misconception(
            "always the first axis",
            softmax__first_axis,
            "Sum your result along the axis that was asked for. Along which axis is the sum 1?",
        ),
        Misconception(
            "one softmax over the whole array",
            softmax__over_the_whole_array,
            "Two queries share out their attention separately. What is the sum of each row in "
            "your result?",
        ),
        Misconception(
            "largest of the whole array subtracted",
            softmax__largest_of_the_whole_array,
            "One row holds scores near 0, another near 1000. What is left of the first row after "
            "your subtraction, and after the exponential? Whose largest score should go?",
        ),
        Misconception(
            "no exponential",
            softmax__no_exponential,
            "What weight does a negative score get? And scores of 1, -1?",
        ),
        Misconception(
            "summed axis not kept",
            softmax__axis_not_kept,
            "What shape has your sum, and along which axis does NumPy line it up with the table "
            "that it divides? Try a square table and look at the sums of its rows.",
        ),
        Misconception(
            "exponential overflows, and the summed axis not kept",
            softmax__overflows_and_axis_not_kept,
            "Two things are missing. What is np.exp(1000.0), and what may you subtract before it? "
            "And what shape has your sum, which is to divide each row of a table by its own?",
        ),
        Misconception(
            "input changed in place",
            softmax__changes_its_input,
            "Print x before and after the call. Does the caller still have the scores?",
        ),
        Misconception(
            "only the largest weight returned",
            softmax__one_number_along_the_axis,
            "How many weights should come out for four scores?",
        ),
    ),
    alternatives=(softmax__by_logarithms, softmax__one_row_at_a_time, softmax__by_differences),
    help=(
        "Exponentials, divided by their sum along the axis.",
        "exp(x - c) / sum(exp(x - c)) is the same for every c. Which c keeps all exponentials at 1 "
        "or below? `keepdims=True` keeps the axis that was summed.",
        "Section “From scores to weights”.",
    ),
    promises=(
        Promise("weights that are not negative", ("large scores, some negative",)),
        Promise("sum to 1 along `axis`", ("a table of two rows and three columns",)),
        Promise(
            "scores of any size",
            ("large scores, some negative", "one small row and one large", "rows far apart"),
        ),
        Promise("in an array with one or more axes", ("four scores", "axis -4 of five")),
        Promise(
            "a score of 1000 or of -1000 is as good as one of 1",
            ("scores of 1000", "scores of -1000, two of them equal"),
        ),
        Promise(
            "any axis of x, counted from the front or from the end",
            (
                "square table, axis 0",
                "axis 0 of 3",
                "float32, axis 1 of 3",
                "axis -4 of five",
                "axis 1 of five",
            ),
        ),
        Promise("at least one score along it", ("one score", "one score in each row")),
        Promise("floating-point weights of the shape of x", ("four scores", "axis -4 of five")),
    ),
    forbidden=forbidden.SOFTMAX,
)
