"""Semantic mutants that go wrong at certain shapes: of length 0 or 1, with axes more or fewer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from spoiling import (
    Answer,
    Given,
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
    """Batches of one, none, and several leading axes."""
    if not any(axes[:1] == ("...",) for axes in shapes(exercise).values()):
        return

    def flat(result: Any, given: Given) -> Any:
        return each(result, lambda one: one.reshape((-1, *one.shape[given.leading :])))

    def unbatched(result: Any, given: Given) -> Any:
        return each(result, lambda one: one[0] if one.ndim and one.shape[0] == 1 else one)

    yield "no leading axis refused", spoilt(exercise, lambda given: given.leading == 0)
    yield "a leading axis refused", spoilt(exercise, lambda given: given.leading > 0)
    yield "several leading axes refused", spoilt(exercise, lambda given: given.leading > 1)
    yield "three leading axes refused", spoilt(exercise, lambda given: given.leading > 2)
    if any(array.ndim for array in results(exercise)):
        yield "leading axes flattened", spoilt(exercise, lambda given: given.leading > 1, flat)
        yield (
            "a batch of one treated as none",
            spoilt(exercise, lambda given: given.leading > 0, unbatched),
        )
    if "eading axes broadcast" in docstring(exercise):
        yield "leading axes that broadcast refused", spoilt(exercise, _broadcasts)


def _broadcasts(given: Given) -> bool:
    leading = [array.shape[: array.ndim - len(core)] for _, array, core in given.arrays]
    return len(set(leading)) > 1


def ones_squeezed(exercise: Exercise) -> Mutants:
    """Axes of length one that vanish."""
    if not any(array.ndim for array in results(exercise)):
        return
    yield (
        "axes of length 1 squeezed",
        spoilt(
            exercise,
            lambda given: True,
            lambda result, given: each(result, lambda one: one.squeeze()),
        ),
    )
    yield (
        "a last axis of length 1 squeezed",
        spoilt(exercise, lambda given: True, lambda result, given: each(result, _last_squeezed)),
    )


def _last_squeezed(array: Any) -> Any:
    return array[..., 0] if array.ndim and array.shape[-1] == 1 else array


def lengths(exercise: Exercise) -> Mutants:
    """Length 0 where the docstring speaks of it, and length 1."""
    named = {axis for axes in shapes(exercise).values() for axis in axes if axis.isidentifier()}
    named -= set(parameters(exercise))
    for axis in sorted(named):
        if may_be_0(exercise, axis):
            yield f"{axis} of 0 refused", _refused_at(exercise, axis, 0)
        if not re.match("d_?|C$", axis):  # the features of a token: a last axis, squeezed above
            yield f"{axis} of 1 refused", _refused_at(exercise, axis, 1)
    for name in parameters(exercise):
        if may_be_0(exercise, name):
            yield f"{name} of 0 refused", _refused_at(exercise, name, 0)
        whole = parameters(exercise)[name].annotation is int
        if whole and re.search(
            rf"\b{name}\b[^.]*(at least 1|1 or more|from 1)\b", docstring(exercise)
        ):
            yield f"{name} of 1 refused", _refused_at(exercise, name, 1)


def may_be_0(exercise: Exercise, name: str) -> bool:
    """True if the docstring says so of an axis or a parameter."""
    pattern = (
        rf"\b{name}( and \w+)? may be 0|{name}: [^(]*\bmay be 0|"
        rf"\b{name}: [^(]*\b0 or more|\b{name} is 0 or more|With {name} = 0"
    )
    sentences = re.split(r"(?<!\.)\.\s", docstring(exercise))
    return any(re.search(pattern, sentence) for sentence in sentences)


def _refused_at(exercise: Exercise, name: str, length: int) -> Answer:
    def where(given: Given) -> bool:
        value = given.lengths.get(name, given.arguments.get(name))
        return isinstance(value, int) and value == length

    return spoilt(exercise, where)


def sizes_that_differ(exercise: Exercise) -> Mutants:
    """Two lengths that need not be equal."""
    named = {
        axis
        for name, axes in shapes(exercise).items()
        if name in parameters(exercise) and "mask" not in name
        for axis in axes
        if axis.isidentifier()
    } - set(parameters(exercise))
    for kind in ("n|m|T|L|H|W", "d"):
        alike = sorted(axis for axis in named if re.match(rf"({kind})(_|$)", axis))
        for one, other in combinations(alike, 2):
            yield f"{one} other than {other} refused", _differing_refused(exercise, one, other)


def _differing_refused(exercise: Exercise, one: str, other: str) -> Answer:
    def where(given: Given) -> bool:
        lengths = given.lengths
        return one in lengths and other in lengths and lengths[one] != lengths[other]

    return spoilt(exercise, where)


def empty_masks(exercise: Exercise) -> Mutants:
    """Length 0 with a mask."""
    for mask, axes in shapes(exercise).items():
        for axis in sorted(set(axes) - {"..."}):
            if "mask" in mask and may_be_0(exercise, axis):
                yield f"{axis} of 0 with {mask} refused", _empty_refused(exercise, axis, mask)


def _empty_refused(exercise: Exercise, axis: str, mask: str) -> Answer:
    def where(given: Given) -> bool:
        return given.lengths.get(axis) == 0 and given.arguments.get(mask) is not None

    return spoilt(exercise, where)


def masks(exercise: Exercise) -> Mutants:
    """Masks with fewer axes than the scores, and rows with nothing to attend to."""
    for name, axes in shapes(exercise).items():
        if "mask" not in name:
            continue
        yield (
            f"a row of {name} without True refused",
            _mask_refused(exercise, name, lambda mask, given: bool((~mask.any(-1)).any())),
        )
        if "broadcastable" not in docstring(exercise) or len(set(axes) - {"...", "batch"}) < 2:
            continue
        yield f"{name} without its query axis", fed(exercise, _first_row(name))
        yield (
            f"{name} of one axis refused",
            _mask_refused(exercise, name, lambda mask, given: mask.ndim == 1),
        )
        yield (
            f"{name} without leading axes refused",
            _mask_refused(
                exercise, name, lambda mask, given: mask.ndim == 2 and _axes_before(given) > 0
            ),
        )
        yield (
            f"{name} for each of a batch refused",
            _mask_refused(exercise, name, lambda mask, given: mask.ndim > 2 and mask.shape[0] > 1),
        )
        yield (
            f"{name} with a query axis of 1 refused",
            _mask_refused(
                exercise, name, lambda mask, given: mask.ndim > 1 and mask.shape[-2] == 1
            ),
        )
        yield (
            f"{name} with a key axis of 1 refused",
            _mask_refused(exercise, name, lambda mask, given: mask.shape[-1:] == (1,)),
        )


def _axes_before(given: Given) -> int:
    """Leading axes, or the batch that has a name."""
    return max(given.leading, int("batch" in given.lengths))


def _mask_refused(exercise: Exercise, name: str, where: Callable[[Any, Given], bool]) -> Answer:
    def here(given: Given) -> bool:
        mask = given.arguments.get(name)
        return mask is not None and where(mask, given)

    return spoilt(exercise, here)


def _first_row(name: str) -> Callable[[Given], dict[str, Any]]:
    """Every query is given the mask of the first."""

    def change(given: Given) -> dict[str, Any]:
        mask = given.arguments.get(name)
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
