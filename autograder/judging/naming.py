"""Give a wrong answer the name of a known mistake, if it has earned it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ..exercise.model import Case
from ..probe.values import Differentiated, Observation, Raised, Tensor, output
from .agreement import agree
from .compare import Mismatch, compare_exception
from .measured import within


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
class Trial:
    """A case, what is right on it, what the answer did, and what is wrong with that, if it is."""

    case: Case
    expected: Any
    observation: Observation
    mismatch: Mismatch | None


Misfit = Callable[[Case, Any, Observation], Mismatch | None]
"""What is wrong with an observation on a case, if anything."""


def earned_names(
    misconceptions: Sequence[KeyedMisconception], trials: Sequence[Trial], misfit: Misfit
) -> tuple[KeyedMisconception, ...]:
    """The misconception that the answer makes, or the two, or none.

    One does what the answer does on more than half of the cases on which the answer fails, and is
    right wherever the answer is, but for exceptions that a case asks for; see `_fails_elsewhere`.
    Exceptions, and results without a float in them, are too often alike by chance: they count only
    if all cases that fail agree. Of several, it is the one that agrees on the most cases; a draw
    earns nothing. For two, see `_earned_pair`.
    """
    fitting = [one for one in misconceptions if not _fails_elsewhere(one, trials, misfit)]
    earned = [(agreement, one) for one in fitting if (agreement := _agreement(one, trials))]
    most = max((agreement for agreement, _ in earned), default=None)
    best = [one for agreement, one in earned if agreement == most]
    if most is None or most[0] < sum(1 for trial in trials if trial.mismatch):
        pair = _earned_pair(fitting, trials, misfit)
        if pair and (len(best) != 1 or best[0] in pair):
            return pair
    return tuple(best) if len(best) == 1 else ()


def _earned_pair(
    fitting: Sequence[KeyedMisconception], trials: Sequence[Trial], misfit: Misfit
) -> tuple[KeyedMisconception, ...]:
    """The only two of the misconceptions that together explain every case that fails, or none.

    On each, the answer does what one of them does, and the other does the same or is right there,
    unless an exception hides it. Each explains a case alone, and one of them a result that holds a
    float. The first explains the first case that fails.
    """
    found = [_explanation(one, trials, misfit) for one in fitting]
    pairs = [
        pair
        for pair in itertools.combinations(range(len(fitting)), 2)
        if _explain_all(*(found[at] for at in pair))
    ]
    if len(pairs) != 1:
        return ()
    first, second = sorted(pairs[0], key=lambda at: found[at][0] not in _SAME)
    return fitting[first], fitting[second]


class _Fit(Enum):
    """How a misconception fits a case on which the answer fails."""

    SAME = "does the same"
    SAME_NUMBERS = "does the same, and numbers tell so"
    RIGHT = "is right there"
    HIDDEN = "does something else, which an exception may hide"
    OTHER = "does something else"


_SAME = (_Fit.SAME, _Fit.SAME_NUMBERS)


def _explanation(
    misconception: KeyedMisconception, trials: Sequence[Trial], misfit: Misfit
) -> list[_Fit]:
    """How it fits each case on which the answer fails."""
    fits = []
    for trial, theirs in zip(trials, misconception.observations, strict=False):
        if not trial.mismatch:
            continue
        value = trial.observation.value
        if _fails_alike(trial, theirs):
            fits.append(_Fit.SAME_NUMBERS if _has_floats(output(value)) else _Fit.SAME)
        elif misfit(trial.case, trial.expected, theirs) is None:
            fits.append(_Fit.RIGHT)
        else:
            fits.append(_Fit.HIDDEN if isinstance(value, Raised) else _Fit.OTHER)
    return fits


def _explain_all(one: Sequence[_Fit], other: Sequence[_Fit]) -> bool:
    """True if the two explain every case together; see `_earned_pair`."""
    both = list(zip(one, other, strict=True))
    alone = [
        [mine for mine, theirs in pairs if mine in _SAME and theirs is _Fit.RIGHT]
        for pairs in (both, list(zip(other, one, strict=True)))
    ]
    return (
        all(a in _SAME or b in _SAME for a, b in both)
        and not any(_Fit.OTHER in pair for pair in both)
        and all(alone)
        and any(_Fit.SAME_NUMBERS in fits for fits in alone)
    )


def explained(misconception: KeyedMisconception, trials: Sequence[Trial]) -> list[int]:
    """The indices of the cases on which the answer fails as the misconception does."""
    return [
        at
        for at, (trial, theirs) in enumerate(zip(trials, misconception.observations, strict=False))
        if trial.mismatch and _fails_alike(trial, theirs)
    ]


def beside_the_released(
    released: KeyedMisconception, trials: Sequence[Trial], at: int, misfit: Misfit, noun: str
) -> str:
    """Say what the function or class of a debug exercise does on a case that the answer fails."""
    trial, theirs = trials[at], released.observations[at]
    if misfit(trial.case, trial.expected, theirs) is None:
        return f"The {noun} that you were given is right here: what have you changed in it since?"
    if agree(theirs, trial.observation):
        return f"Here it still does what the {noun} that you were given does."
    return ""


def _agreement(
    misconception: KeyedMisconception, trials: Sequence[Trial]
) -> tuple[int, int] | None:
    """On how many failing cases it does what the answer does, and on how many to the gradient.

    None if they are too few to earn a name.
    """
    failing = [
        (trial, theirs)
        for trial, theirs in zip(trials, misconception.observations, strict=False)
        if trial.mismatch
    ]
    alike = [(trial, theirs) for trial, theirs in failing if _fails_alike(trial, theirs)]
    telling = sum(_has_floats(output(trial.observation.value)) for trial, _ in alike)
    if len(alike) < len(failing) and 2 * telling <= len(failing):
        return None
    return len(alike), sum(agree(theirs, trial.observation) for trial, theirs in alike)


def _has_floats(value: Any) -> bool:
    """True if a result holds a floating number anywhere."""
    if isinstance(value, tuple | list):
        return any(map(_has_floats, value))
    if isinstance(value, dict):
        return any(map(_has_floats, value.values()))
    if isinstance(value, Tensor):
        return value.array.dtype.kind == "f"
    return isinstance(value, float) or getattr(value, "dtype", np.dtype(bool)).kind == "f"


def _fails_alike(trial: Trial, theirs: Observation) -> bool:
    """True if the misconception fails as the answer does; of a wrong output, whatever gradients.

    Two exceptions are alike if they say the same; where one is asked for, if the same is wrong.
    """
    ours = trial.observation
    if trial.case.raises and trial.mismatch:
        other = compare_exception(trial.case.raises, theirs.value)
        return other is not None and other.in_general == trial.mismatch.in_general
    if isinstance(ours.value, Raised) and isinstance(theirs.value, Raised):
        same_type = ours.value.type_name == theirs.value.type_name
        return same_type and ours.value.message == theirs.value.message
    if trial.case.tolerance is not None:
        return within(theirs.value, ours.value, trial.case.tolerance / 2)
    wrong_output = not agree(output(trial.expected), output(ours.value))
    if isinstance(ours.value, Differentiated) and wrong_output:
        return agree(_without_gradients(theirs), _without_gradients(ours))
    return agree(theirs, ours)


def _without_gradients(observation: Observation) -> Observation:
    return replace(observation, value=output(observation.value), again=output(observation.again))


def _fails_elsewhere(
    misconception: KeyedMisconception, trials: Sequence[Trial], misfit: Misfit
) -> bool:
    """True if it fails on a case on which the answer is right.

    A case that asks for an exception counts only against a misconception that fails on no other:
    nearly all leave the exception out, which says nothing of an answer that raises it and makes the
    mistake that the name is about.
    """
    failed = [
        trial
        for trial, theirs in zip(trials, misconception.observations, strict=False)
        if misfit(trial.case, trial.expected, theirs) is not None
    ]
    about_exceptions = all(trial.case.raises for trial in failed)
    return any(
        trial.mismatch is None and (about_exceptions or trial.case.raises is None)
        for trial in failed
    )
