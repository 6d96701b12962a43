"""The arrays of a result beside those that are right, to look for what their differences share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe.values import Differentiated, Tensor, output
from .agreement import close, family, input_tolerance, largest, paired
from .compare import Place, result
from .naming import Trial
from .words import NAMELESS, Names, by_parameter


@dataclass(frozen=True)
class Difference:
    """An array that is wrong, by its place in the result: what is right, what came, and where."""

    place: str
    alone: bool  # no other array of the result is wrong, and there are others
    wanted: np.ndarray
    given: np.ndarray
    wrong: np.ndarray
    trial: Trial


CLEAR = 1e-3
"""A number that is off by such a share of the largest one shows it in its first digits."""


def first_clear(trials: Sequence[Trial], indices: Sequence[int]) -> int:
    """The first of the cases in whose numbers a reader sees what is wrong, or the first of all."""
    return next((at for at in indices if _is_clear(trials[at])), indices[0])


def _is_clear(trial: Trial) -> bool:
    """True unless floats are all that is wrong, and each hardly differs from the right one."""
    wrong = differences(trial, NAMELESS)
    return not wrong or any(
        one.wanted.dtype.kind != "f" or bool((_off(one) > CLEAR).any()) for one in wrong
    )


def _off(one: Difference) -> np.ndarray:
    """By which share of the largest right number each wrong one is off; by all of it if NaN."""
    largest = float(np.max(np.abs(one.wanted), where=np.isfinite(one.wanted), initial=0.0))
    with np.errstate(invalid="ignore"):
        off = np.abs(one.given[one.wrong] - one.wanted[one.wrong]) / (largest or 1.0)
    return np.where(np.isfinite(off), off, np.inf)


class IncomparableError(Exception):
    """The result has not the form of the right one."""


def differences(trial: Trial, names: Names) -> list[Difference]:
    """The arrays of a result that are wrong; of the gradients, where the output is right.

    Empty if the result has another form than the right one.
    """
    try:
        pairs = list(_outputs(trial, names)) or list(_gradients(trial, names))
    except IncomparableError:
        return []
    wrong = [pair for pair in pairs if pair[3].any()]
    alone = len(wrong) == 1 < len(pairs)
    return [
        Difference(place, alone, wanted, given, where, trial)
        for place, wanted, given, where in wrong
    ]


Pair = tuple[str, np.ndarray, np.ndarray, np.ndarray]


def _outputs(trial: Trial, names: Names) -> list[Pair]:
    """Every array of the output, or nothing if all are right."""
    value = trial.observation.value
    least = input_tolerance([*trial.case.arguments, *trial.case.keywords.values()])
    pairs = list(_arrays(output(trial.expected), output(value), result(names.returned), least))
    return pairs if any(wrong.any() for *_, wrong in pairs) else []


def _arrays(expected: Any, actual: Any, place: Place, least: float) -> Iterator[Pair]:
    if isinstance(expected, tuple | list):
        if not isinstance(actual, tuple | list) or len(actual) != len(expected):
            raise IncomparableError
        for position, both in enumerate(zip(expected, actual, strict=True), start=1):
            yield from _arrays(*both, place.item(position, expected), least)
    elif isinstance(expected, dict):
        if not isinstance(actual, dict) or actual.keys() != expected.keys():
            raise IncomparableError
        for name in expected:
            yield from _arrays(expected[name], actual[name], place.entry(name), least)
    elif isinstance(expected, Tensor):
        if not isinstance(actual, Tensor):
            raise IncomparableError
        yield from _arrays(expected.array, actual.array, place, least)
    elif isinstance(expected, np.ndarray | np.generic | bool | int | float):
        if not isinstance(actual, np.ndarray | np.generic | bool | int | float):
            raise IncomparableError
        wanted, given = np.asarray(expected), np.asarray(actual)
        if wanted.shape != given.shape or family(wanted) != family(given):
            raise IncomparableError
        yield place.full, wanted, given, ~close(wanted, given, least=least)


def _gradients(trial: Trial, names: Names) -> Iterator[Pair]:
    """Every gradient, where the output is right."""
    expected, value = trial.expected, trial.observation.value
    if not isinstance(expected, Differentiated) or not isinstance(value, Differentiated):
        return
    right, mine = expected.gradients, value.gradients
    if not isinstance(right, dict) or not isinstance(mine, dict):
        return
    for name, (wanted, given) in paired(right, mine):
        if wanted.shape != given.shape or family(wanted) != family(given):
            raise IncomparableError
        label = by_parameter(name, names.parameters)
        yield f"the gradient of {label}", wanted, given, ~close(wanted, given, largest(right))
