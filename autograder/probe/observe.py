"""Call a function on the cases of an exercise and note what it does."""

from __future__ import annotations

import copy
import opcode
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from .apart import renew
from .calling import Noted, attempt, copied_array, is_apart, loaded, taken, with_later_changes
from .ready_made import Watch
from .values import Call, Observation, Raised

WATCHED = 8
"""Every so many cases, from the first on, what runs is watched: it takes five times as long."""


class Made(Protocol):
    """A call with all its arguments made."""

    def observe(self, function: Callable[..., Any]) -> Noted:
        """Make the call, and note what it showed."""
        ...


class Prepared:
    """The calls of one exercise, with their arguments made: once for one pass."""

    def __init__(self, made: Sequence[Made], again: bool, forbidden: Sequence[str] = ()) -> None:
        """`again` makes the last call first. `watched` is True where something is `forbidden`."""
        self._made = made
        self._again = again
        self._watch = Watch(forbidden)
        self.watched = bool(forbidden)

    def observe(self, function: Callable[..., Any]) -> list[Observation]:
        """Make every call; the observations stand in the order of the cases.

        What is returned is copied at once; after all the calls, each object returned is compared
        with its copy. A MemoryError and the person's own KeyboardInterrupt go through; any other
        exception is noted.
        """
        renew()
        order = list(enumerate(self._made))
        if self._again:
            order.reverse()
        seen = with_later_changes([self._observed(at, made, function) for at, made in order])
        return seen[::-1] if self._again else seen

    def _observed(self, at: int, made: Made, function: Callable[..., Any]) -> Noted:
        if at % WATCHED:
            return made.observe(function)
        with self._watch.watching(here=not is_apart()) as ran:
            noted = made.observe(function)
        return replace(noted, observation=replace(noted.observation, ready_made=tuple(ran)))


def prepare(calls: Sequence[Call], *, again: bool = False) -> Prepared:
    """Make all arguments, of the arrays in `calls` themselves: whoever holds them sees a change.

    The first pass makes each call once. The second pass, `again`, goes from the last call to the
    first and makes each twice, modules the second time in train mode: it notes the second result.
    """
    # One list for the whole exercise, looked for in the second pass: looking takes its time.
    forbidden = calls[0].forbidden if again and calls else ()
    return Prepared([_made(call, again) for call in calls], again, forbidden)


def observe(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Both passes, one after the other in this process, on copies of the calls' arrays."""
    return together(*(_pass(function, calls, again) for again in (False, True)))


def observe_once(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """The first pass alone: all that is to be seen of what gives the same every time."""
    return _pass(function, calls, again=False)


def _pass(function: Callable[..., Any], calls: Sequence[Call], again: bool) -> list[Observation]:
    return prepare(copy.deepcopy(list(calls)), again=again).observe(function)


def together(first: Sequence[Observation], second: Sequence[Observation]) -> list[Observation]:
    """The observations of two passes as one: what the second pass noted is `again`."""
    return [
        replace(one, again=two.value)
        if isinstance(one.value, Raised)
        else replace(
            one,
            again=two.value,
            later=two.later if one.later is None else one.later,
            ready_made=one.ready_made or two.ready_made,
        )
        for one, two in zip(first, second, strict=True)
    ]


def _made(call: Call, again: bool) -> Made:
    if call.needs_torch:
        from .torch_probe import TorchCall

        return TorchCall(call, again)
    return _ArrayCall(call, again)


class _ArrayCall:
    """A call with NumPy's arrays, or numbers alone, made once, or twice in a row."""

    def __init__(self, call: Call, again: bool) -> None:
        times = [call, copy.deepcopy(call)] if again else [call]
        self._after = (*call.arguments, *(call.keywords[name] for name in sorted(call.keywords)))
        self._times = [
            (
                tuple(map(loaded, one.arguments)),
                tuple((name, loaded(value)) for name, value in one.keywords.items()),
            )
            for one in times
        ]
        self._leaf = _leaf()

    def observe(self, function: Callable[..., Any]) -> Noted:
        results = []
        for arguments, keywords in self._times:
            returned = attempt(function, *arguments, **dict(keywords))
            results.append((returned, taken(returned, self._leaf)))
        value = results[-1][1]
        return Noted(Observation(value, self._after), *results[0], self._leaf)


def _leaf() -> Callable[[Any], Any]:
    """How what is returned is copied: tensors too, if torch was here before the student's code."""
    if "torch" not in sys.modules:
        return copied_array
    from .torch_probe import copied_leaf

    return copied_leaf


_RETURNS = frozenset(code for name, code in opcode.opmap.items() if "RETURN_" in name)
_parts_of = type.__dict__["__dict__"].__get__


def is_stub(answer: Any) -> bool:
    """True for the untouched stub: a function, or a class, whose bodies only say that they are one.

    Such a body raises NotImplementedError, after `super().__init__()` in a class.
    """
    kind = type(answer)  # unlike isinstance and vars, what follows runs no code of the answer's
    if issubclass(kind, type):
        bodies = [one for one in _parts_of(answer).values() if type(one) is types.FunctionType]
        return bool(bodies) and all(map(is_stub, bodies))
    if kind is not types.FunctionType or "NotImplementedError" not in answer.__code__.co_names:
        return False
    if not _RETURNS.isdisjoint(answer.__code__.co_code[::2]):
        return False  # the line is still there, below what was written
    return {*answer.__code__.co_names} <= {"super", "__init__", "NotImplementedError"}
