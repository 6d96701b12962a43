"""Call a function on the cases of an exercise and note what it does."""

from __future__ import annotations

import copy
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from .values import Observation, Raised, SourceFunction

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments and the keywords of one call."""


def observe(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Call `function` twice on fresh copies of each call's arguments, and note what it did.

    A MemoryError and the person's own KeyboardInterrupt go through; any other exception is noted.
    """
    return [_observe_one(function, arguments, keywords) for arguments, keywords in calls]


def _observe_one(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Observation:
    value, after = _call(function, arguments, keywords)
    again = value if isinstance(value, Raised) else _call(function, arguments, keywords)[0]
    return Observation(value, after, again)


def _call(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, tuple[Any, ...]]:
    arguments, keywords = copy.deepcopy((arguments, keywords))
    after = (*arguments, *(keywords[name] for name in sorted(keywords)))
    try:
        value = function(
            *(_loaded(argument) for argument in arguments),
            **{name: _loaded(argument) for name, argument in keywords.items()},
        )
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        value = raised(error)
    return value, after


def _loaded(argument: Any) -> Any:
    return argument.load() if isinstance(argument, SourceFunction) else argument


def raised(error: BaseException) -> Raised:
    """What is kept of an exception: its type, its message, and the last line in a cell."""
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
    return Raised(type(error).__name__[:100], message, line)


def is_stub(function: Any) -> bool:
    """True for a function that is the untouched stub: its body only raises NotImplementedError."""
    code = getattr(function, "__code__", None)
    return isinstance(code, types.CodeType) and code.co_names == ("NotImplementedError",)
