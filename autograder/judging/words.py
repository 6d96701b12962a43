"""Say in words what a value is, and what it should be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe.values import Foreign, Tensor

NUMBERS = (bool, int, float)

MOST_CHARACTERS = 60
"""A list that is longer when written out is not shown whole."""


@dataclass(frozen=True)
class Names:
    """What a docstring calls the arguments of a call, and the values of the tuple returned."""

    parameters: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()


NAMELESS = Names()
"""Where no docstring names anything."""


def all_of(count: int, things: str) -> str:
    """`the one value`, `both values`, `all 3 values`."""
    if count == 1:
        return f"the one {things.removesuffix('s')}"
    return f"both {things}" if count == 2 else f"all {count} {things}"


def describe(value: Any) -> str:
    """What a value is: its type, and the length of a tuple or a list, or the shape of an array."""
    if isinstance(value, tuple | list):
        return f"{kind(value)} of {len(value)} value{'s' * (len(value) != 1)}"
    if isinstance(value, np.ndarray) and value.shape:
        return f"an array of shape {value.shape}"
    return kind(value)


def kind(value: Any) -> str:
    """What a value is, without a number in it."""
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
    known: dict[type, str] = {type(None): "None", str: "a string", int: "an int"}
    return known.get(type(value), f"a {type(value).__name__}")


def kind_in_general(value: Any) -> str:
    """What a value is, in words of ours alone: the name of a type can be any text."""
    return "of another type" if isinstance(value, Foreign) else kind(value)


def advice(expected: Any, actual: Any, *, whole: bool = True) -> str:
    """What helps where `actual` is of another type than `expected`; empty if nothing is known.

    They are `whole` results, or a part of each.
    """
    if actual is None:
        return "Is a `return` missing?" if whole else ""
    if isinstance(expected, tuple | list):
        return _advice_on_items(expected, actual)
    if isinstance(expected, Tensor):
        if isinstance(actual, NUMBERS):
            return "No gradient flows through a Python number: leave out `item()` or `float()`."
        if isinstance(actual, np.ndarray | np.generic) or kind(actual).startswith("a NumPy"):
            return "No gradient flows through NumPy: stay with torch's functions."
    if type(expected) is int and isinstance(actual, float | np.floating):
        return "Does `/` stand where `//` is meant?"
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
        return f"Return {all_of(len(expected), 'values')}, with commas between them."
    return ""


def by_parameter(argument: str, parameters: tuple[str, ...]) -> str:
    """`argument 2`, or `argument 2[0]`, by the name of that parameter, if there is one."""
    found = re.match(r"argument (\d+)", argument)
    if found is None or not 0 < int(found[1]) <= len(parameters):
        return argument
    return f"`{parameters[int(found[1]) - 1]}{argument[found.end() :]}`"


def short_list(values: Sequence[Any]) -> str:
    """A list of a few whole numbers or strings as it would be written; of others, nothing."""
    if not all(isinstance(value, int | str | np.integer) for value in values):
        return ""
    text = ", ".join(repr(value) if isinstance(value, str) else str(value) for value in values)
    return f"[{text}]" if len(text) <= MOST_CHARACTERS else ""


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
