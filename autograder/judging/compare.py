"""Compare what an answer returned with what it should have returned. Values are plain data here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..sandbox.untrusted.values import (
    Differentiated,
    Foreign,
    Observation,
    Raised,
    Tensor,
    Unloadable,
    output,
)
from .exercise import Raises
from .verdict import Verdict

TOLERANCE = {"float64": 1e-7, "float32": 1e-4}
"""Allowed difference, relative to the value plus the largest value of the array, by dtype."""

MOST_LISTED = 24
"""So many of a module's parameters are listed where one is wrong."""


@dataclass(frozen=True)
class Mismatch:
    """The first difference found: its verdict, and where and what it is, in words.

    `in_general` says it without numbers, where there is more to say than the verdict does.
    """

    verdict: Verdict
    text: str
    in_general: str = ""


def compare(expected: Any, actual: Any, where: str = "the result") -> Mismatch | None:
    """Return the first difference between `expected` and `actual`, or None if there is none.

    Types must be exact, with two courtesies: float32 and float64 both count as float, and a NumPy
    scalar counts as the Python number that it holds. Values must agree to TOLERANCE, by the coarser
    of the two dtypes.
    """
    if isinstance(actual, Foreign) and actual.type_name.startswith(("ndarray[", "Tensor[")):
        return Mismatch(Verdict.WRONG_DTYPE, f"{where} is {actual.type_name}")
    if isinstance(expected, Tensor):
        if not isinstance(actual, Tensor):
            return _wrong_type(expected, actual, where)
        return _compare_numbers(expected.array, actual.array, where)
    if isinstance(expected, dict):
        return _compare_dicts(expected, actual, where)
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


def _compare_dicts(expected: dict[str, Any], actual: Any, where: str) -> Mismatch | None:
    if not isinstance(actual, dict):
        return _wrong_type(expected, actual, where)
    for name in [*expected, *actual]:
        if (name in expected) != (name in actual):
            what = "lacks" if name in expected else "should not have"
            return Mismatch(Verdict.WRONG_VALUE, f"{where} {what} the key {name!r:.80}")
        mismatch = compare(expected[name], actual[name], f"the value of {name!r}")
        if mismatch:
            return mismatch
    return None


def _compare_numbers(expected: Any, actual: Any, where: str, floor: float = 0.0) -> Mismatch | None:
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
    wrong = ~close(wanted, given, floor)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        mine, right = _numbers(given[index], wanted[index])
        text = f"{where} is {mine}{_at(index)} and should be {right}"
        return Mismatch(Verdict.WRONG_VALUE, text)
    return None


def compare_exception(asked: Raises, value: Any) -> Mismatch | None:
    """What is wrong with `value` where an exception is asked for, or None."""
    wanted = f"should raise {asked.type_name}"
    if not isinstance(value, Raised):
        text = f"it {wanted}, and returns {describe(output(value))}"
        if isinstance(value, Unloadable):
            text = f"it {wanted} when it is made, and makes a module"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, f"it {wanted}, and returns something")
    if asked.type_name not in (value.type_name, *value.bases):
        text = f"it {wanted}, and raises {value.type_name}: {value.message[:300]}"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, f"it {wanted}, and raises another exception")
    missing = [word for word in asked.mentions if not _mentioned(word, value.message)]
    if missing:
        said = f"says: {value.message[:300]}" if value.message else "says nothing"
        text = f"the message of its {value.type_name} should name {', '.join(missing)}; it {said}"
        general = f"the message of its {value.type_name} does not name what is wrong"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, general)
    return None


def _mentioned(word: str, message: str) -> bool:
    """True if `message` contains `word`, and not only as a part of a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", message) is not None


Gradients = dict[str, Tensor | None]


def compare_gradients(expected: Any, actual: Any) -> Mismatch | None:
    """The first difference between the gradients of two `Differentiated`, or None.

    No gradient is as good as one of zeros, and so is one that is nothing but rounding beside the
    largest of the others.
    """
    general = "the output is right, but a gradient is wrong"
    if isinstance(actual, Raised):
        text = f"the output is right, but going backward from it raises {actual.type_name}: "
        return Mismatch(Verdict.EXCEPTION, text + actual.message[:300], general)
    wanted: Gradients = expected or {}
    if actual is None and any(one is not None and one.array.any() for one in wanted.values()):
        text = (
            "the output is right, but no gradient flows back from it: somewhere the numbers leave "
            "torch's graph (`detach`, `item`, `no_grad`, NumPy, or a new tensor made from old ones)"
        )
        return Mismatch(Verdict.WRONG_VALUE, text, general)
    for _, mismatch in wrong_gradients(wanted, actual or {}):
        return Mismatch(mismatch.verdict, f"the output is right, but {mismatch.text}", general)
    return None


def wrong_gradients(expected: Gradients, actual: Gradients) -> Iterator[tuple[str, Mismatch]]:
    """The names of the gradients that are wrong, and how."""
    floor = _largest(expected)
    for name, (right, mine) in _paired(expected, actual):
        mismatch = _compare_numbers(right, mine, f"the gradient of {name}", floor)
        if mismatch and not mine.any():
            mismatch = Mismatch(Verdict.WRONG_VALUE, f"no gradient reaches {name}")
        if mismatch:
            yield name, mismatch


def _paired(
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


def _largest(gradients: Gradients) -> float:
    """The largest finite number in any of them."""
    arrays = [one.array for one in gradients.values() if isinstance(one, Tensor)]
    return max(
        (float(np.max(np.abs(a), where=np.isfinite(a), initial=0.0)) for a in arrays), default=0.0
    )


def _gradients_agree(first: Any, second: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return agree(first, second)
    floor = max(_largest(first), _largest(second))
    return first.keys() == second.keys() and all(
        _same_form(one, other) and bool(close(one, other, floor).all())
        for _, (one, other) in _paired(first, second)
    )


def compare_parameters(weights: dict[str, Tensor], shapes: dict[str, Any]) -> Mismatch:
    """What is wrong with the names and shapes of a module's parameters."""
    expected = {name: weight.array.shape for name, weight in weights.items()}
    listed = [f"`{name}` {shape}" for name, shape in expected.items()]
    if len(listed) > MOST_LISTED:
        listed[MOST_LISTED:] = [f"and {len(listed) - MOST_LISTED} more"]
    faults = [f"it has no parameter `{name}`" for name in expected if name not in shapes]
    faults += [
        f"its parameter `{name}` has shape {shapes[name]!s:.40} and should have {shape}"
        for name, shape in expected.items()
        if name in shapes and str(shapes[name]) != str(shape)
    ]
    faults += [
        f"it has a parameter `{name:.60}` that is not asked for"
        for name in shapes
        if name not in expected
    ]
    text = f"{'; '.join(faults[:4])}. The parameters should be: {', '.join(listed) or 'none'}"
    return Mismatch(Verdict.WRONG_PARAMETERS, text, "the parameters have other names or shapes")


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
    agreeing: np.ndarray = np.where(finite, near, same)
    return agreeing


def agree(first: Any, second: Any) -> bool:
    """True if two outcomes are the same kind of outcome with the same values, right or wrong."""
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
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return _same_form(first, second) and bool(close(first, second).all())
    if isinstance(first, Raised):
        return bool(first.type_name == second.type_name)
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(
            agree(one, other) for one, other in zip(first, second, strict=True)
        )
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(agree(first[n], second[n]) for n in first)
    return bool(first == second)


def _same_form(first: np.ndarray, second: np.ndarray) -> bool:
    return first.shape == second.shape and family(first) == family(second)


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
    if isinstance(value, Tensor):
        return "a tensor"
    if value is None:
        return "None"
    return f"of type {type(value).__name__}"


def _at(index: tuple[int, ...]) -> str:
    return f" at {list(index)}" if index else ""


def _numbers(given: Any, expected: Any) -> tuple[str, str]:
    """Two numbers in words, with as many digits as show their difference."""
    if not isinstance(given, float | np.floating):
        return str(given), str(expected)
    for digits in (4, 6, 8, 10):
        mine, right = f"{given:.{digits}g}", f"{expected:.{digits}g}"
        if mine != right:
            break
    return mine, right
