"""The exercise: an object from which stub, self-check, grading and tests are all derived."""

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
    """The exception that a case asks for; one of a derived type is accepted too.

    Its message must contain each of `mentions` as a whole word or number.
    """

    type_name: str
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One call of the student's function, or of the module that the student's class makes.

    `note` says what the case exposes, in words that a student may read even if the case is hidden.
    A tensor among the arguments is passed as a `Tensor`. `setup` is only for a class, and says how
    to make the module. `raises` is the exception that the call must raise, if any. `tolerance` is
    that of the exercise, and is filled in when its key is built. `promises` are the quotes passed
    to `holds`. Raises TypeError if the arguments are not a tuple.
    """

    note: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    setup: Setup | None = None
    raises: Raises | None = None
    tolerance: float | None = None
    promises: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject arguments that would fail later, on their way into the sandbox."""
        if type(self.arguments) is not tuple:
            raise TypeError(
                f"the arguments of the case {self.note!r} are of type "
                f"{type(self.arguments).__name__}; write a tuple, such as (X,) for one argument"
            )

    def holds(self, *says: str) -> Case:
        """Return this case with quotes of the docstring that it holds an answer to.

        Line breaks in a quote are written as spaces. If another case has the whole quote, its first
        words and "…" are enough.
        """
        return replace(self, promises=(*self.promises, *says))

    @property
    def call(self) -> Call:
        """Return only the call, which is what the sandbox receives."""
        return Call(self.arguments, self.keywords, self.setup)


def draw_setup(
    rng: np.random.Generator,
    reference: Callable[..., Any],
    *arguments: Any,
    dtype: type = np.float64,
    load: bool = True,
    **keywords: Any,
) -> Setup:
    """Return the setup of a case: the arguments of the class, and weights for every parameter.

    The weights are drawn from a normal distribution; those with several axes are divided by the
    square root of the length of the last. Without `load`, the module keeps the values that its
    class gave it.
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

    The answer of a `released` misconception is given to the student in a debug exercise.
    """

    name: str
    answer: Answer
    hint: str
    released: bool = False

    @property
    def wrong(self) -> Function:
        """Return the function or class with the mistake. Raises EditError if an edit fails."""
        return self.answer.function


class Kind(StrEnum):
    """The kind of task that an exercise sets, in one word."""

    IMPLEMENT = "implement"
    DEBUG = "debug"
    DERIVE = "derive"
    MEASURE = "measure"
    TRANSFER = "transfer"
    TEST = "test"

    @property
    def core(self) -> bool:
        """Return True for kinds about what the chapter itself builds, rather than beyond it."""
        return self in (Kind.IMPLEMENT, Kind.DEBUG, Kind.TEST)

    @property
    def instruction(self) -> str:
        """Return the task in a sentence or two, for the student."""
        return _INSTRUCTIONS[self]


_INSTRUCTIONS = {
    Kind.IMPLEMENT: "Write what the docstring describes.",
    Kind.DEBUG: "The code below runs, but it is wrong. Find out why, and correct it.",
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

    `cases` (public, part of the release) and `hidden` yield their cases smallest first, because the
    student is shown the first that fails, or the first that the named mistake explains. `help` has
    three stages: an idea, nearly the code, and where to look in the book, which the notebook puts
    first. `alternatives` are right answers that are written differently; the tests use them to
    prove that the check rejects no right answer. A `Declaration` makes an exercise.
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
        """Raise ValueError if the kind needs a part that is missing, or forbids one that it has."""
        released = sum(misconception.released for misconception in self.misconceptions)
        if released != (self.kind is Kind.DEBUG):
            raise ValueError(
                f"{self.name}: a debug exercise must release one wrong answer, and no other kind "
                f"may release any; this {self.kind} exercise releases {released}"
            )
        if (self.kind is Kind.MEASURE) != (self.tolerance is not None):
            raise ValueError(
                f"{self.name}: a measure exercise needs a `tolerance`, and no other kind may have "
                "one"
            )
        if self.kind is Kind.TEST and not self.name.startswith("test_"):
            raise ValueError(f"{self.name}: the name of a test must begin with test_")

    @property
    def released(self) -> Misconception | None:
        """Return the misconception that a debug exercise gives to the student, or None."""
        return next((m for m in self.misconceptions if m.released), None)


@dataclass(frozen=True)
class Written:
    """A question answered in prose and marked by a person; only the marker sees `rubric`."""

    name: str
    points: int
    minutes: int
    rubric: str


@dataclass(frozen=True)
class Assignment:
    """The exercises of a chapter, in the order in which the notebook asks them.

    With `torch`, its notebook imports PyTorch; the course package says so.
    """

    name: str
    title: str
    exercises: tuple[Exercise, ...]
    written: tuple[Written, ...]
    torch: bool = False

    def exercise(self, name: str) -> Exercise:
        """Return the exercise called `name`. Raises KeyError if there is none."""
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(f"assignment {self.name!r} has no exercise {name!r}")


def public_cases(exercise: Exercise) -> tuple[Case, ...]:
    """Return the cases that are part of the release, which are the same for everyone."""
    seed = int.from_bytes(hashlib.sha256(exercise.name.encode()).digest()[:8], "little")
    return tuple(exercise.cases(np.random.default_rng(seed)))
