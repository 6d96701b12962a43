"""Give a wrong answer the name of a known mistake, if it has earned it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..sandbox.untrusted.values import Differentiated, Observation, Raised, output
from .agreement import agree
from .compare import Mismatch, compare_exception
from .exercise import Case


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
    right wherever the answer is. Of several, it is the one that agrees on the most cases; a draw
    earns nothing.
    """
    ranked = sorted(
        ((_agreement(one, trials), one) for one in misconceptions),
        key=lambda pair: pair[0],
        reverse=True,
    )
    failing = sum(trial.mismatch is not None for trial in trials)
    earned = [
        (agreement, one)
        for agreement, one in ranked
        if 2 * agreement[0] > failing and not _fails_elsewhere(one, trials, misfit)
    ]
    if not earned or (len(earned) > 1 and earned[0][0] == earned[1][0]):
        return None
    return earned[0][1]


def _agreement(misconception: KeyedMisconception, trials: Sequence[Trial]) -> tuple[int, int]:
    """On how many failing cases it does what the answer does; and on how many to the gradient."""
    alike = exactly = 0
    for trial, theirs in zip(trials, misconception.observations, strict=False):
        if trial.mismatch:
            same = _fails_alike(trial, theirs)
            alike += same
            exactly += same and agree(theirs, trial.observation)
    return alike, exactly


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
