"""Compare what an answer returned with what it should have returned. Values are plain data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .untrusted.values import Foreign, Observation, Raised
from .verdict import Verdict

TOLERANCE = {"float64": 1e-7, "float32": 1e-4}
"""Allowed difference, relative to the value plus the largest value of the array, by dtype."""


@dataclass(frozen=True)
class Mismatch:
    """The first difference found: its verdict, and where and what it is, in words."""

    verdict: Verdict
    text: str


def compare(expected: Any, actual: Any, where: str = "the result") -> Mismatch | None:
    """Return the first difference between `expected` and `actual`, or None if there is none.

    Types must be exact, with two courtesies: float32 and float64 both count as float, and a NumPy
    scalar counts as the Python number that it holds. Values must agree to TOLERANCE, by the coarser
    of the two dtypes.
    """
    if isinstance(actual, Foreign) and actual.type_name.startswith("ndarray["):
        return Mismatch(Verdict.WRONG_DTYPE, f"{where} is {actual.type_name}")
    if isinstance(expected, tuple | list):
        return _compare_items(expected, actual, where)
    if isinstance(expected, np.ndarray | bool | int | float | np.generic):
        return _compare_numbers(expected, actual, where)
    if type(expected) is not type(actual):
        return _wrong_type(expected, actual, where)
    if expected != actual:
        return Mismatch(
            Verdict.WRONG_VALUE, f"{where} is {actual!r:.80} and should be {expected!r}"
        )
    return None


def _compare_items(expected: Any, actual: Any, where: str) -> Mismatch | None:
    if type(expected) is not type(actual) or len(expected) != len(actual):
        return _wrong_type(expected, actual, where)
    for position, (wanted, given) in enumerate(zip(expected, actual, strict=True), start=1):
        mismatch = compare(wanted, given, f"value {position} of {len(expected)} returned")
        if mismatch:
            return mismatch
    return None


def _compare_numbers(expected: Any, actual: Any, where: str) -> Mismatch | None:
    is_array = isinstance(expected, np.ndarray) and expected.shape != ()
    allowed = (np.ndarray,) if is_array else (np.ndarray, np.generic, bool, int, float)
    if not isinstance(actual, allowed):
        return _wrong_type(expected, actual, where)
    wanted, given = np.asarray(expected), np.asarray(actual)
    if wanted.shape != given.shape:
        return Mismatch(
            Verdict.WRONG_SHAPE, f"{where} has shape {given.shape} and should have {wanted.shape}"
        )
    if family(wanted) != family(given):
        if not is_array:
            return _wrong_type(expected, actual, where)
        return Mismatch(
            Verdict.WRONG_DTYPE, f"{where} has dtype {given.dtype} and should have {wanted.dtype}"
        )
    if np.isfinite(wanted).all() and not np.isfinite(given).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(given))[0])
        return Mismatch(Verdict.NONFINITE, f"{where} holds {given[index]}{_at(index)}")
    wrong = ~close(wanted, given)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{where} is {_number(given[index])}{_at(index)} and should be "
        return Mismatch(Verdict.WRONG_VALUE, text + _number(wanted[index]))
    return None


def family(array: np.ndarray) -> str:
    """The family of dtypes that count as the same: bool, int, float (32 or 64 bits), or its own."""
    if array.dtype.kind in "iu":
        return "int"
    return "float" if array.dtype.name in TOLERANCE else array.dtype.name


def close(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape and family agree; NaN agrees with NaN, infinity with itself."""
    if family(expected) != "float":
        return np.asarray(expected == actual)
    tolerance = max(TOLERANCE[expected.dtype.name], TOLERANCE[actual.dtype.name])
    expected, actual = expected.astype(float), actual.astype(float)
    finite = np.isfinite(expected)
    scale = np.max(np.abs(expected), where=finite, initial=0.0) or 1.0
    with np.errstate(invalid="ignore"):
        near = np.abs(expected - actual) <= tolerance * (np.abs(expected) + scale)
    same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    return np.where(finite, near, same)


def agree(first: Any, second: Any) -> bool:
    """True if two outcomes are the same kind of outcome with the same values, right or wrong."""
    if isinstance(first, Observation):
        return all(
            agree(getattr(first, part), getattr(second, part))
            for part in ("value", "arguments_after", "again")
        )
    first, second = (
        np.asarray(one) if isinstance(one, bool | int | float | np.generic) else one
        for one in (first, second)
    )
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        same_form = first.shape == second.shape and family(first) == family(second)
        return same_form and bool(close(first, second).all())
    if isinstance(first, Raised):
        return bool(first.type_name == second.type_name)
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(
            agree(one, other) for one, other in zip(first, second, strict=True)
        )
    return bool(first == second)


def _wrong_type(expected: Any, actual: Any, where: str) -> Mismatch:
    text = f"{where} is {describe(actual)} and should be {describe(expected)}"
    if actual is None:
        text += " (is a `return` missing?)"
    return Mismatch(Verdict.WRONG_TYPE, text)


def describe(value: Any) -> str:
    """The type of a value, in words."""
    if isinstance(value, Foreign):
        return f"of type {value.type_name}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)} values"
    if isinstance(value, np.ndarray):
        return "an array"
    if value is None:
        return "None"
    return f"of type {type(value).__name__}"


def _at(index: tuple[int, ...]) -> str:
    return f" at {list(index)}" if index else ""


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
