"""The exercise `in_the_long_run`: what a chain comes to."""

import numpy as np
from autograder.exercise.declaring import Case, Declaration, Raises

from .. import reference

in_the_long_run = Declaration(
    reference.in_the_long_run,
    points=3,
    difficulty=2,
    minutes=15,
    help=(
        "What no step changes.",
        "Step until nothing moves, or solve.",
        "The second section.",
    ),
)


@in_the_long_run.right
def plain(chances):
    if not np.allclose(chances.sum(axis=1), 1):
        raise ValueError("rows")
    days = np.ones(len(chances)) / len(chances)
    return days @ np.linalg.matrix_power(chances, 1000)


in_the_long_run.right(
    plain.edit(
        "days @ np.linalg.matrix_power(chances, 1000)",
        "np.linalg.matrix_power(chances, 1000)[0]",
    )
)


@in_the_long_run.right
def by_solving(chances):
    if not np.allclose(chances.sum(axis=1), 1):
        raise ValueError("rows")
    moved = chances.T - np.eye(len(chances))
    moved[-1] = 1
    return np.linalg.solve(moved, np.eye(len(chances))[-1])


in_the_long_run.wrong(
    "one step only",
    "Is the next day the same?",
    plain.edit("matrix_power(chances, 1000)", "matrix_power(chances, 1)"),
)
in_the_long_run.wrong(
    "not shares of 1",
    "What do they sum to?",
    plain.edit(" / len(chances)", ""),
)
in_the_long_run.wrong(
    "columns for rows",
    "What does a row hold?",
    plain.edit("matrix_power(chances,", "matrix_power(chances.T,"),
)
in_the_long_run.wrong(
    "nothing refused",
    "And a row that sums to 2?",
    plain.edit("raise ValueError(", "ValueError("),
)


def _case(rng, note, n):
    return Case(note, (rng.dirichlet(np.full(n, 3.0), size=n),))


@in_the_long_run.public
def _(rng):
    yield Case(
        "sun comes nine days in ten",
        (np.array([[0.95, 0.05], [0.45, 0.55]]),),
    ).holds("how often each weather comes in the long run")
    yield _case(rng, "three weathers", 3).holds(
        "They sum to 1", "all above 0"
    )
    yield Case(
        "a row of 2",
        (np.array([[1.0, 1.0], [0.5, 0.5]]),),
        raises=Raises("ValueError"),
    ).holds("Raises ValueError for a row that does not sum to 1.")


@in_the_long_run.hidden
def _(rng):
    yield _case(rng, "six weathers", 6)
    yield Case(
        "a row of less than 1",
        (np.array([[0.5, 0.4], [0.5, 0.5]]),),
        raises=Raises("ValueError"),
    ).holds("Raises ValueError…")
