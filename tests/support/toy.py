"""A tiny assignment for tests: neither the engine nor its tests depend on a chapter."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Assignment, Case, Kind, Written


def row_mean(X):
    """Return the mean of each row of `X`, shape (n, d), as an array of shape (n,)."""
    return X.mean(axis=-1)


def scale(X, factor=2.0):
    """Return `X` times `factor`, same shape."""
    return X * factor


def cases(rng):
    """Two rows, three columns, and then large numbers."""
    return [Case("two rows", (rng.normal(size=(2, 3)),)), Case("large", (rng.normal(size=(4, 2)),))]


def hidden(rng):
    """Other numbers."""
    return [Case("many rows", (rng.normal(size=(7, 3)),))]


def row_mean__columns(X):
    """The mean of the wrong axis."""
    return X.mean(axis=0)


def row_mean__sum(X):
    """The division is forgotten."""
    return X.sum(axis=-1)


def centred(X):
    """Return `X`, shape (n, d), less the mean of each row: the same shape."""
    return X - X.mean(axis=-1, keepdims=True)


def centred__columns(X):
    # The first axis, or the last?
    mean = X.mean(axis=0)

    return X - mean


def centred__divided(X):
    return X / X.mean(axis=-1, keepdims=True)


def scale__in_place(X, factor=2.0):
    """Changes its argument."""
    X *= factor
    return X


HELP = ("sketch", "hint", "where")


def declared(reference, points, *wrong, kind=Kind.IMPLEMENT):
    """Return the exercise; each of `wrong` holds the arguments of `Declaration.wrong`."""
    declaration = Declaration(
        reference, points=points, difficulty=1, minutes=5, help=HELP, kind=kind
    )
    declaration.public(cases)
    declaration.hidden(hidden)
    for name, hint, answer in wrong:
        declaration.wrong(name, hint, answer, released=answer is centred__columns)
    return declaration.exercise


MEAN = declared(
    row_mean,
    2,
    ("columns for rows", "Which axis is a row?", row_mean__columns),
    ("sum for mean", "How many numbers are in a row?", row_mean__sum),
)
SCALE = declared(scale, 3, ("in place", "Who owns X?", scale__in_place))
CENTRED = declared(
    centred,
    2,
    ("divided", "What does less mean?", centred__divided),
    ("columns for rows", "Which axis is a row?", centred__columns),
    kind=Kind.DEBUG,
)
"""A debug exercise."""
TOY = Assignment("toy", "A toy", (MEAN, SCALE), ())
WRITTEN_TOY = replace(TOY, written=(Written("why", 5, 5, "Says why."),))

IMPORTS = "import numpy as np"
TORCH_IMPORTS = (
    "import math\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\n"
    "from torch import nn"
)

RIGHT_MEAN = "def row_mean(X):\n    return np.array([sum(row) / len(row) for row in X])"
RIGHT_SCALE = "def scale(X, factor=2.0):\n    return factor * X"


@dataclass(frozen=True)
class Cell:
    """A cell of a program."""

    source: str
    exercise: str | None = None


def program(mean: str = RIGHT_MEAN, scale: str = RIGHT_SCALE, *added: str) -> list[Cell]:
    """Return a student's program: imports, the two answers, and the student's own cells."""
    return [
        Cell(IMPORTS),
        Cell(mean, "row_mean"),
        Cell(scale, "scale"),
        *(Cell(source) for source in added),
    ]


def imports(assignment: Assignment) -> Cell:
    """Return the first cell of an assignment, with the imports that its answers may use."""
    modules = [inspect.getmodule(exercise.reference) for exercise in assignment.exercises]
    with_torch = any("torch" in vars(module) for module in modules)
    return Cell(TORCH_IMPORTS if with_torch else IMPORTS)
