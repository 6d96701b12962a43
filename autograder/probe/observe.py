"""Call a function on the cases of an exercise and record what it does."""

from __future__ import annotations

import copy
import opcode
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from .apart import renew
from .calling import (
    CallRecord,
    attempt,
    copy_array,
    is_apart,
    load_argument,
    snapshot,
    with_later_changes,
)
from .ready_made import Watch
from .values import Call, Observation, Raised

WATCHED = 8
"""Only every eighth case, from the first on, is watched, because a watched call takes five times as
long."""


class PreparedCall(Protocol):
    """A call whose arguments have all been made."""

    def observe(self, function: Callable[..., Any]) -> CallRecord:
        """Make the call, and record what happened."""
        ...


class Prepared:
    """The calls of an exercise with their arguments, for a single pass."""

    def __init__(
        self, calls: Sequence[PreparedCall], again: bool, forbidden: Sequence[str] = ()
    ) -> None:
        """Keep the `calls` of a pass; `again` makes the last call first.

        `watched` is True if anything is `forbidden`.
        """
        self._calls = calls
        self._again = again
        self._watch = Watch(forbidden)
        self.watched = bool(forbidden)

    def observe(self, function: Callable[..., Any]) -> list[Observation]:
        """Make every call; return the observations in the order of the cases.

        Each returned object is copied at once, and compared with its copy after all the calls. A
        MemoryError, and a KeyboardInterrupt by the user, pass through; any other exception is
        recorded.
        """
        renew()
        order = list(enumerate(self._calls))
        if self._again:
            order.reverse()
        records = [self._record(at, call, function) for at, call in order]
        observations = with_later_changes(records)
        return observations[::-1] if self._again else observations

    def _record(self, at: int, call: PreparedCall, function: Callable[..., Any]) -> CallRecord:
        if at % WATCHED:
            return call.observe(function)
        with self._watch.watching(here=not is_apart()) as names:
            record = call.observe(function)
        return replace(record, observation=replace(record.observation, ready_made=tuple(names)))


def prepare(calls: Sequence[Call], *, again: bool = False) -> Prepared:
    """Make all arguments, from the arrays in `calls` without copies, so that changes can be seen.

    The first pass makes each call once. The second pass, `again`, goes from the last call to the
    first and makes each twice, modules the second time in train mode; it records the second result.
    """
    # All calls of an exercise have the same list. Watching is slow, so only this pass does it.
    forbidden = calls[0].forbidden if again and calls else ()
    return Prepared([_prepare_call(call, again) for call in calls], again, forbidden)


def observe(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Make both passes in this process, on copies of the calls' arrays; return the observations."""
    return merge_passes(*(_pass(function, calls, again) for again in (False, True)))


def observe_once(function: Callable[..., Any], calls: Sequence[Call]) -> list[Observation]:
    """Make the first pass only, which is enough for a function known to be deterministic."""
    return _pass(function, calls, again=False)


def _pass(function: Callable[..., Any], calls: Sequence[Call], again: bool) -> list[Observation]:
    return prepare(copy.deepcopy(list(calls)), again=again).observe(function)


def merge_passes(first: Sequence[Observation], second: Sequence[Observation]) -> list[Observation]:
    """Merge the observations of two passes; the value of the second pass becomes `again`."""
    return [
        replace(before, again=after.value)
        if isinstance(before.value, Raised)
        else replace(
            before,
            again=after.value,
            later=after.later if before.later is None else before.later,
            ready_made=before.ready_made or after.ready_made,
        )
        for before, after in zip(first, second, strict=True)
    ]


def _prepare_call(call: Call, again: bool) -> PreparedCall:
    if call.needs_torch:
        from .torch_probe import TorchCall

        return TorchCall(call, again)
    return _ArrayCall(call, again)


class _ArrayCall:
    """A call with only NumPy arrays and plain values, made once, or twice in a row."""

    def __init__(self, call: Call, again: bool) -> None:
        calls = [call, copy.deepcopy(call)] if again else [call]
        self._after = (*call.arguments, *(call.keywords[name] for name in sorted(call.keywords)))
        self._arguments = [
            (
                tuple(map(load_argument, each.arguments)),
                tuple((name, load_argument(value)) for name, value in each.keywords.items()),
            )
            for each in calls
        ]
        self._leaf = _leaf()

    def observe(self, function: Callable[..., Any]) -> CallRecord:
        results = []
        for arguments, keywords in self._arguments:
            returned = attempt(function, *arguments, **dict(keywords))
            results.append((returned, snapshot(returned, self._leaf)))
        value = results[-1][1]
        return CallRecord(Observation(value, self._after), *results[0], self._leaf)


def _leaf() -> Callable[[Any], Any]:
    """Return the function to copy leaves: also tensors, if torch was imported before the cells."""
    if "torch" not in sys.modules:
        return copy_array
    from .torch_probe import copy_leaf

    return copy_leaf


_RETURNS = frozenset(code for name, code in opcode.opmap.items() if "RETURN_" in name)
_members = type.__dict__["__dict__"].__get__


def is_stub(answer: Any) -> bool:
    """Return True for an untouched stub: a function or class that raises NotImplementedError only.

    In a class, each body may call `super().__init__()` first.
    """
    kind = type(answer)  # unlike isinstance and vars, this and the next lines run no student code
    if issubclass(kind, type):
        members = _members(answer).values()
        methods = [member for member in members if type(member) is types.FunctionType]
        return bool(methods) and all(map(is_stub, methods))
    if kind is not types.FunctionType or "NotImplementedError" not in answer.__code__.co_names:
        return False
    if not _RETURNS.isdisjoint(answer.__code__.co_code[::2]):
        return False  # the stub's `raise` is still there, but below an answer that returns
    return {*answer.__code__.co_names} <= {"super", "__init__", "NotImplementedError"}
