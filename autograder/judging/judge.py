"""Judge what an answer did: a verdict, and the name of the mistake that it equals.

One engine serves the self-check in the notebook and the grader; they differ in their cases only.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..sandbox.untrusted import wire
from ..sandbox.untrusted.probe import observe
from ..sandbox.untrusted.values import Call, Differentiated, Observation, Raised, Unloadable
from .compare import (
    Mismatch,
    agree,
    compare,
    compare_exception,
    compare_gradients,
    compare_parameters,
    describe,
    output,
)
from .exercise import Case, Exercise
from .verdict import Judgement, Verdict


@dataclass(frozen=True)
class KeyedMisconception:
    """A misconception: its name, its hint, and what it does on each case, found once asked for."""

    name: str
    hint: str
    find: Callable[[], tuple[Observation, ...]]

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """What it does on each case; a right answer never asks."""
        return self.find()


@dataclass(frozen=True)
class AnswerKey:
    """All that judging needs, as data: the cases, what is right on each, and what mistakes do.

    The first `public` cases may be shown to the student with all their numbers.
    """

    exercise: str
    cases: tuple[Case, ...]
    public: int
    expected: tuple[Any, ...]
    misconceptions: tuple[KeyedMisconception, ...]

    @property
    def calls(self) -> list[Call]:
        """The calls to make, in the order of the cases."""
        return [case.call for case in self.cases]

    @property
    def noun(self) -> str:
        """What the student writes: a function, or a class."""
        return "class" if any(case.setup for case in self.cases) else "function"

    @property
    def needs_torch(self) -> bool:
        """True if an answer cannot be judged without torch."""
        return any(call.needs_torch for call in self.calls)


def public_cases(exercise: Exercise) -> tuple[Case, ...]:
    """The cases that travel with the release: the same for everyone."""
    seed = int.from_bytes(hashlib.sha256(exercise.name.encode()).digest()[:8], "little")
    return tuple(exercise.cases(np.random.default_rng(seed)))


def build_key(exercise: Exercise, public: Iterable[Case], hidden: Iterable[Case]) -> AnswerKey:
    """Run the reference on the cases; the misconceptions run when an answer is to be named.

    Raises ValueError if the reference itself fails on one of them, or does not raise what the case
    asks for.
    """
    shown = tuple(public)
    cases = (*shown, *hidden)
    right = observe_quietly(exercise.reference, cases)
    for case, observation in zip(cases, right, strict=True):
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
        if isinstance(value, Unloadable):
            raise ValueError(
                f"{exercise.name}: the weights of the case {case.note!r} do not fit the reference"
            )
    return AnswerKey(
        exercise.name,
        cases,
        len(shown),
        tuple(observation.value for observation in right),
        tuple(
            KeyedMisconception(m.name, m.hint, partial(_observations, m.wrong, cases))
            for m in exercise.misconceptions
        ),
    )


def _observations(function: Callable[..., Any], cases: tuple[Case, ...]) -> tuple[Observation, ...]:
    return tuple(observe_quietly(function, cases))


def observe_quietly(function: Callable[..., Any], cases: Iterable[Case]) -> list[Observation]:
    """Observe a function in this process, in the form in which the sandbox would report it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # that a mistake divides by zero is no news
        calls = [case.call for case in cases]
        observations: list[Observation] = wire.decode(wire.encode(observe(function, calls)))
    return observations


def judge(key: AnswerKey, observations: Sequence[Observation]) -> Judgement:
    """Compare `observations`, one for each case of `key`, with what is right."""
    if len(observations) != len(key.cases):
        return Judgement(
            Verdict.MALFORMED,
            f"{len(observations)} results came back for {len(key.cases)} cases.",
        )
    found = [
        fault(case, expected, observation)
        for case, expected, observation in zip(key.cases, key.expected, observations, strict=True)
    ]
    if not any(found):
        return Judgement(Verdict.PASS, f"Right on all {len(key.cases)} cases.")
    first = next(index for index, mismatch in enumerate(found) if mismatch)
    misconception = diagnose(key, observations, first)
    mismatch = found[first]
    assert mismatch is not None
    message = _message(key, first, mismatch)
    if misconception is None:
        return Judgement(mismatch.verdict, message, case=first)
    name, hint = misconception.name, misconception.hint
    return Judgement(mismatch.verdict, message, misconception=name, hint=hint, case=first)


def fault(case: Case, expected: Any, observation: Observation) -> Mismatch | None:
    """What is wrong with one observation, or None."""
    value = observation.value
    if case.raises:
        return compare_exception(case.raises, value)
    if isinstance(value, Raised):
        line = f" (line {value.line} of its cell)" if value.line else ""
        return Mismatch(
            Verdict.EXCEPTION, f"it raises {value.type_name}: {value.message[:300]}{line}"
        )
    if case.setup and isinstance(value, Unloadable):
        return compare_parameters(case.setup.weights, value.shapes)
    if isinstance(expected, Differentiated) and not isinstance(value, Differentiated):
        text = f"what the class makes is {describe(value)} and should be a torch.nn.Module"
        return Mismatch(Verdict.WRONG_TYPE, text)
    mismatch = compare(output(expected), output(value))
    if mismatch:
        return mismatch
    before = (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))
    if not agree(before, observation.arguments_after):
        return Mismatch(Verdict.MUTATED_INPUT, "it changes its argument; the caller still needs it")
    if isinstance(expected, Differentiated):
        mismatch = compare_gradients(expected.gradients, value.gradients)
        if mismatch:
            return mismatch
    if not agree(value, observation.again):
        text = "a second call with the same arguments gives another result"
        if case.setup:
            text = "called again, in train mode, it gives another result than in eval mode"
        return Mismatch(Verdict.NONDETERMINISTIC, text)
    return None


def diagnose(
    key: AnswerKey, observations: Sequence[Observation], first: int
) -> KeyedMisconception | None:
    """The misconception that the answer, which fails on case `first`, equals or most resembles.

    One that does the same on every case is it. Otherwise, for an answer with more than one fault,
    it is the one that gives the same wrong value on case `first` and agrees on the most public
    cases (of all cases, if only a hidden one fails); None without such a value, or with a draw.
    Where the output is wrong, its gradients do not matter.
    """
    agreed = _agreements(key, observations)
    for misconception, cases in agreed:
        if all(cases):
            return misconception
    value = observations[first].value
    if isinstance(value, Raised):
        return None
    if isinstance(value, Differentiated) and not agree(output(key.expected[first]), value.output):
        agreed = _agreements(key, observations, _outputs_only)
    end = key.public if first < key.public else len(key.cases)
    alike = [(sum(cases[:end]), one) for one, cases in agreed if cases[first]]
    most = max((count for count, _ in alike), default=0)
    best = [one for count, one in alike if count == most]
    return best[0] if len(best) == 1 else None


def _agreements(
    key: AnswerKey,
    observations: Sequence[Observation],
    seen: Callable[[Observation], Observation] = lambda observation: observation,
) -> list[tuple[KeyedMisconception, list[bool]]]:
    """Each misconception, and on which cases what is seen of it and of the answer agree."""
    ours = [seen(one) for one in observations]
    return [
        (m, [agree(seen(t), o) for t, o in zip(m.observations, ours, strict=True)])
        for m in key.misconceptions
    ]


def _outputs_only(observation: Observation) -> Observation:
    value, again = output(observation.value), output(observation.again)
    return Observation(value, observation.arguments_after, again)


def _message(key: AnswerKey, index: int, mismatch: Mismatch) -> str:
    note = key.cases[index].note
    general = mismatch.in_general or _IN_GENERAL[mismatch.verdict]
    if index < key.public:
        return f"On the case “{note}”: {mismatch.text}."
    return f"Right on the public cases. On a hidden one ({note}), {general}."


_IN_GENERAL = {
    Verdict.EXCEPTION: "it raises an exception",
    Verdict.WRONG_EXCEPTION: "it does not raise the exception that the docstring promises",
    Verdict.WRONG_VALUE: "a value is wrong",
    Verdict.WRONG_SHAPE: "the shape is wrong",
    Verdict.WRONG_DTYPE: "the dtype is wrong",
    Verdict.WRONG_TYPE: "the type is wrong",
    Verdict.NONFINITE: "a value is NaN or infinite",
    Verdict.MUTATED_INPUT: "it changes its argument",
    Verdict.NONDETERMINISTIC: "a second call gives another result",
}
