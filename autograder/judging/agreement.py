"""Decide whether two values agree: within the tolerance, whatever their dtype or container."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ..probe.values import Differentiated, Observation, Raised, Tensor, Unloadable

TOLERANCE = {"float64": 1e-7, "float32": 1e-4}
"""Allowed difference, relative to the value plus the largest value of the array, by dtype."""

NUMBERS = bool | int | float | np.generic

Gradients = dict[str, Tensor | None]


def family(array: np.ndarray) -> str:
    """Return the dtype family: bool, int, float (32 or 64 bits), or else the dtype's own name."""
    return _family(array.dtype)


@functools.cache
def _family(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "iu":
        return "int"
    return "float" if dtype.name in TOLERANCE else dtype.name


@functools.cache
def _tolerance(first: np.dtype[Any], second: np.dtype[Any]) -> float:
    """Return the allowed difference, which is that of the coarser dtype."""
    return max(TOLERANCE[first.name], TOLERANCE[second.name])


def leaves(values: Iterable[Any]) -> Iterator[np.ndarray]:
    """Yield the arrays among `values`, and those in its lists, tuples and dicts."""
    waiting = list(values)
    for value in waiting:
        if isinstance(value, Tensor):
            yield value.array
        elif isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple | list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())


def input_tolerance(arguments: Iterable[Any]) -> float:
    """Return the tolerance of the coarsest array among a call's arguments, or 0 without arrays.

    A result cannot be more exact than its inputs, whatever dtype it is returned in.
    """
    return max((TOLERANCE.get(array.dtype.name, 0.0) for array in leaves(arguments)), default=0.0)


def close(
    expected: np.ndarray, actual: np.ndarray, floor: float = 0.0, min_tolerance: float = 0.0
) -> np.ndarray:
    """Return a boolean array: where two arrays of the same shape and dtype family agree.

    NaN agrees with NaN, and an infinity with itself. A difference that is negligible compared with
    `floor` counts as agreement, even if every value of the array is smaller than that. The
    tolerance is that of the dtypes, but at least `min_tolerance`.
    """
    if expected.dtype.kind in "biuO":  # an int of more than 64 bits is an object
        return np.asarray(expected == actual)
    if family(expected) != "float":
        return np.asarray(_same(expected, actual))
    tolerance = max(_tolerance(expected.dtype, actual.dtype), min_tolerance)
    expected, actual = expected.astype(float, copy=False), actual.astype(float, copy=False)
    size = np.abs(expected)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = float(size.max(initial=floor))
        finite = math.isfinite(scale)
        if not finite:
            scale = float(size.max(where=np.isfinite(size), initial=floor))
        near = np.abs(expected - actual) <= tolerance * size + tolerance * (scale or 1.0)
    if finite:
        return np.asarray(near)
    return np.asarray(np.where(np.isfinite(size), near, _same(expected, actual)))


def _same(expected: np.ndarray, actual: np.ndarray) -> Any:
    return (expected == actual) | (np.isnan(expected) & np.isnan(actual))


def agree(first: Any, second: Any) -> bool:
    """Return True if two outcomes are of the same kind and have the same values, right or wrong.

    A list agrees with a tuple of the same items.
    """
    if type(first) is np.ndarray and type(second) is np.ndarray:
        return same_form(first, second) and (
            _identical(first, second) or bool(close(first, second).all())
        )
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
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(map(agree, first, second))
    if isinstance(first, NUMBERS) or isinstance(second, NUMBERS):
        pair = [
            np.asarray(value) if isinstance(value, NUMBERS) else value for value in (first, second)
        ]
        return all(type(value) is np.ndarray for value in pair) and agree(*pair)
    if type(first) is not type(second):
        return False
    if isinstance(first, Raised):
        return bool(first.type_name == second.type_name)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(agree(first[n], second[n]) for n in first)
    return bool(first == second)


def _identical(first: np.ndarray, second: np.ndarray) -> bool:
    """Return True if two arrays of the same shape are bitwise equal: a shortcut for most pairs."""
    return first.dtype == second.dtype and first.tobytes() == second.tobytes()


def same_form(first: np.ndarray, second: np.ndarray) -> bool:
    """Return True if two arrays have the same shape and dtypes of the same family."""
    return first.shape == second.shape and family(first) == family(second)


def _gradients_agree(first: Any, second: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return agree(first, second)
    if first.keys() != second.keys():
        return False
    if all_close(first, second):
        return True
    floor = max(largest(first), largest(second))
    return all(
        same_form(*arrays) and bool(close(*arrays, floor).all())
        for _, arrays in pair_gradients(first, second)
    )


def all_close(expected: Gradients, actual: Gradients) -> bool:
    """Return True if a single comparison of all gradients shows that each is right.

    This shortcut needs each name in both, with equal shapes, and the same dtype for all numbers.
    False means only that the gradients have to be compared individually.
    """
    expected_arrays: list[np.ndarray] = []
    actual_arrays: list[np.ndarray] = []
    for name, expected_gradient in expected.items():
        actual_gradient = actual.get(name)
        if isinstance(expected_gradient, Tensor) and isinstance(actual_gradient, Tensor):
            expected_arrays.append(expected_gradient.array)
            actual_arrays.append(actual_gradient.array)
        elif expected_gradient is not None or actual_gradient is not None:
            return False
    pairs = zip(expected_arrays, actual_arrays, strict=True)
    dtypes = {array.dtype for array in (*expected_arrays, *actual_arrays)}
    if len(dtypes) > 1 or any(first.shape != second.shape for first, second in pairs):
        return False
    if not expected_arrays:
        return True
    all_expected = np.concatenate(expected_arrays, axis=None)
    return bool(close(all_expected, np.concatenate(actual_arrays, axis=None)).all())


def largest(gradients: Gradients) -> float:
    """Return the largest finite absolute value in any of the gradients, or 0."""
    arrays = [gradient.array for gradient in gradients.values() if isinstance(gradient, Tensor)]
    return max(
        (float(np.max(np.abs(a), where=np.isfinite(a), initial=0.0)) for a in arrays), default=0.0
    )


def pair_gradients(
    first: Gradients, second: Gradients
) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Yield each name with its two gradients as arrays; zeros replace a missing gradient."""
    for name in first:
        gradients = first[name], second.get(name)
        arrays = [grad.array if isinstance(grad, Tensor) else None for grad in gradients]
        present = [array for array in arrays if array is not None]
        if present:
            left, right = (np.zeros_like(present[0]) if a is None else a for a in arrays)
            yield name, (left, right)
