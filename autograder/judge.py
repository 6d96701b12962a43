"""Judge what an answer did: a verdict, and the name of the mistake that it equals.

One engine serves the self-check in the notebook and the grader; they differ in their cases only.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compare import Mismatch, agree, compare
from .exercise import Case, Exercise
from .untrusted import wire
from .untrusted.probe import Call, observe
from .untrusted.values import Observation, Raised
from .verdict import Judgement, Verdict


@dataclass(frozen=True)
class KeyedMisconception:
    """A misconception as data: its name, its hint, and what it does on each case."""

    name: str
    hint: str
    observations: tuple[Observation, ...]


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
        return [(case.arguments, case.keywords) for case in self.cases]


def public_cases(exercise: Exercise) -> tuple[Case, ...]:
    """The cases that travel with the release: the same for everyone."""
    seed = int.from_bytes(hashlib.sha256(exercise.name.encode()).digest()[:8], "little")
    return tuple(exercise.cases(np.random.default_rng(seed)))


def build_key(exercise: Exercise, public: Iterable[Case], hidden: Iterable[Case]) -> AnswerKey:
    """Run the reference and every misconception on the cases.

    Raises ValueError if the reference itself fails on one of them.
    """
    shown = tuple(public)
    cases = (*shown, *hidden)
    right = observe_quietly(exercise.reference, cases)
    for case, observation in zip(cases, right, strict=True):
        if isinstance(observation.value, Raised):
            raise ValueError(
                f"{exercise.name}: the reference raises {observation.value.type_name} on the case "
                f"{case.note!r}: {observation.value.message}"
            )
    return AnswerKey(
        exercise.name,
        cases,
        len(shown),
        tuple(observation.value for observation in right),
        tuple(
            KeyedMisconception(m.name, m.hint, tuple(observe_quietly(m.wrong, cases)))
            for m in exercise.misconceptions
        ),
    )


def observe_quietly(function: Callable[..., Any], cases: Iterable[Case]) -> list[Observation]:
    """Observe a function in this process, in the form in which the sandbox would report it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # that a mistake divides by zero is no news
        calls = [(case.arguments, case.keywords) for case in cases]
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
    if isinstance(value, Raised):
        line = f" (line {value.line} of its cell)" if value.line else ""
        return Mismatch(
            Verdict.EXCEPTION, f"it raises {value.type_name}: {value.message[:300]}{line}"
        )
    mismatch = compare(expected, value)
    if mismatch:
        return mismatch
    before = (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))
    if not agree(before, observation.arguments_after):
        return Mismatch(Verdict.MUTATED_INPUT, "it changes its argument; the caller still needs it")
    if not agree(value, observation.again):
        return Mismatch(
            Verdict.NONDETERMINISTIC, "a second call with the same arguments gives another result"
        )
    return None


def diagnose(
    key: AnswerKey, observations: Sequence[Observation], first: int
) -> KeyedMisconception | None:
    """The misconception that the answer, which fails on case `first`, equals or most resembles.

    One that does the same on every case is it. Otherwise, for an answer with more than one fault,
    it is the one that gives the same wrong value on case `first` and agrees on the most public
    cases (of all cases, if only a hidden one fails); None without such a value, or with a draw.
    """

    def agreements(misconception: KeyedMisconception) -> list[bool]:
        return list(map(agree, misconception.observations, observations))

    agreed = [(one, agreements(one)) for one in key.misconceptions]
    for misconception, cases in agreed:
        if all(cases):
            return misconception
    if isinstance(observations[first].value, Raised):
        return None
    end = key.public if first < key.public else len(key.cases)
    alike = [(sum(cases[:end]), one) for one, cases in agreed if cases[first]]
    most = max((count for count, _ in alike), default=0)
    best = [one for count, one in alike if count == most]
    return best[0] if len(best) == 1 else None


def _message(key: AnswerKey, index: int, mismatch: Mismatch) -> str:
    note = key.cases[index].note
    if index < key.public:
        return f"On the case “{note}”: {mismatch.text}."
    return f"Right on the public cases. On a hidden one ({note}), {_IN_GENERAL[mismatch.verdict]}."


_IN_GENERAL = {
    Verdict.EXCEPTION: "it raises an exception",
    Verdict.WRONG_VALUE: "a value is wrong",
    Verdict.WRONG_SHAPE: "the shape is wrong",
    Verdict.WRONG_DTYPE: "the dtype is wrong",
    Verdict.WRONG_TYPE: "the type is wrong",
    Verdict.NONFINITE: "a value is NaN or infinite",
    Verdict.MUTATED_INPUT: "it changes its argument",
    Verdict.NONDETERMINISTIC: "a second call gives another result",
}
