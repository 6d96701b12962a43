"""Call what a student wrote, and keep of an exception what a student may read."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from .values import Raised, SeededGenerator, SourceFunction

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


def refuse_memory(error: BaseException) -> None:
    """Raise MemoryError for torch's way of saying so."""
    if isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error):
        raise MemoryError from error


def loaded(argument: Any) -> Any:
    """What the student's code is given for `argument`."""
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
