"""How an exercise is declared: what is asked, right and wrong answers, cases, in one file.

    softmax = Declaration(solutions.softmax, points=2, difficulty=2, minutes=10, help=(...))


    @softmax.right
    def plain(x, axis=-1): ...


    softmax.wrong("no exponential", "What weight has a score of -1?", plain.edit("np.exp(x)", "x"))


    @softmax.wrong("axis ignored", "With axis=0, which sums are 1?")
    def _(x, axis=-1): ...


    @softmax.public
    def _(rng):
        yield Case("one score", (np.array([3.0]),)).holds("at least one score along it")

`softmax.exercise` is then the exercise that everything else works with.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from .answers import Answer, Function
from .implementations import REJECTS, Implementation, shuffled
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

Given = Function | Answer
Decorator = Callable[[Function], Answer]


@dataclass(eq=False)
class Declaration:
    """An exercise that is being declared; `exercise` is what comes of it, and ends the declaring.

    The arguments are those of `Exercise`. Answers and cases are added in the order of the file.
    `imports` are for a test alone: lines that stand above each implementation. The methods raise
    ValueError for what is declared twice, and for a base that is given as an answer.
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
        """That of its reference."""
        return self.reference.__name__

    def right(self, answer: Given) -> Answer:
        """A right answer written otherwise.

        A class that others are edits of is given in a call, `plain = block.right(Plain)`: a type
        checker takes a class under a decorator for the class, which has no `edit`.
        """
        self._rights.append(self._answer(answer))
        return self._rights[-1]

    @overload
    def base(self, fails: tuple[str, ...], /) -> Decorator: ...

    @overload
    def base(self, fails: tuple[str, ...], answer: Given, /) -> Answer: ...

    def base(self, fails: tuple[str, ...], answer: Given | None = None, /) -> Answer | Decorator:
        """What wrong answers are edits of, and no answer itself: right but where it `fails`.

        `fails` are the notes of the cases on which it is wrong.
        """

        def add(answer: Given) -> Answer:
            made = replace(self._answer(answer), base=True)
            self.bases[made] = fails
            return made

        return add if answer is None else add(answer)

    @overload
    def wrong(self, name: str, hint: str, /, *, released: bool = False) -> Decorator: ...

    @overload
    def wrong(
        self, name: str, hint: str, answer: Given, /, *, released: bool = False
    ) -> Answer: ...

    def wrong(
        self, name: str, hint: str, answer: Given | None = None, /, *, released: bool = False
    ) -> Answer | Decorator:
        """A mistake that people make: its name, a question about it, and an answer that makes it.

        The answer may be what the decorator stands over. One that is `released` is to be debugged.
        """

        def add(answer: Given) -> Answer:
            if name in self._wrongs:
                raise ValueError(f"{self.name}: two misconceptions are called {name!r}")
            made = self._answer(answer)
            self._wrongs[name] = Misconception(name, made, hint, released)
            return made

        return add if answer is None else add(answer)

    def public(self, cases: CaseGenerator) -> CaseGenerator:
        """The public cases: a function that yields them, given a generator of random numbers."""
        return self._draw("public", cases)

    def hidden(self, cases: CaseGenerator) -> CaseGenerator:
        """The hidden cases."""
        return self._draw("hidden", cases)

    @overload
    def accepts(self, style: str, /, *, holds: tuple[str, ...] = ()) -> Decorator: ...

    @overload
    def accepts(self, style: str, answer: Given, /, *, holds: tuple[str, ...] = ()) -> Answer: ...

    def accepts(
        self, style: str, answer: Given | None = None, /, *, holds: tuple[str, ...] = ()
    ) -> Answer | Decorator:
        """A right implementation, which a test must accept; the first two are public."""

        def add(answer: Given) -> Answer:
            made = self._answer(answer)
            self._styles.append(Implementation(style, made, holds, shown=len(self._styles) < 2))
            return made

        return add if answer is None else add(answer)

    @overload
    def rejects(
        self, kind: str, /, *, shown: bool = True, holds: tuple[str, ...] = ()
    ) -> Decorator: ...

    @overload
    def rejects(
        self, kind: str, answer: Given, /, *, shown: bool = True, holds: tuple[str, ...] = ()
    ) -> Answer: ...

    def rejects(
        self,
        kind: str,
        answer: Given | None = None,
        /,
        *,
        shown: bool = True,
        holds: tuple[str, ...] = (),
    ) -> Answer | Decorator:
        """A wrong implementation, which a test must reject; its kind is `shown`, or never is."""

        def add(answer: Given) -> Answer:
            made = self._answer(answer)
            self._mutants.append(Implementation(kind, made, holds, shown, REJECTS))
            return made

        return add if answer is None else add(answer)

    def mutant(self, name: str, old: str, new: str, *, times: int = 1) -> None:
        """The reference with an edit, which makes it wrong at an edge: a case must reject it."""
        if name in self.mutants:
            raise ValueError(f"{self.name}: two mutants are called {name!r}")
        self.mutants[name] = Answer(self.name, self.reference).edit(old, new, times=times)

    def lets_through(self, mutant: str, because: str) -> None:
        """A semantic mutant of the reference, of the tests' own, that no case can reject."""
        if mutant in self.unrejected:
            raise ValueError(
                f"{self.name}: of the mutant {mutant!r} it is said twice why it passes"
            )
        self.unrejected[mutant] = because

    @cached_property
    def exercise(self) -> Exercise:
        """The exercise that has been declared; nothing can be added from now on."""
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

    def _answer(self, given: Given) -> Answer:
        if "exercise" in vars(self):
            raise ValueError(f"{self.name} is declared already; nothing can be added to it")
        answer = given if isinstance(given, Answer) else Answer(self.name, given)
        if answer.base:
            name = answer.written.__name__
            what = repr(name) if answer.text is None else f"an edit of {name!r}"
            raise ValueError(f"{self.name}: {what} is a base, and no answer until it is edited")
        return answer

    def _draw(self, which: str, cases: CaseGenerator) -> CaseGenerator:
        if which in self._cases:
            raise ValueError(f"{self.name}: the {which} cases are there already")
        self._cases[which] = cases
        return cases

    def _shown_implementations(self, rng: np.random.Generator) -> list[Case]:
        return [one.case(self.imports) for one in (*self._mutants, *self._styles) if one.shown]

    def _all_implementations(self, rng: np.random.Generator) -> Iterator[Case]:
        styles, mutants = (
            [one.case(self.imports) for one in some] for some in (self._styles, self._mutants)
        )
        return shuffled(rng, styles, mutants)


def assignment(
    package: str, *, title: str, exercises: tuple[str, ...], written: tuple[str, ...] = ()
) -> Assignment:
    """The assignment of a chapter: what is declared in the files of its package, in this order.

    The file NAME.py declares NAME. Raises ValueError if it does not.
    """

    def declared(name: str) -> Any:
        module = importlib.import_module(f"{package}.{name}")
        if name not in vars(module):
            raise ValueError(f"{module.__file__}: it declares no {name!r}, as its own name says")
        return vars(module)[name]

    return Assignment(
        name=package.rpartition(".")[2],
        title=title,
        exercises=tuple(declared(name).exercise for name in exercises),
        written=tuple(declared(name) for name in written),
    )
