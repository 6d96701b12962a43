"""Declare an exercise in one file: its reference, right and wrong answers, and cases.

    softmax = Declaration(solutions.softmax, points=2, difficulty=2, minutes=10, help=(...))


    @softmax.right
    def plain(x, axis=-1): ...


    softmax.wrong("no exponential", "What weight has a score of -1?", plain.edit("np.exp(x)", "x"))


    @softmax.wrong("axis ignored", "With axis=0, which sums are 1?")
    def _(x, axis=-1): ...


    @softmax.public
    def _(rng):
        yield Case("one score", (np.array([3.0]),)).holds("at least one score along it")

`softmax.exercise` is then the exercise that the rest of the autograder uses.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .answers import Answer, Function
from .implementations import REJECTS, Implementation, shuffle
from .model import (
    Assignment,
    Case,
    CaseGenerator,
    Exercise,
    Kind,
    Misconception,
    Raises,
    SeededGenerator,
    Setup,
    SourceFunction,
    Tensor,
    Written,
    draw_setup,
)

__all__ = [
    "Answer",
    "Case",
    "Declaration",
    "Kind",
    "Raises",
    "SeededGenerator",
    "Setup",
    "SourceFunction",
    "Tensor",
    "Written",
    "assignment",
    "draw_setup",
]

FunctionOrAnswer = Function | Answer


@dataclass(eq=False)
class Declaration:
    """An exercise that is being declared; `exercise` completes the declaration and returns it.

    The arguments are those of `Exercise`. Answers and cases are added in the order of the file.
    `imports` are only for a test: lines to put above each implementation. The methods raise
    ValueError for anything that is declared twice, and for a base that is passed as an answer.
    """

    reference: Function
    _: KW_ONLY
    points: int
    difficulty: int
    minutes: int
    help: tuple[str, str, str]
    kind: Kind = Kind.IMPLEMENT
    tolerance: float | None = None
    forbidden: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    bases: dict[Answer, tuple[str, ...]] = field(default_factory=dict, init=False)
    mutants: dict[str, Answer] = field(default_factory=dict, init=False)
    unrejected: dict[str, str] = field(default_factory=dict, init=False)
    _rights: list[Answer] = field(default_factory=list, init=False)
    _wrongs: dict[str, Misconception] = field(default_factory=dict, init=False)
    _cases: dict[str, CaseGenerator] = field(default_factory=dict, init=False)
    _styles: list[Implementation] = field(default_factory=list, init=False)
    _mutants: list[Implementation] = field(default_factory=list, init=False)

    @property
    def name(self) -> str:
        """Return the name of the exercise, which is that of its reference."""
        return self.reference.__name__

    def right(self, answer: FunctionOrAnswer) -> Answer:
        """Add a right answer that is written differently from the reference.

        A class that will be edited is passed in a call, `plain = block.right(Plain)`: to a type
        checker, a class under a decorator is still the class, which has no `edit`.
        """
        self._rights.append(self._answer(answer))
        return self._rights[-1]

    def base(self, fails: tuple[str, ...], answer: FunctionOrAnswer | None = None, /) -> Any:
        """Add a base: a function that wrong answers are edits of, and that is not itself an answer.

        `fails` are the notes of the cases on which it is wrong; on all others it must be right.
        Returns the base; without `answer`, a decorator for it.
        """
        if answer is None:
            return partial(self.base, fails)
        base = replace(self._answer(answer), base=True)
        self.bases[base] = fails
        return base

    def wrong(
        self,
        name: str,
        hint: str,
        answer: FunctionOrAnswer | None = None,
        /,
        *,
        released: bool = False,
    ) -> Any:
        """Add a mistake that people make: its name, a question about it, and an answer with it.

        If `released`, students are given this answer to debug. Returns the answer; without
        `answer`, a decorator for it.
        """
        if answer is None:
            return partial(self.wrong, name, hint, released=released)
        if name in self._wrongs:
            raise ValueError(f"{self.name}: two misconceptions are called {name!r}")
        wrong = self._answer(answer)
        self._wrongs[name] = Misconception(name, wrong, hint, released)
        return wrong

    def public(self, cases: CaseGenerator) -> CaseGenerator:
        """Set the function that yields the public cases, given a random number generator."""
        return self._set_cases("public", cases)

    def hidden(self, cases: CaseGenerator) -> CaseGenerator:
        """Set the function that yields the hidden cases."""
        return self._set_cases("hidden", cases)

    def accepts(
        self, style: str, answer: FunctionOrAnswer | None = None, /, *, holds: tuple[str, ...] = ()
    ) -> Any:
        """Add a right implementation, which a test must accept; the first two are public.

        Returns the implementation; without `answer`, a decorator for it.
        """
        if answer is None:
            return partial(self.accepts, style, holds=holds)
        right = self._answer(answer)
        self._styles.append(Implementation(style, right, holds, shown=len(self._styles) < 2))
        return right

    def rejects(
        self,
        kind: str,
        answer: FunctionOrAnswer | None = None,
        /,
        *,
        shown: bool = True,
        holds: tuple[str, ...] = (),
    ) -> Any:
        """Add a wrong implementation, which a test must reject; without `shown` it is hidden.

        Returns the implementation; without `answer`, a decorator for it.
        """
        if answer is None:
            return partial(self.rejects, kind, shown=shown, holds=holds)
        wrong = self._answer(answer)
        self._mutants.append(Implementation(kind, wrong, holds, shown, REJECTS))
        return wrong

    def mutant(self, name: str, old: str, new: str, *, times: int = 1) -> None:
        """Add an edit of the reference that is wrong in an edge case; a case must reject it."""
        if name in self.mutants:
            raise ValueError(f"{self.name}: two mutants are called {name!r}")
        self.mutants[name] = Answer(self.name, self.reference).edit(old, new, times=times)

    def lets_through(self, mutant: str, because: str) -> None:
        """Record why no case can reject one of the semantic mutants that the tests generate."""
        if mutant in self.unrejected:
            raise ValueError(f"{self.name}: two reasons are given why the mutant {mutant!r} passes")
        self.unrejected[mutant] = because

    @cached_property
    def exercise(self) -> Exercise:
        """Return the declared exercise; nothing can be added after the first use of it."""
        if self.kind is Kind.TEST:
            self.public(self._shown_implementations)
            self.hidden(self._all_implementations)
        if missing := {"public", "hidden"} - set(self._cases):
            raise ValueError(f"{self.name}: the {' and '.join(sorted(missing))} cases are missing")
        return Exercise(
            name=self.name,
            points=self.points,
            difficulty=self.difficulty,
            minutes=self.minutes,
            reference=self.reference,
            cases=self._cases["public"],
            hidden=self._cases["hidden"],
            misconceptions=tuple(self._wrongs.values()),
            alternatives=tuple(answer.function for answer in self._rights),
            help=self.help,
            kind=self.kind,
            tolerance=self.tolerance,
            forbidden=self.forbidden,
        )

    def _answer(self, value: FunctionOrAnswer) -> Answer:
        if "exercise" in vars(self):
            raise ValueError(f"{self.name} is already complete; nothing can be added to it")
        answer = value if isinstance(value, Answer) else Answer(self.name, value)
        if answer.base:
            name = answer.written.__name__
            subject = repr(name) if answer.text is None else f"an edit of {name!r}"
            raise ValueError(f"{self.name}: {subject} is a base; only an edit of it is an answer")
        return answer

    def _set_cases(self, visibility: str, cases: CaseGenerator) -> CaseGenerator:
        if visibility in self._cases:
            raise ValueError(f"{self.name}: the {visibility} cases are already declared")
        self._cases[visibility] = cases
        return cases

    def _shown_implementations(self, rng: np.random.Generator) -> list[Case]:
        implementations = [*self._mutants, *self._styles]
        return [each.case(self.imports) for each in implementations if each.shown]

    def _all_implementations(self, rng: np.random.Generator) -> Iterator[Case]:
        styles = [style.case(self.imports) for style in self._styles]
        mutants = [mutant.case(self.imports) for mutant in self._mutants]
        return shuffle(rng, styles, mutants)


def assignment(
    package: str, *, title: str, exercises: tuple[str, ...], written: tuple[str, ...] = ()
) -> Assignment:
    """Return the assignment of a chapter, with the declarations of its package in this order.

    The file NAME.py must declare NAME. Raises ValueError if it does not.
    """

    def load(name: str) -> Any:
        module = importlib.import_module(f"{package}.{name}")
        if name not in vars(module):
            raise ValueError(f"{module.__file__}: it must declare {name!r}, like its file name")
        return vars(module)[name]

    return Assignment(
        name=package.rpartition(".")[2],
        title=title,
        exercises=tuple(load(name).exercise for name in exercises),
        written=tuple(load(name) for name in written),
    )
