"""The exercise `tomorrow`: one step of a chain."""

import numpy as np
from autograder.exercise.declaring import Case, Declaration

from .. import reference

tomorrow = Declaration(
    reference.tomorrow,
    points=2,
    difficulty=1,
    minutes=5,
    help=(
        "Each weather of today has its part.",
        "A sum over i, weighted.",
        "The first section.",
    ),
)


@tomorrow.right
def plain(today, chances):
    return today @ chances


@tomorrow.right
def by_rows(today, chances):
    return sum(p * row for p, row in zip(today, chances, strict=True))


tomorrow.right(plain.edit("today @ chances", "np.dot(today, chances)"))
tomorrow.wrong(
    "columns for rows",
    "What does a row hold?",
    plain.edit("chances\n", "chances.T\n"),
)
tomorrow.wrong(
    "two days",
    "How often is `chances` used?",
    plain.edit("@ chances", "@ chances @ chances"),
)
tomorrow.wrong(
    "the likeliest only",
    "And if it is 60 to 40?",
    plain.edit("today @ chances", "chances[today.argmax()]"),
)
tomorrow.wrong(
    "never summed",
    "How many chances come back?",
    plain.edit("today @", "today[:, None] *"),
)


def _case(rng, note, n):
    chances = rng.dirichlet(np.ones(n), size=n)
    return Case(note, (rng.dirichlet(np.ones(n)), chances))


@tomorrow.public
def _(rng):
    yield Case(
        "sure of sun",
        (np.array([1.0, 0.0]), np.array([[0.9, 0.1], [0.5, 0.5]])),
    ).holds(
        "row i has the chances of each weather on the day after weather i"
    )
    yield _case(rng, "three weathers", 3).holds(
        "the chances of each weather today"
    )


@tomorrow.hidden
def _(rng):
    yield _case(rng, "five weathers", 5)
