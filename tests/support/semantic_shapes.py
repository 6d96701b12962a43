"""Semantic mutants that fail at certain shapes: of length 0 or 1, with axes more or fewer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from spoiling import (
    Answer,
    Inputs,
    docstring,
    each,
    fed,
    parameters,
    results,
    shapes,
    spoilt,
)

from autograder.exercise.model import Exercise

Mutants = Iterator[tuple[str, Answer]]


def leading_axes(exercise: Exercise) -> Mutants:
    """Yield answers that mishandle no, one or several leading axes."""
    if not any(axes[:1] == ("...",) for axes in shapes(exercise).values()):
        return

    def flat(result: Any, inputs: Inputs) -> Any:
        return each(result, lambda array: array.reshape((-1, *array.shape[inputs.leading :])))

    def unbatched(result: Any, inputs: Inputs) -> Any:
        return each(result, lambda array: array[0] if array.ndim and array.shape[0] == 1 else array)

    yield "no leading axis refused", spoilt(exercise, lambda inputs: inputs.leading == 0)
    yield "a leading axis refused", spoilt(exercise, lambda inputs: inputs.leading > 0)
    yield "several leading axes refused", spoilt(exercise, lambda inputs: inputs.leading > 1)
    yield "three leading axes refused", spoilt(exercise, lambda inputs: inputs.leading > 2)
    if any(array.ndim for array in results(exercise)):
        yield "leading axes flattened", spoilt(exercise, lambda inputs: inputs.leading > 1, flat)
        yield (
            "a batch of one treated as none",
            spoilt(exercise, lambda inputs: inputs.leading > 0, unbatched),
        )
    if "eading axes broadcast" in docstring(exercise):
        yield "leading axes that broadcast refused", spoilt(exercise, _broadcasts)


def _broadcasts(inputs: Inputs) -> bool:
    leading = [array.shape[: array.ndim - len(core)] for _, array, core in inputs.arrays]
    return len(set(leading)) > 1


def ones_squeezed(exercise: Exercise) -> Mutants:
    """Yield answers that squeeze axes of length 1."""
    if not any(array.ndim for array in results(exercise)):
        return
    yield (
        "axes of length 1 squeezed",
        spoilt(
            exercise,
            lambda inputs: True,
            lambda result, inputs: each(result, lambda array: array.squeeze()),
        ),
    )
    yield (
        "a last axis of length 1 squeezed",
        spoilt(exercise, lambda inputs: True, lambda result, inputs: each(result, _last_squeezed)),
    )


def _last_squeezed(array: Any) -> Any:
    return array[..., 0] if array.ndim and array.shape[-1] == 1 else array


def lengths(exercise: Exercise) -> Mutants:
    """Yield answers that refuse length 0 where the docstring mentions it, or length 1."""
    named = {axis for axes in shapes(exercise).values() for axis in axes if axis.isidentifier()}
    named -= set(parameters(exercise))
    for axis in sorted(named):
        if may_be_0(exercise, axis):
            yield f"{axis} of 0 refused", _refused_at(exercise, axis, 0)
        if not re.match("d_?|C$", axis):  # feature axes come last and are squeezed above
            yield f"{axis} of 1 refused", _refused_at(exercise, axis, 1)
    for name in parameters(exercise):
        if may_be_0(exercise, name):
            yield f"{name} of 0 refused", _refused_at(exercise, name, 0)
        is_integer = parameters(exercise)[name].annotation is int
        if is_integer and re.search(
            rf"\b{name}\b[^.]*(at least 1|1 or more|from 1)\b", docstring(exercise)
        ):
            yield f"{name} of 1 refused", _refused_at(exercise, name, 1)


def may_be_0(exercise: Exercise, name: str) -> bool:
    """Return True if the docstring says that an axis or a parameter may be 0."""
    pattern = (
        rf"\b{name}( and \w+)? may be 0|{name}: [^(]*\bmay be 0|"
        rf"\b{name}: [^(]*\b0 or more|\b{name} is 0 or more|With {name} = 0"
    )
    sentences = re.split(r"(?<!\.)\.\s", docstring(exercise))
    return any(re.search(pattern, sentence) for sentence in sentences)


def _refused_at(exercise: Exercise, name: str, length: int) -> Answer:
    def where(inputs: Inputs) -> bool:
        value = inputs.lengths.get(name, inputs.arguments.get(name))
        return isinstance(value, int) and value == length

    return spoilt(exercise, where)


def sizes_that_differ(exercise: Exercise) -> Mutants:
    """Yield answers that refuse two lengths that need not be equal."""
    named = {
        axis
        for name, axes in shapes(exercise).items()
        if name in parameters(exercise) and "mask" not in name
        for axis in axes
        if axis.isidentifier()
    } - set(parameters(exercise))
    for kind in ("n|m|T|L|H|W", "d"):
        alike = sorted(axis for axis in named if re.match(rf"({kind})(_|$)", axis))
        for first, second in combinations(alike, 2):
            yield (
                f"{first} other than {second} refused",
                _differing_refused(exercise, first, second),
            )


def _differing_refused(exercise: Exercise, first: str, second: str) -> Answer:
    def where(inputs: Inputs) -> bool:
        lengths = inputs.lengths
        return first in lengths and second in lengths and lengths[first] != lengths[second]

    return spoilt(exercise, where)


def empty_masks(exercise: Exercise) -> Mutants:
    """Yield answers that refuse length 0 together with a mask."""
    for mask, axes in shapes(exercise).items():
        for axis in sorted(set(axes) - {"..."}):
            if "mask" in mask and may_be_0(exercise, axis):
                yield f"{axis} of 0 with {mask} refused", _empty_refused(exercise, axis, mask)


def _empty_refused(exercise: Exercise, axis: str, mask: str) -> Answer:
    def where(inputs: Inputs) -> bool:
        return inputs.lengths.get(axis) == 0 and inputs.arguments.get(mask) is not None

    return spoilt(exercise, where)


def masks(exercise: Exercise) -> Mutants:
    """Yield answers that mishandle masks with fewer axes than the scores, or with empty rows."""
    for name, axes in shapes(exercise).items():
        if "mask" not in name:
            continue
        yield (
            f"a row of {name} without True refused",
            _mask_refused(exercise, name, lambda mask, inputs: bool((~mask.any(-1)).any())),
        )
        if "broadcastable" not in docstring(exercise) or len(set(axes) - {"...", "batch"}) < 2:
            continue
        yield f"{name} without its query axis", fed(exercise, _first_row(name))
        yield (
            f"{name} of one axis refused",
            _mask_refused(exercise, name, lambda mask, inputs: mask.ndim == 1),
        )
        yield (
            f"{name} without leading axes refused",
            _mask_refused(
                exercise, name, lambda mask, inputs: mask.ndim == 2 and _axes_before(inputs) > 0
            ),
        )
        yield (
            f"{name} for each of a batch refused",
            _mask_refused(exercise, name, lambda mask, inputs: mask.ndim > 2 and mask.shape[0] > 1),
        )
        yield (
            f"{name} with a query axis of 1 refused",
            _mask_refused(
                exercise, name, lambda mask, inputs: mask.ndim > 1 and mask.shape[-2] == 1
            ),
        )
        yield (
            f"{name} with a key axis of 1 refused",
            _mask_refused(exercise, name, lambda mask, inputs: mask.shape[-1:] == (1,)),
        )


def _axes_before(inputs: Inputs) -> int:
    """Return the number of leading axes, the named batch axis included."""
    return max(inputs.leading, int("batch" in inputs.lengths))


def _mask_refused(
    exercise: Exercise, name: str, condition: Callable[[Any, Inputs], bool]
) -> Answer:
    def condition_holds(inputs: Inputs) -> bool:
        mask = inputs.arguments.get(name)
        return mask is not None and condition(mask, inputs)

    return spoilt(exercise, condition_holds)


def _first_row(name: str) -> Callable[[Inputs], dict[str, Any]]:
    """Return a change that gives every query the mask of the first."""

    def change(inputs: Inputs) -> dict[str, Any]:
        mask = inputs.arguments.get(name)
        return {} if mask is None or mask.ndim < 2 else {name: mask[..., :1, :]}

    return change


SHAPE_WRAPPERS = (
    leading_axes,
    ones_squeezed,
    lengths,
    sizes_that_differ,
    masks,
    empty_masks,
)
