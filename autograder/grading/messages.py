"""The messages between the grader and the sandbox: the calls that go, and what comes back of them.

Functions among the arguments of a call travel apart. What comes back is data of the known kinds,
or it is none: a student forged it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..probe import wire
from ..probe.values import (
    Call,
    Differentiated,
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    SourceFunction,
    Tensor,
    Unloadable,
)


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


def pair(value: Any) -> tuple[str, Any]:
    """The name of an exercise and its result. Raises WireError."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise wire.WireError("no result of an exercise")
    return value[0], value[1]


def observations(result: list[Any], count: int, handed: Handed) -> list[Observation] | None:
    """The observations that came back, or None if one of them is none."""
    if len(result) != count or not all(isinstance(one, Observation) for one in result):
        return None
    if not all(map(_is_legitimate, result)):
        return None
    return [
        replace(one, arguments_after=handed.put_back(one.arguments_after), again=one.value)
        for one in result
    ]


def _is_legitimate(one: Observation) -> bool:
    given = all(
        _is_plain(value, FunctionElsewhere | SourceFunction | SeededGenerator)
        for value in one.arguments_after
    )
    named = all(isinstance(name, str) for name in one.ready_made)
    return given and named and all(map(_is_outcome, (one.value, one.later)))


def _is_outcome(value: Any) -> bool:
    if isinstance(value, Unloadable):
        return all(_is_plain(shape) for shape in value.shapes.values())
    if isinstance(value, Differentiated):
        gradients = value.gradients
        known = gradients.values() if isinstance(gradients, dict) else ()
        return _is_plain(value.output, Raised) and all(
            one is None or isinstance(one, Tensor) for one in known
        )
    return _is_plain(value, Raised)


def _is_plain(value: Any, also: Any = ()) -> bool:
    """True for data that an answer may be, and for `Foreign`, which stands for what it may not."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    kinds = bool | int | float | str | np.ndarray | np.generic | Tensor | Foreign | None
    return isinstance(value, kinds) or (also != () and isinstance(value, also))
