"""Call a function on the cases of an exercise and note what it does."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Sequence
from typing import Any

from .calling import Noted, attempt, copied_array, loaded, taken, with_later_changes
from .values import Call, Observation, Raised


def observe(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Call `function` twice on fresh copies of each call's arguments, and note what it did.

    What it returns is copied at once; after all the calls, each object first returned is compared
    with its copy. A MemoryError and the person's own KeyboardInterrupt go through; any other
    exception is noted.
    """
    return with_later_changes([_observe_one(function, call) for call in calls])


def _observe_one(function: Callable[..., Any], call: Call) -> Noted:
    if call.needs_torch:
        from .torch_probe import observe_torch

        return observe_torch(function, call)
    returned, after = _call(function, call)
    value = taken(returned, copied_array)
    again = value if isinstance(value, Raised) else taken(_call(function, call)[0], copied_array)
    return Noted(Observation(value, after, again), returned, copied_array)


def _call(function: Callable[..., Any], call: Call) -> tuple[Any, tuple[Any, ...]]:
    arguments, keywords = copy.deepcopy((call.arguments, call.keywords))
    after = (*arguments, *(keywords[name] for name in sorted(keywords)))
    returned = attempt(
        function,
        *(loaded(argument) for argument in arguments),
        **{name: loaded(argument) for name, argument in keywords.items()},
    )
    return returned, after


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
