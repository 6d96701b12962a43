"""Compare gradients and parameters, which only modules and functions of tensors have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..probe.values import Raised, Tensor
from .agreement import Gradients, all_close, largest, pair_gradients
from .compare import Mismatch, Place, compare_numbers, exception_text
from .verdict import Verdict
from .words import by_parameter

MOST_LISTED = 24
"""At most this many of a module's parameters are listed in a message about a wrong parameter."""


def compare_gradients(
    expected: Any, actual: Any, parameters: tuple[str, ...] = ()
) -> Mismatch | None:
    """Return the first difference between the gradients of two `Differentiated`, or None.

    A missing gradient counts as zeros, and so does one that is mere rounding error compared with
    the largest gradient. `parameters` are the names of the arguments.
    """
    if isinstance(actual, Raised):
        text = f"the output is right, but its backward pass raises {exception_text(actual)}"
        return Mismatch(Verdict.EXCEPTION, text, "the output is right, but its backward pass fails")
    gradients: Gradients = expected or {}
    if actual is None and any(grad is not None and grad.array.any() for grad in gradients.values()):
        text = (
            "the output is right, but no gradient flows back from it: somewhere the numbers leave "
            "torch's graph (`detach`, `item`, `no_grad`, NumPy, or a new tensor made from old ones)"
        )
        return Mismatch(
            Verdict.WRONG_VALUE, text, "the output is right, but no gradient flows back from it"
        )
    if all_close(gradients, actual or {}):
        return None
    for _, mismatch in wrong_gradients(gradients, actual or {}, parameters):
        text, general = mismatch.text, mismatch.in_general
        return Mismatch(
            mismatch.verdict,
            f"the output is right, but {text}",
            f"the output is right, but {general}",
        )
    return None


def wrong_gradients(
    expected: Gradients, actual: Gradients, parameters: tuple[str, ...] = ()
) -> Iterator[tuple[str, Mismatch]]:
    """Yield the name of each gradient that is wrong, with its mismatch."""
    floor = largest(expected)
    for name, (expected_array, actual_array) in pair_gradients(expected, actual):
        label = by_parameter(name, parameters)
        place = f"the gradient of {label}"
        mismatch = compare_numbers(expected_array, actual_array, Place(place, place, place), floor)
        if mismatch and not actual_array.any():
            text = f"no gradient reaches {label}"
            mismatch = Mismatch(Verdict.WRONG_VALUE, text, text)
        if mismatch:
            yield name, mismatch


def compare_parameters(weights: dict[str, Tensor], shapes: dict[str, Any]) -> Mismatch:
    """Return the mismatch for wrong names or shapes of a module's parameters."""
    expected = {name: weight.array.shape for name, weight in weights.items()}
    listed = [f"`{name}` {shape}" for name, shape in expected.items()]
    if len(listed) > MOST_LISTED:
        listed[MOST_LISTED:] = [f"and {len(listed) - MOST_LISTED} more"]
    faults = [f"it has no parameter `{name}`" for name in expected if name not in shapes]
    faults += [
        f"its parameter `{name}` has shape {shapes[name]!s:.40} and should have {shape}"
        for name, shape in expected.items()
        if name in shapes and str(shapes[name]) != str(shape)
    ]
    faults += [
        f"it has a parameter `{name:.60}`, which it should not have"
        for name in shapes
        if name not in expected
    ]
    text = f"{'; '.join(faults[:4])}. The parameters should be: {', '.join(listed) or 'none'}"
    return Mismatch(Verdict.WRONG_PARAMETERS, text, "the parameters have other names or shapes")
