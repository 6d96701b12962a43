"""Give a wrong answer the name of a known mistake, if it has earned it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from ..exercise.model import Case
from ..probe.values import Differentiated, Observation, Raised, Tensor, output
from .agreement import agree
from .compare import Mismatch, compare_exception
from .faults import fault
from .keys import KeyedMisconception
from .measured import within


@dataclass(frozen=True)
class Trial:
    """A case, its expected value, what the answer did, and the mismatch if that is wrong."""

    case: Case
    expected: Any
    observation: Observation
    mismatch: Mismatch | None


def earned_names(
    misconceptions: Sequence[KeyedMisconception], trials: Sequence[Trial]
) -> tuple[KeyedMisconception, ...]:
    """Return the misconception that the answer makes, or the pair of them, or an empty tuple.

    A misconception earns its name if it behaves like the answer on more than half of the cases on
    which the answer fails, and is right on every case on which the answer is. The exception to the
    second condition are cases that ask for an exception; see `_fails_elsewhere`. Exceptions, and
    results without a float, often agree by chance: they count only if all failing cases agree. Of
    several misconceptions, the one that agrees on the most cases wins; a draw gives no name. For
    pairs, see `_earned_pair`.
    """
    fitting = [m for m in misconceptions if not _fails_elsewhere(m, trials)]
    earned = [(agreement, m) for m in fitting if (agreement := _agreement(m, trials))]
    most = max((agreement for agreement, _ in earned), default=None)
    best = [misconception for agreement, misconception in earned if agreement == most]
    if most is None or most[0] < sum(1 for trial in trials if trial.mismatch):
        pair = _earned_pair(fitting, trials)
        if pair and (len(best) != 1 or best[0] in pair):
            return pair
    return tuple(best) if len(best) == 1 else ()


def _earned_pair(
    fitting: Sequence[KeyedMisconception], trials: Sequence[Trial]
) -> tuple[KeyedMisconception, ...]:
    """Return the only pair of misconceptions that together explain every failing case, or ().

    On each such case the answer behaves like the first or the second, and the other misconception
    either behaves the same or is right there, unless an exception hides its behaviour. Each of the
    two explains a case that the other does not, and at least one of those results holds a float.
    The first of the pair explains the first failing case.
    """
    explanations = [_explanation(misconception, trials) for misconception in fitting]
    pairs = [
        pair
        for pair in itertools.combinations(range(len(fitting)), 2)
        if _explain_all(*(explanations[at] for at in pair))
    ]
    if len(pairs) != 1:
        return ()
    first, second = sorted(pairs[0], key=lambda at: explanations[at][0] not in _SAME)
    return fitting[first], fitting[second]


class _Fit(Enum):
    """How a misconception fits a case on which the answer fails."""

    SAME = "does the same"
    SAME_NUMBERS = "does the same, and numbers tell so"
    RIGHT = "is right there"
    HIDDEN = "does something else, which an exception may hide"
    OTHER = "does something else"


_SAME = (_Fit.SAME, _Fit.SAME_NUMBERS)


def _explanation(misconception: KeyedMisconception, trials: Sequence[Trial]) -> list[_Fit]:
    """Return how the misconception fits each case on which the answer fails."""
    fits = []
    for trial, known in zip(trials, misconception.observations, strict=False):
        if not trial.mismatch:
            continue
        value = trial.observation.value
        if _fails_alike(trial, known):
            fits.append(_Fit.SAME_NUMBERS if _has_floats(output(value)) else _Fit.SAME)
        elif fault(trial.case, trial.expected, known) is None:
            fits.append(_Fit.RIGHT)
        else:
            fits.append(_Fit.HIDDEN if isinstance(value, Raised) else _Fit.OTHER)
    return fits


def _explain_all(first: Sequence[_Fit], second: Sequence[_Fit]) -> bool:
    """Return True if the two together explain every case; see `_earned_pair`."""
    pairs = list(zip(first, second, strict=True))
    alone = [
        [fit for fit, other in ordered if fit in _SAME and other is _Fit.RIGHT]
        for ordered in (pairs, list(zip(second, first, strict=True)))
    ]
    return (
        all(a in _SAME or b in _SAME for a, b in pairs)
        and not any(_Fit.OTHER in pair for pair in pairs)
        and all(alone)
        and any(_Fit.SAME_NUMBERS in fits for fits in alone)
    )


def explained_cases(misconception: KeyedMisconception, trials: Sequence[Trial]) -> list[int]:
    """Return the indices of the cases on which the answer fails as the misconception does."""
    return [
        at
        for at, (trial, known) in enumerate(zip(trials, misconception.observations, strict=False))
        if trial.mismatch and _fails_alike(trial, known)
    ]


def compared_with_released(
    released: KeyedMisconception, trials: Sequence[Trial], at: int, noun: str
) -> str:
    """Say how the released function or class behaves on a case on which the answer fails."""
    trial, known = trials[at], released.observations[at]
    if fault(trial.case, trial.expected, known) is None:
        return f"The {noun} that you were given is right here: what have you changed in it since?"
    if agree(known, trial.observation):
        return f"Here it still behaves exactly like the {noun} that you were given."
    return ""


def _agreement(
    misconception: KeyedMisconception, trials: Sequence[Trial]
) -> tuple[int, int] | None:
    """Count the failing cases on which it does what the answer does, and those also in gradients.

    Return None if they are too few to earn a name.
    """
    failing = [
        (trial, known)
        for trial, known in zip(trials, misconception.observations, strict=False)
        if trial.mismatch
    ]
    alike = [(trial, known) for trial, known in failing if _fails_alike(trial, known)]
    with_floats = sum(_has_floats(output(trial.observation.value)) for trial, _ in alike)
    if len(alike) < len(failing) and 2 * with_floats <= len(failing):
        return None
    return len(alike), sum(agree(known, trial.observation) for trial, known in alike)


def _has_floats(value: Any) -> bool:
    """Return True if a result contains a floating-point number anywhere."""
    if isinstance(value, tuple | list):
        return any(map(_has_floats, value))
    if isinstance(value, dict):
        return any(map(_has_floats, value.values()))
    if isinstance(value, Tensor):
        return value.array.dtype.kind == "f"
    return isinstance(value, float) or getattr(value, "dtype", np.dtype(bool)).kind == "f"


def _fails_alike(trial: Trial, known: Observation) -> bool:
    """Return True if the misconception, observed as `known`, fails as the answer does.

    If the output is wrong, gradients do not matter. Two exceptions are alike if they have the same
    type and message, or, on a case that asks for an exception, if the same is wrong with them.
    """
    observed = trial.observation
    if trial.case.raises and trial.mismatch:
        mismatch = compare_exception(trial.case.raises, known.value)
        return mismatch is not None and mismatch.in_general == trial.mismatch.in_general
    if isinstance(observed.value, Raised) and isinstance(known.value, Raised):
        same_type = observed.value.type_name == known.value.type_name
        return same_type and observed.value.message == known.value.message
    if trial.case.tolerance is not None:
        return within(known.value, observed.value, trial.case.tolerance / 2)
    wrong_output = not agree(output(trial.expected), output(observed.value))
    if isinstance(observed.value, Differentiated) and wrong_output:
        return agree(_without_gradients(known), _without_gradients(observed))
    return agree(known, observed)


def _without_gradients(observation: Observation) -> Observation:
    return replace(observation, value=output(observation.value), again=output(observation.again))


def _fails_elsewhere(misconception: KeyedMisconception, trials: Sequence[Trial]) -> bool:
    """Return True if the misconception fails on a case on which the answer is right.

    A case that asks for an exception counts only if the misconception fails on no other case.
    Nearly all misconceptions omit the exception, and an answer may raise it and still make the
    mistake that the name describes.
    """
    failed = [
        trial
        for trial, known in zip(trials, misconception.observations, strict=False)
        if fault(trial.case, trial.expected, known) is not None
    ]
    about_exceptions = all(trial.case.raises for trial in failed)
    return any(
        trial.mismatch is None and (about_exceptions or trial.case.raises is None)
        for trial in failed
    )
