"""Compare the value that an answer returned with the expected value. Values are plain data here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exercise.model import Raises
from ..probe.values import Foreign, Raised, Tensor, Unloadable, output
from .agreement import close, family
from .verdict import Verdict
from .words import advice, at, describe, kind, kind_in_general, numbers, short_list

NAMED = frozenset(
    exception.__name__
    for exception in (
        *(AssertionError, AttributeError, IndexError, KeyError, NameError, RecursionError),
        *(RuntimeError, TypeError, UnboundLocalError, ValueError, ZeroDivisionError),
    )
)
"""The exceptions that a message about a hidden case may name. An answer could choose an exception
to tell the student what the hidden input was, so it has few to choose from."""


@dataclass(frozen=True)
class Mismatch:
    """The first difference: its verdict, and a text that describes the difference and its place.

    `in_general` says the same without any number of the case, as hidden cases need. `advice` is an
    optional further sentence, which contains no such number either.
    """

    verdict: Verdict
    text: str
    in_general: str
    advice: str = ""


@dataclass(frozen=True)
class Place:
    """The place of a value within a result, in words.

    `full` is the whole phrase, and `short` is used inside the phrase for a nested value. `general`
    does not distinguish between the items of a list or the keys of a dict, because their number
    and names depend on the case. `names` are the names of its items, if they have any.
    """

    full: str
    short: str
    general: str
    names: tuple[str, ...] = ()

    def item(self, position: int, container: tuple[Any, ...] | list[Any]) -> Place:
        """Return the place of an item, counted from 1."""
        if isinstance(container, tuple) and len(self.names) == len(container):
            name = f"the returned `{self.names[position - 1]}`"
            return Place(name, name, name)
        if not self.short:
            if isinstance(container, list):
                return Place(f"item {position} of the list", f"item {position}", "an item")
            value = f"value {position}"
            return Place(f"{value} of {len(container)} returned", value, value)
        name = f"item {position} of {self.short}"
        which = "an item" if isinstance(container, list) else f"item {position}"
        return Place(name, name, f"{which} of {self.general}")

    def entry(self, name: str) -> Place:
        """Return the place of the value of a dict's key."""
        text = f"the value of {name!r:.80}" + (f" in {self.short}" if self.short else "")
        general = "the value of a key" + (f" in {self.general}" if self.short else "")
        return Place(text, text, general)


def result(names: tuple[str, ...] = ()) -> Place:
    """Return the place of a whole result; `names` are those of the values of a tuple."""
    return Place("the result", "", "the result", names)


def compare(
    expected: Any, actual: Any, place: Place | None = None, min_tolerance: float = 0.0
) -> Mismatch | None:
    """Return the first difference between `expected` and `actual`, or None if there is none.

    Types must be exact, with four courtesies: float32 and float64 both count as float, a NumPy
    scalar counts as the Python number that it holds, an int counts as the float of its value, and a
    list counts as the tuple of its items. Values of float32 and float64 must agree within the
    TOLERANCE of the coarser of the two dtypes, or within `min_tolerance` if that is larger. Values
    of every other dtype, also complex and half precision, must be equal.
    """
    place = place or result()
    if isinstance(expected, Tensor):
        if isinstance(actual, Tensor):
            return compare_numbers(expected.array, actual.array, place, min_tolerance=min_tolerance)
        return _wrong_kind(expected, actual, place, expected.array, "Tensor[")
    if isinstance(expected, dict):
        return _compare_dicts(expected, actual, place, min_tolerance)
    if isinstance(expected, tuple | list):
        return _compare_items(expected, actual, place, min_tolerance)
    if isinstance(expected, np.ndarray | bool | int | float | np.generic):
        return compare_numbers(expected, actual, place, min_tolerance=min_tolerance)
    if type(expected) is not type(actual):
        return _wrong_type(expected, actual, place)
    if expected != actual:
        text = f"{place.full} is {actual!r:.80} and should be {expected!r}"
        return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")
    return None


def _compare_items(
    expected: Any, actual: Any, place: Place, min_tolerance: float
) -> Mismatch | None:
    accepted = tuple | list if isinstance(expected, tuple) else list
    if not isinstance(actual, accepted):
        return _wrong_type(expected, actual, place)
    if len(expected) != len(actual):
        return _wrong_length(expected, actual, place)
    for position, items in enumerate(zip(expected, actual, strict=True), start=1):
        mismatch = compare(*items, place.item(position, expected), min_tolerance)
        if mismatch:
            return _as_lists(expected, actual, place, mismatch)
    return None


def _as_lists(expected: Any, actual: Any, place: Place, mismatch: Mismatch) -> Mismatch:
    """Return the mismatch of an item, or one that shows both lists whole if they are short."""
    if mismatch.verdict is Verdict.WRONG_VALUE and isinstance(expected, list):
        actual_text, expected_text = short_list(actual), short_list(expected)
        if actual_text and expected_text:
            text = f"{place.full} is {actual_text} and should be {expected_text}"
            return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")
    return mismatch


def _wrong_length(expected: Any, actual: Any, place: Place) -> Mismatch:
    """Return the mismatch for a wrong number of values: a wrong type (tuple) or shape (list)."""
    verdict = Verdict.WRONG_TYPE if isinstance(expected, tuple) else Verdict.WRONG_SHAPE
    actual_count, expected_count = len(actual), len(expected)
    values = f"{actual_count} value{'s' * (actual_count != 1)}"
    text = f"{place.full} has {values} and should have {expected_count}"
    actual_text, expected_text = short_list(actual), short_list(expected)
    if actual_text and expected_text:
        text += f": it is {actual_text} and should be {expected_text}"
    comparative = "fewer" if actual_count < expected_count else "more"
    general = f"{place.general} has {comparative} values than it should"
    return Mismatch(verdict, text, general)


def _compare_dicts(
    expected: dict[str, Any], actual: Any, place: Place, min_tolerance: float
) -> Mismatch | None:
    if not isinstance(actual, dict):
        return _wrong_type(expected, actual, place)
    for name in [*expected, *actual]:
        if (name in expected) != (name in actual):
            verb = "lacks" if name in expected else "should not have"
            text = f"{place.full} {verb} the key {name!r:.80}"
            return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} {verb} a key")
        mismatch = compare(expected[name], actual[name], place.entry(name), min_tolerance)
        if mismatch:
            return mismatch
    return None


def compare_numbers(
    expected: Any, actual: Any, place: Place, floor: float = 0.0, min_tolerance: float = 0.0
) -> Mismatch | None:
    """Return the first difference between two arrays or numbers, or None; see `close`."""
    if isinstance(expected, float | np.floating) and _is_int(actual):
        actual = _float(actual)
    if _is_int(expected) and _is_int(actual):  # of any size: no dtype holds every int
        if expected == actual:
            return None
        text = f"{place.full} is {actual} and should be {expected}"
        return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")
    is_array = isinstance(expected, np.ndarray) and expected.shape != ()
    allowed = (np.ndarray,) if is_array else (np.ndarray, np.generic, bool, int, float)
    if not isinstance(actual, allowed):
        return _wrong_kind(expected, actual, place, np.asarray(expected), "ndarray[")
    expected_array, actual_array = np.asarray(expected), np.asarray(actual)
    if expected_array.shape != actual_array.shape:
        text = f"{place.full} has shape {actual_array.shape} and should have {expected_array.shape}"
        return Mismatch(Verdict.WRONG_SHAPE, text, f"the shape of {place.general} is wrong")
    if family(expected_array) != family(actual_array):
        if not is_array and not isinstance(actual, np.ndarray):
            return _wrong_type(expected, actual, place)
        return _wrong_dtype(place, actual_array.dtype.name, expected_array.dtype.name)
    wrong = ~close(expected_array, actual_array, floor, min_tolerance)
    if not wrong.any():
        return None
    if np.isfinite(expected_array).all() and not np.isfinite(actual_array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(actual_array))[0])
        general = f"{place.general} holds NaN or an infinity"
        return Mismatch(
            Verdict.NONFINITE, f"{place.full} holds {actual_array[index]}{at(index)}", general
        )
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    actual_text, expected_text = numbers(actual_array[index], expected_array[index])
    text = f"{place.full} is {actual_text}{at(index)} and should be {expected_text}"
    return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")


def _float(value: int | np.integer) -> float:
    """Return an int as a float, which is infinite if no float is as large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_int(value: Any) -> bool:
    """Return True for a Python or NumPy integer, but not for a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def compare_exception(raises: Raises, value: Any) -> Mismatch | None:
    """Return what is wrong with `value` on a case that asks for an exception, or None."""
    expectation = f"should raise {raises.type_name}"
    if not isinstance(value, Raised):
        text = f"it {expectation}, but returns {describe(output(value))}"
        if isinstance(value, Unloadable):
            text = f"it {expectation} when it is constructed, but makes a module"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, f"it {expectation}, but returns a value")
    if raises.type_name not in (value.type_name, *value.bases):
        text = f"it {expectation}, but raises {exception_text(value)}"
        general = f"it {expectation}, but raises another exception"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, general)
    missing = [word for word in raises.mentions if not _mentions(value.message, word)]
    if missing:
        message = f"says: {value.message[:300]}" if value.message else "is empty"
        text = (
            f"the message of its {value.type_name} should name {', '.join(missing)}; it {message}"
        )
        general = f"the message of its {raises.type_name} does not name the value that is wrong"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, general)
    return None


def _mentions(message: str, word: str) -> bool:
    """Return True if `message` contains `word`, and not only within a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", message) is not None


def unexpected_exception(value: Raised) -> Mismatch:
    """Return the mismatch for an answer that raises on a case on which it should return."""
    line = f" (line {value.line} of its cell)" if value.line else ""
    if value.line and value.code:
        line = f" (line {value.line} of its cell: `{value.code}`)"
    general = f"it raises {value.type_name if value.type_name in NAMED else 'an exception'}"
    return Mismatch(Verdict.EXCEPTION, f"it raises {exception_text(value)}{line}", general)


def exception_text(value: Raised) -> str:
    """Return the type and message of an exception, or its type and that it has no message."""
    if value.message.strip():
        return f"{value.type_name}: {value.message.strip()[:300]}"
    return f"{value.type_name}, without a message"


def _wrong_kind(
    expected: Any, actual: Any, place: Place, expected_array: np.ndarray, foreign: str
) -> Mismatch:
    """Return the mismatch for a wrong type.

    For an array or tensor whose dtype cannot be compared, the mismatch names the dtype instead.
    """
    if isinstance(actual, Foreign) and actual.type_name.startswith(foreign):
        return _wrong_dtype(place, actual.type_name[len(foreign) : -1], expected_array.dtype.name)
    return _wrong_type(expected, actual, place)


def _wrong_dtype(place: Place, actual: str, expected: str) -> Mismatch:
    text = f"{place.full} has dtype {actual} and should have {expected}"
    return Mismatch(Verdict.WRONG_DTYPE, text, f"the dtype of {place.general} is wrong")


def _wrong_type(expected: Any, actual: Any, place: Place) -> Mismatch:
    return Mismatch(
        Verdict.WRONG_TYPE,
        f"{place.full} is {describe(actual)} and should be {describe(expected)}",
        f"{place.general} is {kind_in_general(actual)} and should be {kind(expected)}",
        advice(expected, actual, whole=not place.short),
    )
