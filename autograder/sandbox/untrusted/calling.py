"""Call what a student wrote, and keep what it returned, or raised, as it was at that moment."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import wire
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

MOST_TYPES = 20
"""So many of the types of an exception are kept: its own, and those that it is derived from."""


def attempt(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What `function` returns, or `Raised`."""
    try:
        return function(*arguments, **keywords)
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        refuse_memory(error)
        return raised(error)


def taken(value: Any, leaf: Callable[[Any], Any], depth: int = 0) -> Any:
    """A copy of what was returned, as it is now, with what `leaf` makes of each array and tensor.

    A tuple with names (a NamedTuple) becomes a plain one. What may be no answer stays as it is.
    """
    kind = tuple if isinstance(value, tuple) else type(value)
    if kind not in (tuple, list, dict):
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
    if isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error):
        raise MemoryError from error


def loaded(argument: Any) -> Any:
    """What the student's code is given for `argument`."""
    if isinstance(argument, FunctionElsewhere):
        return stand_in(argument.number)
    return argument.load() if isinstance(argument, SourceFunction | SeededGenerator) else argument


def raised(error: BaseException) -> Raised:
    """What is kept of an exception: its types, its message, and the last line in a cell."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename.startswith("<cell")]
        line = lines[-1] if lines else None
    try:
        message = str(error)
    except BaseException:
        message = "(the exception could not say what it is about)"
    name, *bases = (kind.__name__[:100] for kind in type(error).__mro__[:MOST_TYPES])
    return Raised(name, message, line, tuple(bases))
