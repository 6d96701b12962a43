"""Say in words what a value is, and what it should be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..sandbox.untrusted.values import Foreign, Tensor

NUMBERS = (bool, int, float)


def describe(value: Any) -> str:
    """What a value is: its type, and the length of a tuple or a list."""
    if isinstance(value, tuple | list):
        return f"{kind(value)} of {_count(len(value), 'value')}"
    return kind(value)


def kind(value: Any) -> str:
    """What a value is, without a number in it."""
    if isinstance(value, Foreign):
        name, _, dtype = value.type_name.rstrip("]").partition("[")
        known = {"ndarray": "a NumPy array", "Tensor": "a tensor"}
        if name in known and dtype:
            return f"{known[name]} of dtype {dtype}"
        return name if name.startswith("a ") else f"of type {name}"
    if isinstance(value, Tensor):
        return "a tensor"
    if isinstance(value, np.ndarray):
        return "an array"
    if isinstance(value, np.generic):
        return f"a NumPy number ({type(value).__name__})"
    if isinstance(value, NUMBERS):
        return f"a Python number ({type(value).__name__})"
    return {type(None): "None", str: "a string"}.get(type(value), f"a {type(value).__name__}")


def advice(expected: Any, actual: Any) -> str:
    """What helps where `actual` is of another type than `expected`; empty if nothing is known."""
    if actual is None:
        return "Is a `return` missing?"
    if isinstance(expected, tuple | list):
        return _advice_on_items(expected, actual)
    if isinstance(expected, Tensor):
        if isinstance(actual, NUMBERS):
            return "No gradient flows through a Python number: leave out `item()` or `float()`."
        if isinstance(actual, np.ndarray | np.generic) or kind(actual).startswith("a NumPy"):
            return "No gradient flows through NumPy: stay with torch's functions."
    if isinstance(actual, tuple) and len(actual) == 1:
        return "Does a comma stand after the value that you return?"
    if isinstance(expected, np.ndarray | float | int | bool) and isinstance(actual, tuple):
        return "Return one value only."
    if isinstance(expected, np.ndarray) and isinstance(actual, list):
        return "`np.array` makes an array of it."
    return ""


def _advice_on_items(expected: Any, actual: Any) -> str:
    if isinstance(expected, list) and isinstance(actual, tuple):
        return "`list(...)` makes a list of it."
    if isinstance(actual, tuple | list | Foreign) or len(expected) == 1:
        return ""
    if isinstance(expected, tuple):
        return f"Return all {len(expected)} values, with commas between them."
    return ""


def with_parameter(argument: str, parameters: tuple[str, ...]) -> str:
    """`argument 2`, or `argument 2[0]`, with the name of that parameter."""
    found = re.match(r"argument (\d+)", argument)
    if found is None or not 0 < int(found[1]) <= len(parameters):
        return argument
    return f"{argument} (`{parameters[int(found[1]) - 1]}`)"


def at(index: tuple[int, ...]) -> str:
    """Where in an array."""
    return f" at {list(index)}" if index else ""


def numbers(given: Any, expected: Any) -> tuple[str, str]:
    """Two numbers in words, with as many digits as show their difference."""
    if not isinstance(given, float | np.floating):
        return str(given), str(expected)
    given, expected = given + 0.0, expected + 0.0  # no minus before a zero
    for digits in (4, 6, 8, 10, 17):
        mine, right = f"{given:.{digits}g}", f"{expected:.{digits}g}"
        if mine != right:
            break
    return mine, right


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
