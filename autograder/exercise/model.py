"""What an exercise is: one object, from which stub, self-check, grading and proof all come."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from ..probe.values import Call, SeededGenerator, Setup, SourceFunction, Tensor
from .answers import Answer, Function

__all__ = [
    "Assignment",
    "Case",
    "Exercise",
    "Kind",
    "Misconception",
    "Raises",
    "SeededGenerator",
    "Setup",
    "SourceFunction",
    "Tensor",
    "Written",
    "draw_setup",
    "public_cases",
]


@dataclass(frozen=True)
class Raises:
    """The exception that a case asks for, which may be of a derived type too.

    `mentions` are what its message must contain, each as a whole word or number.
    """

    type_name: str
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One call of the student's function, or of the module that the student's class makes.

    `note` says what the case exposes, in words that a student may read even of a hidden case. A
    tensor among the arguments is given as a `Tensor`. `setup` is there for a class only, and says
    how to make the module. `raises` is there where the call must raise an exception. `tolerance` is
    that of the exercise, and is filled in when its key is built. `promises` are what it `holds`.
    Raises TypeError for arguments that are no tuple.
    """

    note: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    setup: Setup | None = None
    raises: Raises | None = None
    tolerance: float | None = None
    promises: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse at once what would fail on its way into the sandbox."""
        if type(self.arguments) is not tuple:
            raise TypeError(
                f"the arguments of the case {self.note!r} are of type "
                f"{type(self.arguments).__name__}; write a tuple, such as (X,) for one argument"
            )

    def holds(self, *says: str) -> Case:
        """The same case, which holds an answer to what the docstring `says`, quoted.

        Line breaks are spaces. Where another case has the whole quote, its first words and "…" are
        enough.
        """
        return replace(self, promises=(*self.promises, *says))

    @property
    def call(self) -> Call:
        """The call alone: what goes into the sandbox."""
        return Call(self.arguments, self.keywords, self.setup)


def draw_setup(
    rng: np.random.Generator,
    reference: Callable[..., Any],
    *arguments: Any,
    dtype: type = np.float64,
    load: bool = True,
    **keywords: Any,
) -> Setup:
    """The setup of a case: the arguments of the class, and weights for every parameter.

    The weights are normal; one with several axes is divided by the root of its last. Without `load`
    the module keeps the values that its class gave it.
    """
    weights = {}
    for name, parameter in reference(*arguments, **keywords).named_parameters():
        shape = tuple(parameter.shape)
        scale = shape[-1] ** -0.5 if len(shape) > 1 else 1.0
        weights[name] = Tensor((rng.normal(size=shape) * scale).astype(dtype))
    return Setup(arguments, keywords, weights, load)


CaseGenerator = Callable[[np.random.Generator], Iterable[Case]]


@dataclass(frozen=True)
class Misconception:
    """A mistake that people make: its name, an answer that makes it, and a question about it.

    One that is `released` is what a debug exercise gives the student.
    """

    name: str
    answer: Answer
    hint: str
    released: bool = False

    @property
    def wrong(self) -> Function:
        """The function or class that makes the mistake; EditError if it cannot be made."""
        return self.answer.function


class Kind(StrEnum):
    """What an exercise asks of the student, in one word."""

    IMPLEMENT = "implement"
    DEBUG = "debug"
    DERIVE = "derive"
    MEASURE = "measure"
    TRANSFER = "transfer"
    TEST = "test"

    @property
    def core(self) -> bool:
        """True if it is about what the chapter itself builds, and not about what lies beyond."""
        return self in (Kind.IMPLEMENT, Kind.DEBUG, Kind.TEST)

    @property
    def instruction(self) -> str:
        """The same in a sentence or two, for the student."""
        return _INSTRUCTIONS[self]


_INSTRUCTIONS = {
    Kind.IMPLEMENT: "Write what the docstring describes.",
    Kind.DEBUG: "What stands below runs, and is wrong. Find out why, and correct it.",
    Kind.DERIVE: (
        "Work the derivative out on paper, then write it with NumPy. Your numbers are compared "
        "with those of automatic differentiation."
    ),
    Kind.MEASURE: "Write a function that finds a number in the experiment.",
    Kind.TRANSFER: "The chapter does not show this one. Use what it taught on a new problem.",
    Kind.TEST: (
        "Write a test. It is given an implementation to call, and raises AssertionError if that is "
        "wrong. It earns points for each wrong implementation that it rejects, and none at all if "
        "it rejects a right one."
    ),
}


@dataclass(frozen=True)
class Exercise:
    """A function or a class to write, and everything needed to judge it.

    `cases` (public, travel with the release) and `hidden` yield their cases smallest first: the
    first that fails, or that the named mistake explains, is the one that the student is shown.
    `help` holds three stages: an idea, nearly the code, and where to look in the book, which the
    notebook puts first. `alternatives` are right answers written otherwise; the tests use them to
    prove that the check rejects no right answer. It is written down by a `Declaration`.
    """

    name: str
    points: int
    difficulty: int
    minutes: int
    reference: Callable[..., Any]
    cases: CaseGenerator
    hidden: CaseGenerator
    misconceptions: tuple[Misconception, ...]
    alternatives: tuple[Callable[..., Any], ...]
    help: tuple[str, str, str]
    kind: Kind = Kind.IMPLEMENT
    tolerance: float | None = None
    forbidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError if a part is missing that the kind needs, or there is one too many."""
        released = sum(one.released for one in self.misconceptions)
        if released != (self.kind is Kind.DEBUG):
            raise ValueError(
                f"{self.name}: a debug exercise, and no other, releases a wrong answer, and this "
                f"one ({self.kind}) releases {released}"
            )
        if (self.kind is Kind.MEASURE) != (self.tolerance is not None):
            raise ValueError(f"{self.name}: a measure exercise, and no other, has a `tolerance`")
        if self.kind is Kind.TEST and not self.name.startswith("test_"):
            raise ValueError(f"{self.name}: the name of a test begins with test_")

    @property
    def released(self) -> Misconception | None:
        """What the student of a debug exercise is given."""
        return next((one for one in self.misconceptions if one.released), None)


@dataclass(frozen=True)
class Written:
    """A question answered in prose and marked by a person; `rubric` is shown to the marker only."""

    name: str
    points: int
    minutes: int
    rubric: str


@dataclass(frozen=True)
class Assignment:
    """The exercises of one chapter, in the order in which the notebook asks them.

    With `torch`, its notebook imports PyTorch; the course package says so.
    """

    name: str
    title: str
    exercises: tuple[Exercise, ...]
    written: tuple[Written, ...]
    torch: bool = False

    def exercise(self, name: str) -> Exercise:
        """The exercise called `name`; KeyError if there is none."""
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(f"assignment {self.name!r} has no exercise {name!r}")


def public_cases(exercise: Exercise) -> tuple[Case, ...]:
    """The cases that travel with the release: the same for everyone."""
    seed = int.from_bytes(hashlib.sha256(exercise.name.encode()).digest()[:8], "little")
    return tuple(exercise.cases(np.random.default_rng(seed)))
