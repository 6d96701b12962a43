"""When two values count as the same: within the tolerance, whatever their dtype or container."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ..sandbox.untrusted.values import (
    Differentiated,
    Observation,
    Raised,
    Tensor,
    Unloadable,
)

TOLERANCE = {"float64": 1e-7, "float32": 1e-4}
"""Allowed difference, relative to the value plus the largest value of the array, by dtype."""


Gradients = dict[str, Tensor | None]


def family(array: np.ndarray) -> str:
    """The family of dtypes that count as the same: bool, int, float (32 or 64 bits), or its own."""
    if array.dtype.kind in "iu":
        return "int"
    return "float" if array.dtype.name in TOLERANCE else array.dtype.name


def close(expected: np.ndarray, actual: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Where two arrays of one shape and family agree; NaN agrees with NaN, infinity with itself.

    What is negligible beside `floor` is negligible, even if the largest value of the array is not.
    """
    if family(expected) != "float":
        return np.asarray((expected == actual) | (np.isnan(expected) & np.isnan(actual)))
    tolerance = max(TOLERANCE[expected.dtype.name], TOLERANCE[actual.dtype.name])
    expected, actual = expected.astype(float), actual.astype(float)
    finite = np.isfinite(expected)
    scale = np.max(np.abs(expected), where=finite, initial=floor) or 1.0
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(expected - actual) <= tolerance * (np.abs(expected) + scale)
    same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    return np.asarray(np.where(finite, near, same))


def agree(first: Any, second: Any) -> bool:
    """True if two outcomes are the same kind of outcome with the same values, right or wrong.

    A list agrees with a tuple of the same items.
    """
    if isinstance(first, Differentiated) and isinstance(second, Differentiated):
        return agree(first.output, second.output) and _gradients_agree(
            first.gradients, second.gradients
        )
    if type(first) is type(second) and isinstance(first, Observation | Unloadable):
        return all(
            agree(getattr(first, part.name), getattr(second, part.name)) for part in fields(first)
        )
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return agree(first.array, second.array)
    first, second = (
        np.asarray(one) if isinstance(one, bool | int | float | np.generic) else one
        for one in (first, second)
    )
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(map(agree, first, second))
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return same_form(first, second) and bool(close(first, second).all())
    if isinstance(first, Raised):
        return bool(first.type_name == second.type_name)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(agree(first[n], second[n]) for n in first)
    return bool(first == second)


def same_form(first: np.ndarray, second: np.ndarray) -> bool:
    """True if two arrays have one shape, and dtypes that count as the same."""
    return first.shape == second.shape and family(first) == family(second)


def _gradients_agree(first: Any, second: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return agree(first, second)
    floor = max(largest(first), largest(second))
    return first.keys() == second.keys() and all(
        same_form(one, other) and bool(close(one, other, floor).all())
        for _, (one, other) in paired(first, second)
    )


def largest(gradients: Gradients) -> float:
    """The largest finite number in any of them."""
    arrays = [one.array for one in gradients.values() if isinstance(one, Tensor)]
    return max(
        (float(np.max(np.abs(a), where=np.isfinite(a), initial=0.0)) for a in arrays), default=0.0
    )


def paired(
    first: Gradients, second: Gradients
) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """The gradients of each name as arrays; zeros stand for one that is not there."""
    for name in first:
        both = first[name], second.get(name)
        arrays = [one.array if isinstance(one, Tensor) else None for one in both]
        there = [one for one in arrays if one is not None]
        if there:
            one, other = (np.zeros_like(there[0]) if a is None else a for a in arrays)
            yield name, (one, other)
