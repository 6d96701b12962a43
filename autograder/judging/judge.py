"""Judge what an answer did: give a verdict, and name the known mistake that it makes.

The self-check in the notebook and the grader use the same engine and differ only in their cases.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..exercise.model import Case, Exercise, Kind, Misconception
from ..probe import wire
from ..probe.observe import observe, observe_once
from ..probe.ready_made import PROCESSES, UNWATCHED
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
from .agreement import agree, input_tolerance
from .common_cases import particulars
from .compare import Mismatch, compare, compare_exception, result, unexpected_exception
from .differences import first_clear
from .given_functions import CallCounter
from .measured import compare_measured
from .modules import compare_gradients, compare_parameters
from .naming import KeyedMisconception, Trial, compared_with_released, earned_names, explained_cases
from .patterns import patterns
from .verdict import ALL_BUT_ERRORS, AS_GIVEN, ERRORS_SHARE, IN_A_PROCESS, Judgement, Verdict
from .words import NAMELESS, Names, all_of, by_parameter, kind, kind_in_general
from .written_tests import judge_test


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
                f"{exercise.name}: the weights of the case {case.note!r} do not fit the reference"
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


def judge(key: AnswerKey, observations: Sequence[Observation]) -> Judgement:
    """Compare `observations`, one for each case of `key`, with the expected values."""
    if len(observations) != len(key.cases):
        return Judgement(
            Verdict.MALFORMED,
            f"The answer returned {len(observations)} results for {len(key.cases)} cases.",
        )
    ready_made = [name for observation in observations for name in observation.ready_made]
    if ready_made:
        return _judge_ready_made(key, ready_made[0])
    if key.is_test:
        return judge_test(key.cases, key.public, key.misconceptions, observations)
    mismatches = [
        fault(case, expected, observation, key.names)
        for case, expected, observation in zip(key.cases, key.expected, observations, strict=True)
    ]
    if not any(mismatches):
        return Judgement(Verdict.PASS, f"Right on {all_of(len(key.cases), 'cases')}.")
    if _behaves_as_released(key, observations):
        return AS_GIVEN
    first = next(index for index, mismatch in enumerate(mismatches) if mismatch)
    hidden = first >= key.public
    shown = slice(len(key.cases) if hidden else key.public)
    trials = [
        Trial(*parts)
        for parts in zip(key.cases[shown], key.expected, observations, mismatches, strict=False)
    ]
    mistakes = earned_names(key.misconceptions, trials, fault)
    failing = [index for index, trial in enumerate(trials) if trial.mismatch]
    at = first_clear(trials, explained_cases(mistakes[0], trials) if mistakes else failing)
    mismatch = mismatches[at]
    assert mismatch is not None
    share = _share(key.cases, mismatches)
    more = [mismatch.advice]
    if not hidden and mismatch.verdict is Verdict.EXCEPTION:
        more.append(particulars(trials, at, key.names.parameters))
    released = _released(key)
    if released and not mistakes:
        more.append(compared_with_released(released, trials, at, fault, key.noun))
    if not mistakes:
        more.append(patterns(trials, key.names, hidden=hidden))
    if share:
        more.append(ALL_BUT_ERRORS)
    message = _message(key, at, mismatch, more)
    if not mistakes:
        return Judgement(mismatch.verdict, message, case=at, share=share)
    mistake, also = mistakes[0], None
    if len(mistakes) > 1:
        also = mistakes[1].name
        message += (
            f" Two mistakes together explain all the differences: “{mistake.name}” and “{also}”. "
            f"About the second, ask yourself: {mistakes[1].hint}"
        )
    return Judgement(mismatch.verdict, message, mistake.name, mistake.hint, at, share, also)


def _behaves_as_released(key: AnswerKey, observations: Sequence[Observation]) -> bool:
    """Return True if the answer behaves on every case like the function that was released."""
    released = _released(key)
    return released is not None and agree(released.observations, tuple(observations))


def _released(key: AnswerKey) -> KeyedMisconception | None:
    return next((m for m in key.misconceptions if m.name == key.released), None)


def _share(cases: Sequence[Case], mismatches: Sequence[Mismatch | None]) -> float:
    """Return the share of the points if only promised exceptions are wrong, otherwise 0."""
    failing = [case for case, mismatch in zip(cases, mismatches, strict=True) if mismatch]
    others = any(case.raises is None for case in cases)
    return 1 - ERRORS_SHARE if others and all(case.raises for case in failing) else 0.0


def _judge_ready_made(key: AnswerKey, name: str) -> Judgement:
    """Return the verdict on an answer that ran the function `name`.

    The message quotes only the key, because `name` comes from the answer and may carry hidden data.
    """
    pattern = _matching(name, key.forbidden)
    if pattern is not None:
        text = f"It runs `{pattern}`, which is ready-made."
    elif key.forbidden and name in PROCESSES:
        return IN_A_PROCESS
    elif key.forbidden and name in UNWATCHED:
        text = f"It runs `{name}`, where the grader cannot see whether ready-made code runs."
    else:
        return Judgement(Verdict.MALFORMED, "The answer did not return a valid result.")
    return Judgement(Verdict.FORBIDDEN, f"{text} Writing it is the exercise.")


def fault(
    case: Case, expected: Any, observation: Observation, names: Names = NAMELESS
) -> Mismatch | None:
    """Return what is wrong with one observation, or None."""
    value = observation.value
    if case.raises:
        return compare_exception(case.raises, value)
    if isinstance(value, Raised):
        return unexpected_exception(value)
    if case.setup and isinstance(value, Unloadable):
        return compare_parameters(case.setup.weights, value.shapes)
    if isinstance(expected, Differentiated) and not isinstance(value, Differentiated):
        text, general = (
            f"an instance of the class is {describe(value)} and should be a torch.nn.Module"
            for describe in (kind, kind_in_general)
        )
        return Mismatch(Verdict.WRONG_TYPE, text, general)
    min_tolerance = input_tolerance([*case.arguments, *case.keywords.values()])
    mismatch = (
        compare_measured(expected, value, case.tolerance)
        if case.tolerance is not None
        else compare(output(expected), output(value), result(names.returned), min_tolerance)
    )
    return (
        mismatch
        or _changed_argument(case, observation, names.parameters)
        or _changed_result(observation)
        or _wrong_gradient(expected, value, names.parameters)
        or _unlike_the_first(case, observation)
    )


def _changed_argument(
    case: Case, observation: Observation, parameters: tuple[str, ...]
) -> Mismatch | None:
    before = (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))
    after = observation.arguments_after
    if agree(before, after):
        return None
    names = [f"argument {position}" for position in range(1, len(case.arguments) + 1)]
    labels = [by_parameter(name, parameters) for name in names]
    labels += [f"`{name}`" for name in sorted(case.keywords)]
    changed = [
        label
        for label, *values in zip(labels, before, after, strict=False)
        if len(before) == len(after) and not agree(*values)
    ]
    text = f"it changes {' and '.join(changed) or 'its arguments'}, which the caller still needs"
    return Mismatch(Verdict.MUTATED_INPUT, text, text, "Work on a copy, or make a new array.")


def _changed_result(observation: Observation) -> Mismatch | None:
    if observation.later is None:
        return None
    return Mismatch(
        Verdict.MUTATED_RESULT,
        "the result is right when it is returned, and a later call changes it",
        "the result is right when it is returned, and a later call changes it",
        "Make a new array or list in every call: all calls share the objects outside the function, "
        "and also a default argument such as `[]`.",
    )


def _wrong_gradient(expected: Any, value: Any, parameters: tuple[str, ...]) -> Mismatch | None:
    if not isinstance(expected, Differentiated):
        return None
    return compare_gradients(expected.gradients, value.gradients, parameters)


def _unlike_the_first(case: Case, observation: Observation) -> Mismatch | None:
    if agree(observation.value, observation.again):
        return None
    text = "a second call with the same arguments gives another result"
    advice = "Does it draw random numbers, or keep something from the first call?"
    if case.setup:
        text = "a second call, in train mode, gives another result than the first, in eval mode"
        advice = "Does it use dropout, draw random numbers, or keep something from the first call?"
    return Mismatch(Verdict.NONDETERMINISTIC, text, text, advice)


def _message(key: AnswerKey, index: int, mismatch: Mismatch, more: Iterable[str]) -> str:
    note = key.cases[index].note
    general = mismatch.in_general
    if index < key.public:
        first = f"On the case “{note}”: {mismatch.text}."
    else:
        first = f"Right on the public cases. On a hidden one ({note}), {general}."
    return " ".join(sentence for sentence in (first, *more) if sentence)


def _matching(name: str, forbidden: Sequence[str]) -> str | None:
    """Return the first pattern of `forbidden` that matches this name, or None."""
    return next((pattern for pattern in forbidden if fnmatchcase(name, pattern)), None)
