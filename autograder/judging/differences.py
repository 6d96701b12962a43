"""Pair the arrays of a wrong result with the expected arrays, to look for patterns in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe.values import Differentiated, Tensor, output
from .agreement import close, family, input_tolerance, largest, pair_gradients
from .compare import Place, result
from .naming import Trial
from .words import NAMELESS, Names, by_parameter


@dataclass(frozen=True)
class Difference:
    """A wrong array, by its place in the result: expected, actual, and where they differ."""

    place: str
    alone: bool  # the result has other arrays, and none of them is wrong
    expected: np.ndarray
    actual: np.ndarray
    wrong: np.ndarray  # boolean, True where the two disagree
    trial: Trial


CLEAR = 1e-3
"""An error larger than this share of the largest number shows in a number's first digits."""


def first_clear(trials: Sequence[Trial], indices: Sequence[int]) -> int:
    """Return the first of the cases whose numbers show clearly what is wrong, or else the first."""
    return next((at for at in indices if _is_clear(trials[at])), indices[0])


def _is_clear(trial: Trial) -> bool:
    """Return False if only floats are wrong, and each is very close to its expected value."""
    wrong = differences(trial, NAMELESS)
    return not wrong or any(
        difference.expected.dtype.kind != "f" or bool((_errors(difference) > CLEAR).any())
        for difference in wrong
    )


def _errors(difference: Difference) -> np.ndarray:
    """Return each wrong number's error as a share of the largest expected number; inf for NaN."""
    expected, wrong = difference.expected, difference.wrong
    largest = float(np.max(np.abs(expected), where=np.isfinite(expected), initial=0.0))
    with np.errstate(invalid="ignore"):
        errors = np.abs(difference.actual[wrong] - expected[wrong]) / (largest or 1.0)
    return np.where(np.isfinite(errors), errors, np.inf)


class IncomparableError(Exception):
    """Raised if the form of a result differs from that of the expected result."""


def differences(trial: Trial, names: Names) -> list[Difference]:
    """Return the wrong arrays of a result, or the wrong gradients if its output is right.

    Empty if the form of the result differs from that of the expected result.
    """
    try:
        pairs = list(_outputs(trial, names)) or list(_gradients(trial, names))
    except IncomparableError:
        return []
    wrong = [pair for pair in pairs if pair[3].any()]
    alone = len(wrong) == 1 < len(pairs)
    return [
        Difference(place, alone, expected, actual, where, trial)
        for place, expected, actual, where in wrong
    ]


Pair = tuple[str, np.ndarray, np.ndarray, np.ndarray]


def _outputs(trial: Trial, names: Names) -> list[Pair]:
    """Return every array of the output, or an empty list if all are right."""
    value = trial.observation.value
    min_tolerance = input_tolerance([*trial.case.arguments, *trial.case.keywords.values()])
    pairs = list(
        _arrays(output(trial.expected), output(value), result(names.returned), min_tolerance)
    )
    return pairs if any(wrong.any() for *_, wrong in pairs) else []


def _arrays(expected: Any, actual: Any, place: Place, min_tolerance: float) -> Iterator[Pair]:
    if isinstance(expected, tuple | list):
        if not isinstance(actual, tuple | list) or len(actual) != len(expected):
            raise IncomparableError
        for position, items in enumerate(zip(expected, actual, strict=True), start=1):
            yield from _arrays(*items, place.item(position, expected), min_tolerance)
    elif isinstance(expected, dict):
        if not isinstance(actual, dict) or actual.keys() != expected.keys():
            raise IncomparableError
        for name in expected:
            yield from _arrays(expected[name], actual[name], place.entry(name), min_tolerance)
    elif isinstance(expected, Tensor):
        if not isinstance(actual, Tensor):
            raise IncomparableError
        yield from _arrays(expected.array, actual.array, place, min_tolerance)
    elif isinstance(expected, np.ndarray | np.generic | bool | int | float):
        if not isinstance(actual, np.ndarray | np.generic | bool | int | float):
            raise IncomparableError
        expected_array, actual_array = np.asarray(expected), np.asarray(actual)
        if expected_array.shape != actual_array.shape or family(expected_array) != family(
            actual_array
        ):
            raise IncomparableError
        yield (
            place.full,
            expected_array,
            actual_array,
            ~close(expected_array, actual_array, min_tolerance=min_tolerance),
        )


def _gradients(trial: Trial, names: Names) -> Iterator[Pair]:
    """Yield every gradient, for a result whose output is right."""
    expected, value = trial.expected, trial.observation.value
    if not isinstance(expected, Differentiated) or not isinstance(value, Differentiated):
        return
    expected_gradients, gradients = expected.gradients, value.gradients
    if not isinstance(expected_gradients, dict) or not isinstance(gradients, dict):
        return
    for name, (first, second) in pair_gradients(expected_gradients, gradients):
        if first.shape != second.shape or family(first) != family(second):
            raise IncomparableError
        label = by_parameter(name, names.parameters)
        yield (
            f"the gradient of {label}",
            first,
            second,
            ~close(first, second, largest(expected_gradients)),
        )
