"""Find a simple relation between wrong numbers and the right ones, or an argument of the call.

Each function takes the wrong arrays of all cases and returns a claim that is true of each case, or
an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..probe.values import Tensor
from .agreement import close
from .differences import Difference
from .words import numbers

SUM_TOLERANCE = 1e-4
"""A sum within this distance of 1 counts as 1."""

FEWEST_RESULTS = 3
"""A relation between single numbers needs at least this many cases; with fewer, one fits always."""

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the logarithm of": np.log,
    "the exponential of": np.exp,
    "the square of": np.square,
    "the square root of": np.sqrt,
    "the reciprocal of": np.reciprocal,
    "1 minus": lambda a: 1 - a,
}

PLACES_FROM_THE_END = {-1: "the last axis", -2: "the second-to-last axis", -3: "the third-to-last"}


def along_another_axis(wrong: Sequence[Difference]) -> str:
    """Return a claim if each case has an array that sums to 1 along another axis than it should."""
    pairs = [pair for diffs in _by_case(wrong) if (pair := _axes_of_sums(diffs))]
    if not pairs or len(pairs) < len(_by_case(wrong)):
        return ""
    right = _only_axis(axis for axis, _ in pairs)
    made = _only_axis(axis for _, axis in pairs)
    asked = f"along {right}" if right else "along one axis"
    return (
        f"the numbers should sum to 1 {asked}, and they sum to 1 along {made or 'another'}: over "
        "which axis is the sum taken?"
    )


def no_longer_one(wrong: Sequence[Difference]) -> str:
    """Return a claim if each case has an array whose rows should sum to 1, and some do not."""
    cases = _by_case(wrong)
    if cases and all(any(map(_loses_its_sums, diffs)) for diffs in cases):
        return "the numbers of a row should sum to 1 (or be all 0), and they do not"
    return ""


def function_of_the_right_one(wrong: Sequence[Difference]) -> str:
    """Return a claim if every number is the same simple function of the right number."""
    expected = np.concatenate([np.ravel(diff.expected) for diff in wrong]) if wrong else np.zeros(0)
    if len(np.unique(np.round(expected, 9))) < FEWEST_RESULTS:
        return ""
    for words, function in FUNCTIONS.items():
        with np.errstate(all="ignore"):
            if all(_agree(function(diff.expected), diff.actual) for diff in wrong):
                return f"every number is {words} the right one"
    return ""


def factor_of_single_numbers(wrong: Sequence[Difference]) -> tuple[str, str]:
    """Return a claim, and the same without numbers, if single numbers are off by one factor."""
    pairs = [
        (float(diff.actual), float(diff.expected)) for diff in wrong if diff.expected.ndim == 0
    ]
    if len(pairs) < max(len(wrong), FEWEST_RESULTS) or not all(right for _, right in pairs):
        return "", ""
    factors = [actual / right for actual, right in pairs]
    if (
        len({round(right, 9) for _, right in pairs}) < FEWEST_RESULTS
        or not np.isfinite(factors).all()
    ):
        return "", ""
    if np.allclose(factors, factors[0], rtol=1e-4) and factors[0]:
        general = "every result is off by the same factor"
        return f"every result is {numbers(factors[0], 1.0)[0]} times what it should be", general
    for words, counts in (("large", factors), ("small", [1 / f if f else 0.0 for f in factors])):
        if all(abs(c - round(c)) < SUM_TOLERANCE * c and round(c) > 1 for c in counts):
            text = f"every result is a whole number of times too {words}"
            listed = ", ".join(dict.fromkeys(str(round(count)) for count in counts[:6]))
            return f"{text} ({listed}): is a sum or a mean taken over too much or too little", text
    return "", ""


def off_by_an_argument(wrong: Sequence[Difference], parameters: Sequence[str]) -> str:
    """Return a claim if the same argument is added, subtracted or returned in every case."""
    for position, name in enumerate(parameters):
        arguments = [_argument(diff, position, name) for diff in wrong]
        pairs = [
            (diff, array) for diff, array in zip(wrong, arguments, strict=True) if array is not None
        ]
        if not pairs or len(pairs) < len(wrong) or not all(array.any() for _, array in pairs):
            continue
        if all(_agree(array, diff.actual) for diff, array in pairs):
            return f"the result is `{name}` itself"
        if all(_agree(diff.expected + array, diff.actual) for diff, array in pairs):
            return f"the result is the right one plus `{name}`"
        if all(_agree(diff.expected - array, diff.actual) for diff, array in pairs):
            return f"the result is the right one minus `{name}`"
    return ""


def _by_case(wrong: Sequence[Difference]) -> list[list[Difference]]:
    cases: dict[int, list[Difference]] = {}
    for diff in wrong:
        cases.setdefault(id(diff.trial), []).append(diff)
    return list(cases.values())


def _axes_of_sums(diffs: Sequence[Difference]) -> tuple[int, int] | None:
    """Return the axis along which an array should sum to 1, and the one along which it does."""
    for diff in diffs:
        axes = [
            -1 - axis for axis in range(diff.expected.ndim) if diff.expected.shape[-1 - axis] > 1
        ]
        right = [axis for axis in axes if _sums_to_one(diff.expected, axis)]
        made = [axis for axis in axes if _sums_to_one(diff.actual, axis)]
        if right and made and not set(right) & set(made):
            return right[0], made[0]
    return None


def _sums_to_one(array: np.ndarray, axis: int) -> bool:
    """Return True if each line along `axis` sums to 1, or is all 0 as some masked rows are."""
    sums = array.sum(axis=axis, dtype=float)
    empty = ~array.any(axis=axis)
    return bool(np.all(empty | (np.abs(sums - 1) < SUM_TOLERANCE)) and not empty.all())


def _loses_its_sums(diff: Difference) -> bool:
    if diff.expected.ndim < 1 or diff.expected.shape[-1] < 2 or not diff.expected.size:
        return False
    return _sums_to_one(diff.expected, -1) and not _sums_to_one(diff.actual, -1)


def _only_axis(axes: Iterable[int]) -> str:
    """Return the words for the axis if it is the same in every case, otherwise an empty text."""
    distinct = set(axes)
    return PLACES_FROM_THE_END.get(distinct.pop(), "") if len(distinct) == 1 else ""


def _argument(diff: Difference, position: int, name: str) -> np.ndarray | None:
    """Return the argument of a call as an array, if it has the shape of the result."""
    case = diff.trial.case
    value = case.keywords.get(
        name, case.arguments[position] if position < len(case.arguments) else None
    )
    array = value.array if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.ndim:
        return None
    return array if array.shape == diff.expected.shape else None


def _agree(first: np.ndarray, second: np.ndarray) -> bool:
    """Return True if two arrays of floats agree and are finite."""
    first = np.asarray(first, dtype=second.dtype)
    return bool(np.isfinite(first).all() and close(first, second).all())
