"""Give a wrong answer the name of a known mistake, if it has earned it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..sandbox.untrusted.values import Differentiated, Observation, Raised, Tensor, output
from .agreement import agree
from .compare import Mismatch, compare_exception
from .exercise import Case
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


def earned_name(
    misconceptions: Sequence[KeyedMisconception], trials: Sequence[Trial], misfit: Misfit
) -> KeyedMisconception | None:
    """The misconception that the answer makes, or None.

    It does what the answer does on more than half of the cases on which the answer fails, and is
    right wherever the answer is. Exceptions, and results without a float in them, are too often
    alike by chance: they count only if all cases that fail agree. Of several, it is the one that
    agrees on the most cases; a draw earns nothing.
    """
    earned = [
        (agreement, one)
        for one in misconceptions
        if (agreement := _agreement(one, trials)) and not _fails_elsewhere(one, trials, misfit)
    ]
    most = max((agreement for agreement, _ in earned), default=None)
    best = [one for agreement, one in earned if agreement == most]
    return best[0] if len(best) == 1 else None


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
    """True if it fails on a case on which the answer is right."""
    return any(
        misfit(trial.case, trial.expected, theirs) is not None
        for trial, theirs in zip(trials, misconception.observations, strict=False)
        if trial.mismatch is None
    )
