"""Encode the calls that the grader sends to the sandbox, and check the results that come back.

Functions among the arguments of a call are sent in a separate message. A result that contains
anything but known kinds of data is rejected, since a student may have forged it.
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
class EncodedCalls:
    """The calls of some exercises as the sandbox gets them, and the functions taken out of them.

    `calls` and `functions` are messages; the second is empty if there are no functions. `numbers`
    has, for each exercise, the range of function numbers in each call.
    """

    calls: bytes
    functions: bytes
    numbers: Mapping[str, list[range]]
    _taken_out: Sequence[SourceFunction]

    def restore_functions(self, value: Any) -> Any:
        """Return `value` with the functions put back; leave numbers of unknown functions."""

        def function(leaf: Any) -> Any:
            known = isinstance(leaf, FunctionElsewhere) and 0 <= leaf.number < len(self._taken_out)
            return self._taken_out[leaf.number] if known else leaf

        return _replace_leaves(value, function)


def encode_calls(parts: Sequence[tuple[str, Sequence[Call]]]) -> EncodedCalls:
    """Encode the calls of each exercise; take the functions out and number them.

    Calls through which gradients may flow keep their functions, since their process ends with them.
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
            calls[-1][1].append(call if call.may_differentiate else _replace_leaves(call, number))
            numbers[name].append(range(first, len(functions)))
    message = wire.encode(functions) if functions else b""
    return EncodedCalls(wire.encode(calls), message, numbers, functions)


def _replace_leaves(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_replace_leaves(item, leaf) for item in value)
    if isinstance(value, dict):
        return {key: _replace_leaves(item, leaf) for key, item in value.items()}
    if isinstance(value, Call):
        parts = {"arguments": value.arguments, "keywords": value.keywords}
        return replace(value, **{name: _replace_leaves(part, leaf) for name, part in parts.items()})
    return leaf(value)


def pair(value: Any) -> tuple[str, Any]:
    """Return the name of an exercise and its result. Raises WireError if `value` is not a pair."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise wire.WireError("not the result of an exercise")
    return value[0], value[1]


def observations(result: list[Any], count: int, handed: EncodedCalls) -> list[Observation] | None:
    """Return the `count` observations in `result`, with functions put back; None if invalid."""
    if len(result) != count or not all(isinstance(item, Observation) for item in result):
        return None
    if not all(map(_is_legitimate, result)):
        return None
    return [
        replace(
            observation,
            arguments_after=handed.restore_functions(observation.arguments_after),
            again=observation.value,
        )
        for observation in result
    ]


def _is_legitimate(observation: Observation) -> bool:
    plain_arguments = all(
        _is_plain(value, FunctionElsewhere | SourceFunction | SeededGenerator)
        for value in observation.arguments_after
    )
    named = all(isinstance(name, str) for name in observation.ready_made)
    return (
        plain_arguments and named and all(map(_is_outcome, (observation.value, observation.later)))
    )


def _is_outcome(value: Any) -> bool:
    if isinstance(value, Unloadable):
        return all(_is_plain(shape) for shape in value.shapes.values())
    if isinstance(value, Differentiated):
        gradients = value.gradients
        known = gradients.values() if isinstance(gradients, dict) else ()
        return _is_plain(value.output, Raised) and all(
            gradient is None or isinstance(gradient, Tensor) for gradient in known
        )
    return _is_plain(value, Raised)


def _is_plain(value: Any, also: Any = ()) -> bool:
    """Return True for data that an answer may return, and for `Foreign`, its substitute."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    kinds = bool | int | float | str | np.ndarray | np.generic | Tensor | Foreign | None
    return isinstance(value, kinds) or (also != () and isinstance(value, also))
