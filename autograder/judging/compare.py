"""Compare what an answer returned with what it should have returned. Values are plain data here."""

from __future__ import annotations

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
    one.__name__
    for one in (
        *(AssertionError, AttributeError, IndexError, KeyError, NameError, RecursionError),
        *(RuntimeError, TypeError, UnboundLocalError, ValueError, ZeroDivisionError),
    )
)
"""The exceptions that are named where one is raised on a hidden case. An answer chooses which, and
could tell by it what it has seen there: so it has few to choose from."""


@dataclass(frozen=True)
class Mismatch:
    """The first difference found: its verdict, and where and what it is, in words.

    `in_general` says it without a number of the case. `advice` is a sentence more, without one too.
    """

    verdict: Verdict
    text: str
    in_general: str
    advice: str = ""


@dataclass(frozen=True)
class Place:
    """Where in a result a value is: in full, in short as part of other places, and in general.

    In general, neither the items of a list nor the keys of a dict are told apart: how many there
    are, and what they are called, depends on the case. `names` are those of its items, where they
    have any.
    """

    full: str
    short: str
    general: str
    names: tuple[str, ...] = ()

    def item(self, position: int, container: tuple[Any, ...] | list[Any]) -> Place:
        """The place of one of its items, counted from 1."""
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
        """The place of the value of a dict's key."""
        text = f"the value of {name!r:.80}" + (f" in {self.short}" if self.short else "")
        general = "the value of a key" + (f" in {self.general}" if self.short else "")
        return Place(text, text, general)


def result(names: tuple[str, ...] = ()) -> Place:
    """The place of a whole result; `names` are those of the values of a tuple."""
    return Place("the result", "", "the result", names)


def compare(
    expected: Any, actual: Any, place: Place | None = None, least: float = 0.0
) -> Mismatch | None:
    """Return the first difference between `expected` and `actual`, or None if there is none.

    Types must be exact, with four courtesies: float32 and float64 both count as float, a NumPy
    scalar counts as the Python number that it holds, an int counts as the float of its value, and a
    list counts as the tuple of its items.
    Values must agree to TOLERANCE, by the coarser of the two dtypes, or to `least` if that is more.
    """
    place = place or result()
    if isinstance(expected, Tensor):
        if isinstance(actual, Tensor):
            return compare_numbers(expected.array, actual.array, place, least=least)
        return _wrong_kind(expected, actual, place, expected.array, "Tensor[")
    if isinstance(expected, dict):
        return _compare_dicts(expected, actual, place, least)
    if isinstance(expected, tuple | list):
        return _compare_items(expected, actual, place, least)
    if isinstance(expected, np.ndarray | bool | int | float | np.generic):
        return compare_numbers(expected, actual, place, least=least)
    if type(expected) is not type(actual):
        return _wrong_type(expected, actual, place)
    if expected != actual:
        text = f"{place.full} is {actual!r:.80} and should be {expected!r}"
        return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")
    return None


def _compare_items(expected: Any, actual: Any, place: Place, least: float) -> Mismatch | None:
    accepted = tuple | list if isinstance(expected, tuple) else list
    if not isinstance(actual, accepted):
        return _wrong_type(expected, actual, place)
    if len(expected) != len(actual):
        return _wrong_length(expected, actual, place)
    for position, (wanted, given) in enumerate(zip(expected, actual, strict=True), start=1):
        mismatch = compare(wanted, given, place.item(position, expected), least)
        if mismatch:
            return _as_lists(expected, actual, place, mismatch)
    return None


def _as_lists(expected: Any, actual: Any, place: Place, mismatch: Mismatch) -> Mismatch:
    """The mismatch of an item; of two short lists that are wrong in a value, both in full."""
    if mismatch.verdict is Verdict.WRONG_VALUE and isinstance(expected, list):
        mine, right = short_list(actual), short_list(expected)
        if mine and right:
            text = f"{place.full} is {mine} and should be {right}"
            return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")
    return mismatch


def _wrong_length(expected: Any, actual: Any, place: Place) -> Mismatch:
    """Another number of values: of a tuple another type, of a list another shape."""
    verdict = Verdict.WRONG_TYPE if isinstance(expected, tuple) else Verdict.WRONG_SHAPE
    mine, right = len(actual), len(expected)
    text = f"{place.full} has {mine} value{'s' * (mine != 1)} and should have {right}"
    shown, wanted = short_list(actual), short_list(expected)
    if shown and wanted:
        text += f": it is {shown} and should be {wanted}"
    general = f"{place.general} has {'fewer' if mine < right else 'more'} values than it should"
    return Mismatch(verdict, text, general)


def _compare_dicts(
    expected: dict[str, Any], actual: Any, place: Place, least: float
) -> Mismatch | None:
    if not isinstance(actual, dict):
        return _wrong_type(expected, actual, place)
    for name in [*expected, *actual]:
        if (name in expected) != (name in actual):
            what = "lacks" if name in expected else "should not have"
            text = f"{place.full} {what} the key {name!r:.80}"
            return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} {what} a key")
        mismatch = compare(expected[name], actual[name], place.entry(name), least)
        if mismatch:
            return mismatch
    return None


def compare_numbers(
    expected: Any, actual: Any, place: Place, floor: float = 0.0, least: float = 0.0
) -> Mismatch | None:
    """The first difference between two arrays, or numbers, or None; see `close` for the others."""
    if isinstance(expected, float | np.floating) and _is_int(actual):
        actual = float(actual)
    is_array = isinstance(expected, np.ndarray) and expected.shape != ()
    allowed = (np.ndarray,) if is_array else (np.ndarray, np.generic, bool, int, float)
    if not isinstance(actual, allowed):
        return _wrong_kind(expected, actual, place, np.asarray(expected), "ndarray[")
    wanted, given = np.asarray(expected), np.asarray(actual)
    if wanted.shape != given.shape:
        text = f"{place.full} has shape {given.shape} and should have {wanted.shape}"
        return Mismatch(Verdict.WRONG_SHAPE, text, f"the shape of {place.general} is wrong")
    if family(wanted) != family(given):
        if not is_array and not isinstance(actual, np.ndarray):
            return _wrong_type(expected, actual, place)
        return _wrong_dtype(place, given.dtype.name, wanted.dtype.name)
    wrong = ~close(wanted, given, floor, least)
    if not wrong.any():
        return None
    if np.isfinite(wanted).all() and not np.isfinite(given).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(given))[0])
        general = f"{place.general} holds NaN or an infinity"
        return Mismatch(Verdict.NONFINITE, f"{place.full} holds {given[index]}{at(index)}", general)
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    mine, right = numbers(given[index], wanted[index])
    text = f"{place.full} is {mine}{at(index)} and should be {right}"
    return Mismatch(Verdict.WRONG_VALUE, text, f"{place.general} is wrong")


def _is_int(value: Any) -> bool:
    """True for a whole number, of Python or of NumPy; a bool is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def compare_exception(asked: Raises, value: Any) -> Mismatch | None:
    """What is wrong with `value` where an exception is asked for, or None."""
    wanted = f"should raise {asked.type_name}"
    if not isinstance(value, Raised):
        text = f"it {wanted}, and returns {describe(output(value))}"
        if isinstance(value, Unloadable):
            text = f"it {wanted} when it is made, and makes a module"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, f"it {wanted}, and returns something")
    if asked.type_name not in (value.type_name, *value.bases):
        text = f"it {wanted}, and raises {said(value)}"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, f"it {wanted}, and raises another exception")
    missing = [word for word in asked.mentions if not _mentioned(word, value.message)]
    if missing:
        words = f"says: {value.message[:300]}" if value.message else "says nothing"
        text = f"the message of its {value.type_name} should name {', '.join(missing)}; it {words}"
        general = f"the message of its {asked.type_name} does not name what is wrong"
        return Mismatch(Verdict.WRONG_EXCEPTION, text, general)
    return None


def _mentioned(word: str, message: str) -> bool:
    """True if `message` contains `word`, and not only as a part of a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", message) is not None


def unasked_exception(value: Raised) -> Mismatch:
    """What is wrong where an answer raises and should return."""
    line = f" (line {value.line} of its cell)" if value.line else ""
    if value.line and value.code:
        line = f" (line {value.line} of its cell: `{value.code}`)"
    general = f"it raises {value.type_name if value.type_name in NAMED else 'an exception'}"
    return Mismatch(Verdict.EXCEPTION, f"it raises {said(value)}{line}", general)


def said(value: Raised) -> str:
    """An exception in words: its type and its message, or that it has none."""
    if value.message.strip():
        return f"{value.type_name}: {value.message.strip()[:300]}"
    return f"{value.type_name}, without a message"


def _wrong_kind(
    expected: Any, actual: Any, place: Place, wanted: np.ndarray, foreign: str
) -> Mismatch:
    """Another type, or, of an array or a tensor that is no answer, another dtype."""
    if isinstance(actual, Foreign) and actual.type_name.startswith(foreign):
        return _wrong_dtype(place, actual.type_name[len(foreign) : -1], wanted.dtype.name)
    return _wrong_type(expected, actual, place)


def _wrong_dtype(place: Place, mine: str, right: str) -> Mismatch:
    text = f"{place.full} has dtype {mine} and should have {right}"
    return Mismatch(Verdict.WRONG_DTYPE, text, f"the dtype of {place.general} is wrong")


def _wrong_type(expected: Any, actual: Any, place: Place) -> Mismatch:
    return Mismatch(
        Verdict.WRONG_TYPE,
        f"{place.full} is {describe(actual)} and should be {describe(expected)}",
        f"{place.general} is {kind_in_general(actual)} and should be {kind(expected)}",
        advice(expected, actual, whole=not place.short),
    )
