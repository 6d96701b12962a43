"""Call a function on the cases of an exercise and note what it does."""

from __future__ import annotations

import copy
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from .values import Call, Observation, Raised, SeededGenerator, SourceFunction


def observe(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Call `function` twice on fresh copies of each call's arguments, and note what it did.

    A MemoryError and the person's own KeyboardInterrupt go through; any other exception is noted.
    """
    return [_observe_one(function, call) for call in calls]


def _observe_one(function: Callable[..., Any], call: Call) -> Observation:
    if call.needs_torch:
        from .torch_probe import observe_torch

        return observe_torch(function, call)
    value, after = _call(function, call)
    again = value if isinstance(value, Raised) else _call(function, call)[0]
    return Observation(value, after, again)


def _call(function: Callable[..., Any], call: Call) -> tuple[Any, tuple[Any, ...]]:
    arguments, keywords = copy.deepcopy((call.arguments, call.keywords))
    after = (*arguments, *(keywords[name] for name in sorted(keywords)))
    value = attempt(
        function,
        *(loaded(argument) for argument in arguments),
        **{name: loaded(argument) for name, argument in keywords.items()},
    )
    return value, after


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


def is_stub(answer: Any) -> bool:
    """True for the untouched stub: a function, or a class, whose bodies only say that they are one.

    Such a body raises NotImplementedError, after `super().__init__()` in a class.
    """
    if isinstance(answer, type):
        bodies = [one for one in vars(answer).values() if isinstance(one, types.FunctionType)]
        return bool(bodies) and all(map(is_stub, bodies))
    code = getattr(answer, "__code__", None)
    if not isinstance(code, types.CodeType) or "NotImplementedError" not in code.co_names:
        return False
    return {*code.co_names} <= {"super", "__init__", "NotImplementedError"}
