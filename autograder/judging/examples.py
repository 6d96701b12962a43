"""Keep what an answer returned on the public case that its message is about, to draw it later."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe import wire
from ..probe.values import Differentiated, Observation, Raised, Tensor
from .keys import AnswerKey
from .verdict import Example, Judgement

MOST_NUMBERS = 2_000
"""A value with more numbers is not kept, since the journal would grow with it. The values of public
cases have a few dozen."""

MOST_BYTES = 64 * MOST_NUMBERS
"""The limit on a value that is read back, which may have been edited."""


@dataclass
class _Budget:
    numbers: int = MOST_NUMBERS


def example_of(
    judgement: Judgement, key: AnswerKey, observations: Sequence[Observation]
) -> Example | None:
    """Return the public case of a wrong answer, and the numbers that it returned in the first pass.

    None if the judgement is about no case or about a hidden one. In the first pass, all public
    cases run before any process gets a hidden input, so that no value can carry one.
    """
    at = judgement.case
    if judgement.passed or at is None or at >= min(key.public, len(observations)) or key.is_test:
        return None
    numbers = _numbers(observations[at].value, _Budget())
    return Example(at, key.cases[at].note, _pack(numbers))


def value_of(example: Example) -> Any:
    """Return the value in an example, without any text of the student's; None if there is none."""
    try:
        packed = base64.b64decode(example.value, validate=True)
        return wire.decode(zlib.decompressobj().decompress(packed, MOST_BYTES))
    except (binascii.Error, zlib.error, wire.WireError, ValueError):
        return None


def _pack(value: Any) -> str:
    return base64.b64encode(zlib.compress(wire.encode(value))).decode("ascii")


def _numbers(value: Any, budget: _Budget) -> Any:
    """Return the arrays and tensors within a value; everything else in it becomes None."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        budget.numbers -= value.size
        return value if budget.numbers >= 0 else None
    if isinstance(value, Tensor):
        array = _numbers(value.array, budget)
        return None if array is None else Tensor(array, value.gradient)
    if isinstance(value, tuple | list):
        budget.numbers -= len(value)
        items = value if budget.numbers >= 0 else ()
        return type(value)(_numbers(item, budget) for item in items)
    if isinstance(value, Differentiated):
        gradients = value.gradients
        if isinstance(gradients, Raised) or gradients is None:
            return _numbers(value.output, budget)
        by_name = {name: _numbers(gradient, budget) for name, gradient in gradients.items()}
        return Differentiated(_numbers(value.output, budget), by_name)
    return None
