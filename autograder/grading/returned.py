"""What came back from a sandbox is data of the known kinds, or it is none: a student forged it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..probe import wire
from ..probe.values import (
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
from .callbacks import Handed


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
