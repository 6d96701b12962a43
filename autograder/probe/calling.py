"""Call the student's code, and copy what it returned or raised as it was at that moment."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import wire
from .apart import Failed
from .apart import call as apart_call
from .asking import stand_in
from .values import (
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    SourceFunction,
    Unloadable,
)

NO_MESSAGE = "(the exception's message could not be read)"
OUT_OF_MEMORY = "DefaultCPUAllocator"
"""The word in torch's message if memory runs out."""

MOST_CODE = 120
"""At most this many characters of the line that raised an exception are kept."""

_CELL_NAME = re.compile(r"^<cell |^<ipython-input-|[/\\](ipykernel|xpython)_\d+[/\\]")
"""The file names that notebook kernels and this sandbox give to cells."""

MOST_TYPES = 20
"""At most this many types of an exception are kept: its own and its base classes."""


def attempt(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call `function`; return its result, or `Raised` if it raises an exception."""
    try:
        return _call(function, arguments, keywords)
    except Failed as failed:
        return _failure(failed)
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise_memory_error(error)
        return record_exception(error)


def _directly(function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    return function(*arguments, **keywords)


_call = _directly


def call_apart() -> None:
    """Make each attempt from now on in a thread that sees nothing of this package."""
    global _call
    _call = apart_call


def is_apart() -> bool:
    """Return True if each attempt is made in such a thread."""
    return _call is apart_call


def _failure(failed: Failed) -> Raised:
    """Return the record of an exception that was raised in such a thread."""
    for kind in (MemoryError, KeyboardInterrupt):
        if kind.__name__ in failed.kinds:
            raise kind
    message = failed.message
    if message is None:
        message = NO_MESSAGE
    elif OUT_OF_MEMORY in message and "RuntimeError" in failed.kinds:
        raise MemoryError
    name, *bases = (kind[:100] for kind in failed.kinds[:MOST_TYPES]) if failed.kinds else ("",)
    return Raised(name, message, failed.line, tuple(bases))


def snapshot(value: Any, leaf: Callable[[Any], Any], depth: int = 0) -> Any:
    """Return a copy of a returned value as it is now; `leaf` copies each array and tensor.

    A NamedTuple becomes a plain tuple, and an OrderedDict a plain dict. A value that is not a valid
    answer is returned unchanged.
    """
    kind = type(value)
    if issubclass(kind, tuple):  # unlike isinstance, this runs no code of the value's class
        kind, value = tuple, tuple(tuple.__iter__(value))
    if issubclass(kind, dict):
        pairs = [*dict.items(value)]
        if any(type(key) is not str for key, _ in pairs):  # copying it would run the keys' code
            return value
        kind, value = dict, dict(pairs)
    if kind is not tuple and kind is not list and kind is not dict:
        return leaf(value)
    if depth == wire.MAX_DEPTH or len(value) > wire.MAX_ITEMS:
        return value
    if depth == 0 and kind is not dict and not _is_sendable(value):
        return Foreign(f"a {kind.__name__} of more than {wire.MAX_ITEMS:,} items in all")
    if kind is dict:
        return {key: snapshot(item, leaf, depth + 1) for key, item in value.items()}
    return kind(snapshot(item, leaf, depth + 1) for item in value)


def _is_sendable(value: list[Any] | tuple[Any, ...]) -> bool:
    """Return True if nested lists and tuples have at most MAX_ITEMS items in all.

    Each item takes a node of the message, and a result with more would not fit into it.
    """
    count, waiting = 0, [value]
    while waiting and count <= wire.MAX_ITEMS:
        items = waiting.pop()
        count += len(items)
        waiting += [item for item in items if type(item) is list or type(item) is tuple]
    return count <= wire.MAX_ITEMS


def copy_array(value: Any) -> Any:
    """Return a copy of an array that is not too large for an answer; else the value itself."""
    if type(value) is np.ndarray and value.nbytes <= wire.MAX_BYTES:
        return value.copy()
    return value


@dataclass(frozen=True)
class CallRecord:
    """The observation of a call, the object first returned, its copy, and `leaf` to copy it."""

    observation: Observation
    returned: Any
    copied: Any
    leaf: Callable[[Any], Any]


def with_later_changes(records: Sequence[CallRecord]) -> list[Observation]:
    """Return the observations, with the present value of each returned object that has changed."""
    return [_with_later_change(record) for record in records]


def _with_later_change(record: CallRecord) -> Observation:
    if isinstance(record.copied, Raised | Foreign | Unloadable):
        return record.observation
    now = snapshot(record.returned, record.leaf)
    unchanged = wire.encode(now) == wire.encode(record.copied)
    return record.observation if unchanged else replace(record.observation, later=now)


def raise_memory_error(error: BaseException) -> None:
    """Raise MemoryError if `error` is the RuntimeError by which torch reports it."""
    if isinstance(error, RuntimeError) and OUT_OF_MEMORY in str(error):
        raise MemoryError from error


def load_argument(argument: Any) -> Any:
    """Return the value that the student's code receives for `argument`."""
    if isinstance(argument, FunctionElsewhere):
        return stand_in(argument.number)
    return argument.load() if isinstance(argument, SourceFunction | SeededGenerator) else argument


def record_exception(error: BaseException) -> Raised:
    """Return the record of an exception: its types, its message, and the last line in a cell."""
    line, code = None, ""
    if isinstance(error, SyntaxError):
        line = error.lineno
    for frame in traceback.extract_tb(error.__traceback__):
        if _CELL_NAME.search(frame.filename):
            line, code = frame.lineno, (frame.line or "")[:MOST_CODE]
    try:
        message = str(error)
    except BaseException:
        message = NO_MESSAGE
    name, *bases = (kind.__name__[:100] for kind in type(error).__mro__[:MOST_TYPES])
    return Raised(name, message, line, tuple(bases), code)
