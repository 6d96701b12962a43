"""Describe values and their types in words, for the messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe.values import Foreign, Tensor

MOST_CHARACTERS = 60
"""A list whose text is longer than this is not shown."""


@dataclass(frozen=True)
class Names:
    """The names that a docstring gives to the arguments, and to the values of a returned tuple."""

    parameters: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()


NAMELESS = Names()
"""The names for a docstring that gives none."""


def all_of(count: int, things: str) -> str:
    """Return, for example, `the one value`, `both values` or `all 3 values`."""
    if count == 1:
        return f"the one {things.removesuffix('s')}"
    return f"both {things}" if count == 2 else f"all {count} {things}"


def describe(value: Any) -> str:
    """Return the type of a value, with the length of a tuple or list, or the shape of an array."""
    if isinstance(value, tuple | list):
        return f"{kind(value)} of {len(value)} value{'s' * (len(value) != 1)}"
    if isinstance(value, np.ndarray) and value.shape:
        return f"an array of shape {value.shape}"
    return kind(value)


def kind(value: Any) -> str:
    """Return the type of a value in words, without a length or a shape."""
    if isinstance(value, Foreign):
        name, _, dtype = value.type_name.rstrip("]").partition("[")
        arrays = {"ndarray": "a NumPy array", "Tensor": "a tensor"}
        if name in arrays and dtype:
            return f"{arrays[name]} of dtype {dtype}"
        return name if name.startswith("a ") else f"of type {name}"
    if isinstance(value, Tensor):
        return "a tensor"
    if isinstance(value, np.ndarray):
        return "an array" if value.shape else "a single number"
    if isinstance(value, np.generic):
        return f"a single number ({type(value).__name__})"
    names: dict[type, str] = {type(None): "None", str: "a string", int: "an int"}
    return names.get(type(value), f"a {type(value).__name__}")


def kind_in_general(value: Any) -> str:
    """Return `kind`, but without the name of an unknown type, which the answer can choose."""
    return "of another type" if isinstance(value, Foreign) else kind(value)


def advice(expected: Any, actual: Any, *, whole: bool = True) -> str:
    """Return advice for an `actual` value of another type than `expected`; empty if there is none.

    With `whole`, the two are whole results, and otherwise parts of results.
    """
    if actual is None:
        return "Is a `return` missing?" if whole else ""
    if isinstance(expected, tuple | list):
        return _advice_on_items(expected, actual)
    if isinstance(expected, Tensor):
        if isinstance(actual, bool | int | float):
            return "No gradient flows through a Python number: leave out `item()` or `float()`."
        if isinstance(actual, np.ndarray | np.generic) or kind(actual).startswith("a NumPy"):
            return "No gradient flows through NumPy: stay with torch's functions."
    if type(expected) is int and isinstance(actual, float | np.floating):
        return "Did you write `/` where you need `//`?"
    if isinstance(actual, tuple) and len(actual) == 1:
        return "Is there a comma after the value that you return?"
    if isinstance(expected, np.ndarray | float | int | bool) and isinstance(actual, tuple):
        return "Return only one value."
    if isinstance(expected, np.ndarray) and isinstance(actual, list):
        return "`np.array` makes an array of it."
    return ""


def _advice_on_items(expected: Any, actual: Any) -> str:
    if isinstance(expected, list) and isinstance(actual, tuple):
        return "`list(...)` makes a list of it."
    if isinstance(actual, tuple | list | Foreign) or len(expected) == 1:
        return ""
    if isinstance(expected, tuple):
        return f"Return {all_of(len(expected), 'values')}, with commas between them."
    return ""


def by_parameter(argument: str, parameters: tuple[str, ...]) -> str:
    """Return `argument 2` or `argument 2[0]` with the name of that parameter, if it has one."""
    match = re.match(r"argument (\d+)", argument)
    if match is None or not 0 < int(match[1]) <= len(parameters):
        return argument
    return f"`{parameters[int(match[1]) - 1]}{argument[match.end() :]}`"


def short_list(values: Sequence[Any]) -> str:
    """Return a short list of integers or strings as text, or "" for any other list."""
    if not all(isinstance(value, int | str | np.integer) for value in values):
        return ""
    text = ", ".join(repr(value) if isinstance(value, str) else str(value) for value in values)
    return f"[{text}]" if len(text) <= MOST_CHARACTERS else ""


def at(index: tuple[int, ...]) -> str:
    """Return " at [i, j]" for a place in an array, or "" for a single number."""
    return f" at {list(index)}" if index else ""


def numbers(actual: Any, expected: Any) -> tuple[str, str]:
    """Return two numbers as text, with enough digits to show their difference."""
    if not isinstance(actual, float | np.floating):
        return str(actual), str(expected)
    actual, expected = actual + 0.0, expected + 0.0  # so that -0.0 is shown as 0
    for digits in (4, 6, 8, 10, 17):
        actual_text, expected_text = f"{actual:.{digits}g}", f"{expected:.{digits}g}"
        if actual_text != expected_text:
            break
    return actual_text, expected_text
