"""The exercise `softmax`: scores into weights."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import alignment as solutions

from .. import forbidden

softmax = Declaration(
    solutions.softmax,
    points=2,
    difficulty=2,
    minutes=10,
    forbidden=forbidden.SOFTMAX,
    help=(
        "Take exponentials, and divide them by their sum along the axis.",
        "exp(x - c) / sum(exp(x - c)) is the same for every c. Which c keeps all exponentials at 1 "
        "or below? `keepdims=True` keeps the axis that was summed.",
        "Section “From scores to weights”.",
    ),
)


@softmax.right
def by_logarithms(x, axis=-1):
    total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - total)


@softmax.right
def one_row_at_a_time(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for index in np.ndindex(moved.shape[:-1]):
        exponentials = np.exp(moved[index] - max(moved[index]))
        result[index] = exponentials / sum(exponentials)
    return np.moveaxis(result, -1, axis)


@softmax.right
def by_differences(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(moved[..., None, :] - moved[..., :, None])  # e^(x_j - x_i)
    return np.moveaxis(1 / ratios.sum(axis=-1), -1, axis)


@softmax.right
def plain(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


softmax.wrong(
    "exponential overflows",
    "What is np.exp(1000.0)? You may subtract the same number from all scores before the "
    "exponential. What does that do to the quotient?",
    plain.edit(" - x.max(axis=axis, keepdims=True)", ""),
)
softmax.wrong(
    "axis ignored",
    "With axis=0, which sums are 1 in your result: those of the rows or of the columns?",
    plain.edit("axis=axis", "axis=-1", times=2),
)
softmax.wrong(
    "always the first axis",
    "Sum your result along the axis that was asked for. Along which axis is the sum 1?",
    plain.edit("axis=axis", "axis=0", times=2),
)
softmax.wrong(
    "one softmax over the whole array",
    "Each query shares out its attention separately. What is the sum of each row in your result?",
    plain.edit("axis=axis, keepdims=True", "", times=2),
)
softmax.wrong(
    "largest of the whole array subtracted",
    "One row holds scores near 0, another near 1000. What is left of the first row after your "
    "subtraction, and after the exponential? Which largest score should be subtracted from it?",
    plain.edit("x.max(axis=axis, keepdims=True)", "x.max()"),
)
softmax.wrong(
    "no exponential",
    "What weight does a negative score get? And what happens to the scores 1 and -1?",
    plain.edit("np.exp(x - x.max(axis=axis, keepdims=True))", "x"),
)
softmax.wrong(
    "summed axis not kept",
    "What shape does your sum have, and with which axis of the table does NumPy line it up? Try a "
    "square table and look at the sums of its rows.",
    plain.edit("exponentials.sum(axis=axis, keepdims=True)", "exponentials.sum(axis=axis)"),
)
softmax.wrong(
    "exponential overflows, and the summed axis not kept",
    "Two things are missing. What is np.exp(1000.0), and what may you subtract before it? And "
    "what shape does your sum have, which should divide each row of a table by the sum of that "
    "row?",
    plain.edit(" - x.max(axis=axis, keepdims=True)", "").edit(", keepdims=True", ""),
)
softmax.wrong(
    "input changed in place",
    "Print x before and after the call. Does the caller still have the scores?",
    plain.edit(
        "exponentials = np.exp(x - x.max(axis=axis, keepdims=True))",
        "x -= x.max(axis=axis, keepdims=True)\nexponentials = np.exp(x)",
    ),
)
softmax.wrong(
    "only the largest weight returned",
    "How many weights should come out for four scores?",
    plain.edit(
        "exponentials / exponentials.sum(axis=axis, keepdims=True)",
        "exponentials.max(axis=axis) / exponentials.sum(axis=axis)",
    ),
)


softmax.wrong(
    "always the second axis",
    "Axis 1 is along a row of a table. Which axis is it for four scores that are no table, and for "
    "three axes?",
    plain.edit("axis=axis", "axis=1", times=2),
)
softmax.wrong(
    "always the second-to-last axis",
    "Sum your result along the axis that was asked for. Along which axis is the sum 1?",
    plain.edit("axis=axis", "axis=-2", times=2),
)
softmax.wrong(
    "the logarithm of the weights",
    "Can a weight be below 0? What is the sum of a row?",
    plain.edit(
        "exponentials / exponentials.sum(axis=axis, keepdims=True)",
        "np.log(exponentials / exponentials.sum(axis=axis, keepdims=True))",
    ),
)


@softmax.public
def _(rng):
    yield Case("four scores", (np.array([0.0, 2.0, 1.0, 1.0]),)).holds(
        "in an array with one or more axes", "floating-point weights of the shape of x"
    )
    yield Case("a table of two rows and three columns", (rng.normal(size=(2, 3)),)).holds(
        "sum to 1 along `axis`"
    )
    yield Case("square table, axis 0", (rng.normal(size=(3, 3)),), {"axis": 0}).holds(
        "any axis of x, counted from the front or from the end"
    )
    yield Case(
        "float32, axis 1 of 3", (rng.normal(size=(2, 4, 3)).astype(np.float32),), {"axis": 1}
    ).holds("any axis…")
    yield Case("axis 0 of 3", (rng.normal(size=(2, 2, 3)),), {"axis": 0}).holds("any axis…")
    yield Case("one score", (np.array([3.0]),)).holds("at least one score along it")
    yield Case("axis -4 of five", (rng.normal(size=(2, 3, 1, 2, 2)),), {"axis": -4}).holds(
        "in an array…", "any axis…", "floating-point weights…"
    )
    yield Case("scores of 1000", (np.array([[1000.0, 1001.0, 999.0]]),)).holds(
        "a score of 1000 or of -1000 is as good as one of 1"
    )
    yield Case(
        "scores of -1000, two of them equal", (np.array([[-1000.0, -1001.0, -1000.0]]),)
    ).holds("a score of…")
    yield Case("one small row and one large", (np.array([[0.0, 1.0], [1000.0, 1002.0]]),)).holds(
        "scores of any size"
    )


@softmax.hidden
def _(rng):
    yield Case("five scores", (rng.normal(size=5),))
    yield Case("a square table", (rng.normal(size=(4, 4)),))
    yield Case("axis 0 of a table that is not square", (rng.normal(size=(2, 5)),), {"axis": 0})
    yield Case("axis -2 of a batch", (rng.normal(size=(3, 2, 4)),), {"axis": -2})
    yield Case("axis 1 of five", (rng.normal(size=(2, 3, 1, 2, 4)),), {"axis": 1}).holds(
        "any axis…"
    )
    yield Case("one score in each row", (rng.normal(size=(3, 1)),)).holds("at least…")
    yield Case("float32", (rng.normal(size=(3, 4)).astype(np.float32),))
    yield Case("large scores, some negative", (rng.normal(size=(3, 4)) * 5000,)).holds(
        "weights that are not negative", "scores of…"
    )
    heights = np.array([-3000.0, 0.0, 50.0, 3000.0])
    yield Case("rows far apart", (rng.normal(size=(4, 3)) + heights[:, None],)).holds("scores of…")
