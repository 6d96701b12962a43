"""Call a function on the cases of an exercise and note what it does."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Sequence
from typing import Any

from .calling import attempt, loaded
from .values import Call, Observation, Raised


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
