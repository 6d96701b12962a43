"""When two values count as the same: within the tolerance, whatever their dtype or container."""

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
    """The family of dtypes that count as the same: bool, int, float (32 or 64 bits), or its own."""
    return _family(array.dtype)


@functools.cache
def _family(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "iu":
        return "int"
    return "float" if dtype.name in TOLERANCE else dtype.name


@functools.cache
def _tolerance(first: np.dtype[Any], second: np.dtype[Any]) -> float:
    """The allowed difference: that of the coarser dtype."""
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
    """Return the tolerance of the coarsest array among the arguments of a call, 0 without any.

    A result is no more exact than what it was computed from, whatever dtype it is returned in.
    """
    return max((TOLERANCE.get(one.dtype.name, 0.0) for one in leaves(arguments)), default=0.0)


def close(
    expected: np.ndarray, actual: np.ndarray, floor: float = 0.0, least: float = 0.0
) -> np.ndarray:
    """Where two arrays of one shape and family agree; NaN agrees with NaN, infinity with itself.

    What is negligible beside `floor` is negligible, even if the largest value of the array is not.
    The tolerance is that of the dtypes, but not below `least`.
    """
    if expected.dtype.kind in "biuO":  # an int of more than 64 bits is an object
        return np.asarray(expected == actual)
    if family(expected) != "float":
        return np.asarray(_same(expected, actual))
    tolerance = max(_tolerance(expected.dtype, actual.dtype), least)
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
    """True if two outcomes are the same kind of outcome with the same values, right or wrong.

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
        both = [np.asarray(one) if isinstance(one, NUMBERS) else one for one in (first, second)]
        return all(type(one) is np.ndarray for one in both) and agree(*both)
    if type(first) is not type(second):
        return False
    if isinstance(first, Raised):
        return bool(first.type_name == second.type_name)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(agree(first[n], second[n]) for n in first)
    return bool(first == second)


def _identical(first: np.ndarray, second: np.ndarray) -> bool:
    """True if two arrays of one shape are the same to the bit, as most that agree are."""
    return first.dtype == second.dtype and first.tobytes() == second.tobytes()


def same_form(first: np.ndarray, second: np.ndarray) -> bool:
    """True if two arrays have one shape, and dtypes that count as the same."""
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
        same_form(one, other) and bool(close(one, other, floor).all())
        for _, (one, other) in paired(first, second)
    )


def all_close(expected: Gradients, actual: Gradients) -> bool:
    """True if one comparison of all the gradients shows each to be right; False says nothing.

    It needs each name in both, with one shape, and all numbers of one dtype.
    """
    wanted: list[np.ndarray] = []
    given: list[np.ndarray] = []
    for name, right in expected.items():
        mine = actual.get(name)
        if isinstance(right, Tensor) and isinstance(mine, Tensor):
            wanted.append(right.array)
            given.append(mine.array)
        elif right is not None or mine is not None:
            return False
    pairs = zip(wanted, given, strict=True)
    dtypes = {one.dtype for one in (*wanted, *given)}
    if len(dtypes) > 1 or any(right.shape != mine.shape for right, mine in pairs):
        return False
    if not wanted:
        return True
    every = np.concatenate(wanted, axis=None)
    return bool(close(every, np.concatenate(given, axis=None)).all())


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
