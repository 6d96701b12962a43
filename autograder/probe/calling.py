"""Call what a student wrote, and keep what it returned, or raised, as it was at that moment."""

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

WORDLESS = "(the exception could not say what it is about)"
OUT_OF_MEMORY = "DefaultCPUAllocator"
"""What torch says then."""

MOST_CODE = 120
"""So many characters are kept of the line of a cell that raised an exception."""

_OF_A_CELL = re.compile(r"^<cell |^<ipython-input-|[/\\](ipykernel|xpython)_\d+[/\\]")
"""The names that a notebook's kernels give to cells, and this sandbox."""

MOST_TYPES = 20
"""So many of the types of an exception are kept: its own, and those that it is derived from."""


def attempt(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What `function` returns, or `Raised`."""
    try:
        return _call(function, arguments, keywords)
    except Failed as failed:
        return _failure(failed)
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        refuse_memory(error)
        return raised(error)


def _directly(function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    return function(*arguments, **keywords)


_call = _directly


def call_apart() -> None:
    """Make each attempt from now on in a thread that sees nothing of this package."""
    global _call
    _call = apart_call


def is_apart() -> bool:
    """True if each attempt is made in such a thread."""
    return _call is apart_call


def _failure(failed: Failed) -> Raised:
    """What is kept of an exception in such a thread."""
    for kind in (MemoryError, KeyboardInterrupt):
        if kind.__name__ in failed.kinds:
            raise kind
    message = failed.message
    if message is None:
        message = WORDLESS
    elif OUT_OF_MEMORY in message and "RuntimeError" in failed.kinds:
        raise MemoryError
    name, *bases = (kind[:100] for kind in failed.kinds[:MOST_TYPES]) if failed.kinds else ("",)
    return Raised(name, message, failed.line, tuple(bases))


def taken(value: Any, leaf: Callable[[Any], Any], depth: int = 0) -> Any:
    """A copy of what was returned, as it is now, with what `leaf` makes of each array and tensor.

    A tuple with names (a NamedTuple) becomes a plain one, and so does an OrderedDict. What may be
    no answer stays as it is.
    """
    kind = type(value)
    if issubclass(kind, tuple):  # unlike isinstance, this runs no code of the value's
        kind, value = tuple, tuple(tuple.__iter__(value))
    if issubclass(kind, dict):
        pairs = [*dict.items(value)]
        if any(type(key) is not str for key, _ in pairs):  # to copy it would run the key's own code
            return value
        kind, value = dict, dict(pairs)
    if kind is not tuple and kind is not list and kind is not dict:
        return leaf(value)
    if depth == wire.MAX_DEPTH or len(value) > wire.MAX_ITEMS:
        return value
    if kind is dict:
        return {key: taken(item, leaf, depth + 1) for key, item in value.items()}
    return kind(taken(item, leaf, depth + 1) for item in value)


def copied_array(value: Any) -> Any:
    """A copy of an array, unless it is too large for an answer; anything else as it is."""
    if type(value) is np.ndarray and value.nbytes <= wire.MAX_BYTES:
        return value.copy()
    return value


@dataclass(frozen=True)
class Noted:
    """What one case showed, with the object first returned, its copy, and how that is taken."""

    observation: Observation
    returned: Any
    kept: Any
    leaf: Callable[[Any], Any]


def with_later_changes(noted: Sequence[Noted]) -> list[Observation]:
    """The observations, each with what has become of the object first returned, if it changed."""
    return [_with_later_change(one) for one in noted]


def _with_later_change(noted: Noted) -> Observation:
    if isinstance(noted.kept, Raised | Foreign | Unloadable):
        return noted.observation
    now = taken(noted.returned, noted.leaf)
    unchanged = wire.encode(now) == wire.encode(noted.kept)
    return noted.observation if unchanged else replace(noted.observation, later=now)


def refuse_memory(error: BaseException) -> None:
    """Raise MemoryError for torch's way of saying so."""
    if isinstance(error, RuntimeError) and OUT_OF_MEMORY in str(error):
        raise MemoryError from error


def loaded(argument: Any) -> Any:
    """What the student's code is given for `argument`."""
    if isinstance(argument, FunctionElsewhere):
        return stand_in(argument.number)
    return argument.load() if isinstance(argument, SourceFunction | SeededGenerator) else argument


def raised(error: BaseException) -> Raised:
    """What is kept of an exception: its types, its message, and the last line in a cell."""
    line, code = None, ""
    if isinstance(error, SyntaxError):
        line = error.lineno
    for frame in traceback.extract_tb(error.__traceback__):
        if _OF_A_CELL.search(frame.filename):
            line, code = frame.lineno, (frame.line or "")[:MOST_CODE]
    try:
        message = str(error)
    except BaseException:
        message = WORDLESS
    name, *bases = (kind.__name__[:100] for kind in type(error).__mro__[:MOST_TYPES])
    return Raised(name, message, line, tuple(bases), code)
