"""What goes to the sandbox: calls without the functions among their arguments, and these apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..probe import wire
from ..probe.values import Call, FunctionElsewhere, SourceFunction


@dataclass(frozen=True)
class Handed:
    """The calls of some exercises as the sandbox gets them, and what was taken out of them.

    `calls` and `functions` are messages, the second empty if there are none. `numbers` are those of
    the functions of each exercise, call by call.
    """

    calls: bytes
    functions: bytes
    numbers: Mapping[str, list[range]]
    _known: Sequence[SourceFunction]

    def put_back(self, value: Any) -> Any:
        """`value` with the functions that were taken out; a number of none of them stays."""

        def function(leaf: Any) -> Any:
            known = isinstance(leaf, FunctionElsewhere) and 0 <= leaf.number < len(self._known)
            return self._known[leaf.number] if known else leaf

        return _replaced(value, function)


def hand_over(parts: Sequence[tuple[str, Sequence[Call]]]) -> Handed:
    """Take the functions out of the calls of each exercise; each gets a number of its own.

    From calls through which gradients may go none is taken: they end with the process.
    """
    functions: list[SourceFunction] = []

    def number(leaf: Any) -> Any:
        if not isinstance(leaf, SourceFunction):
            return leaf
        functions.append(leaf)
        return FunctionElsewhere(len(functions) - 1)

    calls: list[tuple[str, list[Call]]] = []
    numbers: dict[str, list[range]] = {}
    for name, part in parts:
        calls.append((name, []))
        numbers[name] = []
        for call in part:
            first = len(functions)
            calls[-1][1].append(call if call.may_differentiate else _replaced(call, number))
            numbers[name].append(range(first, len(functions)))
    message = wire.encode(functions) if functions else b""
    return Handed(wire.encode(calls), message, numbers, functions)


def _replaced(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_replaced(item, leaf) for item in value)
    if isinstance(value, dict):
        return {key: _replaced(item, leaf) for key, item in value.items()}
    if isinstance(value, Call):
        parts = {"arguments": value.arguments, "keywords": value.keywords}
        return replace(value, **{name: _replaced(part, leaf) for name, part in parts.items()})
    return leaf(value)
