"""Build the key of an exercise: its cases, the expected values, and how known mistakes behave."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..exercise.model import Case, Exercise, Kind, Misconception
from ..probe import wire
from ..probe.observe import observe, observe_once
from ..probe.values import (
    Call,
    Differentiated,
    Foreign,
    Observation,
    Raised,
    Unloadable,
    output,
    tensors,
)
from .compare import compare_exception
from .given_functions import CallCounter
from .words import NAMELESS, Names


@dataclass(frozen=True)
class KeyedMisconception:
    """A misconception: its name, its hint, and its observations, which are made when needed."""

    name: str
    hint: str
    find: Callable[[], tuple[Observation, ...]]

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """Return its observation on each case; judging a right answer never needs them."""
        return self.find()


@dataclass(frozen=True, eq=False)
class AnswerKey:
    """All that judging needs, as data: the cases, the expected values and the known mistakes.

    The first `public` cases may be shown to the student with all their numbers. `names` are those
    of the arguments of the function, or of the module's call, and of the values that it returns.
    `released` is the name of the misconception that a debug exercise releases. `forbidden` are the
    names of ready-made functions that may not run. `requests` is the number of different calls that
    the reference makes of the functions among its arguments, and that an answer has to make too.
    `is_test` is True if the answer is a test.
    """

    exercise: str
    cases: tuple[Case, ...]
    public: int
    expected: tuple[Any, ...]
    misconceptions: tuple[KeyedMisconception, ...]
    names: Names = NAMELESS
    released: str | None = None
    forbidden: tuple[str, ...] = ()
    requests: int = 0
    is_test: bool = False

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Return the calls to make, in the order of the cases."""
        return tuple(replace(case.call, forbidden=self.forbidden) for case in self.cases)

    @property
    def noun(self) -> str:
        """Return "class" or "function", whichever the student writes."""
        return "class" if any(case.setup for case in self.cases) else "function"

    @property
    def needs_torch(self) -> bool:
        """Return True if a call needs or imports torch, or if tensors are expected."""
        outputs = map(output, self.expected)
        in_calls = any(call.needs_torch or call.brings_torch for call in self.calls)
        return in_calls or any(tensors([*outputs]))


def build_key(exercise: Exercise, public: Iterable[Case], hidden: Iterable[Case]) -> AnswerKey:
    """Run the reference on the cases and return the key of `exercise`.

    The misconceptions run only when a wrong answer has to be given a name. Raises ValueError if the
    reference itself fails on a case, does not raise the exception that a case asks for, or returns
    a value with which no answer can be compared.
    """
    shown = tuple(public)
    cases = tuple(replace(case, tolerance=exercise.tolerance) for case in (*shown, *hidden))
    references = _quietly(observe_once, exercise.reference, cases, ())
    for case, observation in zip(cases, references, strict=True):
        value = observation.value
        if isinstance(value, Differentiated) and isinstance(value.gradients, Raised):
            value = value.gradients
        if case.raises:
            mismatch = compare_exception(case.raises, value)
            if mismatch:
                raise ValueError(
                    f"{exercise.name}: the reference on the case {case.note!r}: {mismatch.text}"
                )
        elif isinstance(value, Raised):
            raise ValueError(
                f"{exercise.name}: the reference raises {value.type_name} on the case "
                f"{case.note!r}: {value.message}"
            )
        if type_name := _incomparable(output(value)):
            raise ValueError(
                f"{exercise.name}: the reference returns {type_name} on the case {case.note!r}; "
                "answers can be compared only with numbers, strings, arrays and tensors"
            )
        if isinstance(value, Unloadable):
            raise ValueError(
                f"{exercise.name}: the names or shapes of the weights of the case {case.note!r} "
                "are not those of the reference. Correct the setup of the case."
            )
    return AnswerKey(
        exercise.name,
        cases,
        len(shown),
        tuple(observation.value for observation in references),
        _key_misconceptions(exercise, cases),
        _names(exercise.reference),
        exercise.released.name if exercise.released else None,
        forbidden=exercise.forbidden,
        requests=0 if exercise.kind is Kind.TEST else sum(o.requests for o in references),
        is_test=exercise.kind is Kind.TEST,
    )


def with_hidden(public: AnswerKey, exercise: Exercise, hidden: Iterable[Case]) -> AnswerKey:
    """Return the `public` key with hidden cases added; raise ValueError as `build_key` does."""
    added = build_key(exercise, (), hidden)
    cases = (*public.cases, *added.cases)
    return replace(
        public,
        cases=cases,
        expected=(*public.expected, *added.expected),
        misconceptions=_key_misconceptions(exercise, cases),
        requests=public.requests + added.requests,
    )


def _key_misconceptions(
    exercise: Exercise, cases: tuple[Case, ...]
) -> tuple[KeyedMisconception, ...]:
    return tuple(
        KeyedMisconception(m.name, m.hint, partial(_observations, m, cases))
        for m in exercise.misconceptions
    )


def _incomparable(value: Any) -> str | None:
    """Return the name of a type within `value` that cannot be compared, or None."""
    if isinstance(value, Foreign):
        return value.type_name
    if isinstance(value, dict):
        value = list(value.values())
    items = value if isinstance(value, tuple | list) else ()
    return next(filter(None, map(_incomparable, items)), None)


_RETURNED = re.compile(r"Returns (?:the tuple )?\((\w+(?:, \w+)+)\)")
"""The phrase in which a docstring names the values of a returned tuple."""


def _names(reference: Callable[..., Any]) -> Names:
    """Return the names that a student reads in the docstring of a function or class."""
    docstring = inspect.getdoc(reference) or ""
    if isinstance(reference, type):
        _, *parameters = inspect.signature(reference.forward).parameters  # type: ignore[attr-defined]
        docstring += inspect.getdoc(reference.forward) or ""  # type: ignore[attr-defined]
    else:
        parameters = [*inspect.signature(reference).parameters]
    returned = _RETURNED.search(" ".join(docstring.split()))
    return Names(tuple(parameters), tuple(returned[1].split(", ")) if returned else ())


def _observations(mistake: Misconception, cases: tuple[Case, ...]) -> tuple[Observation, ...]:
    return tuple(observe_quietly(mistake.wrong, cases))


def observe_quietly(
    function: Callable[..., Any], cases: Iterable[Case], forbidden: tuple[str, ...] = ()
) -> list[Observation]:
    """Observe a function in this process, and report as the sandbox would.

    Of the functions that it runs, only those that `forbidden` names are recorded.
    """
    return _quietly(observe, function, cases, forbidden)


def _quietly(
    observing: Callable[[Callable[..., Any], Sequence[Call]], list[Observation]],
    function: Callable[..., Any],
    cases: Iterable[Case],
    forbidden: tuple[str, ...],
) -> list[Observation]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # known mistakes are expected to divide by zero
        counter = CallCounter(cases)
        calls = [replace(case.call, forbidden=forbidden) for case in counter.cases]
        counted = counter.add_counts(observing(function, calls))
        observations: list[Observation] = wire.decode(wire.encode(counted))
    return observations
