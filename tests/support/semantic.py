"""Semantic mutants: answers that are right in the middle and wrong at one edge.

Each wrapper is given an exercise, and yields the wrong answers that it makes of the reference, by
name; none where it does not apply.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import torch
from keys import shown_cases
from semantic_numbers import NUMBER_WRAPPERS
from spoiling import (
    Answer,
    Call,
    Given,
    arrays_in,
    bound,
    docstring,
    each,
    fed,
    is_array,
    is_floating,
    parameters,
    shapes,
    spoilt,
    wrapped,
)

from autograder.judging.exercise import Exercise
from autograder.judging.judge import observe_quietly
from autograder.sandbox.untrusted.values import Differentiated, Tensor

ONE_BUFFER = "one buffer for all results"
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
    if any(array.ndim for array in _results(exercise)):
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
    if not any(array.ndim for array in _results(exercise)):
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


def _results(exercise: Exercise) -> list[np.ndarray]:
    """The arrays that the reference returns on the public cases."""
    values = [
        observation.value
        for observation in observe_quietly(exercise.reference, shown_cases(exercise))
    ]
    values = [one.output if isinstance(one, Differentiated) else one for one in values]
    return arrays_in([one.array if isinstance(one, Tensor) else one for one in values])


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


def defaults(exercise: Exercise) -> Mutants:
    """Keyword arguments that are ignored, or must be given."""
    for name, parameter in parameters(exercise).items():
        if parameter.default is parameter.empty:
            continue
        yield f"{name} ignored", _ignoring(exercise, name, parameter.default)
        yield (
            f"{name} left out refused",
            spoilt(exercise, lambda given, n=name: n not in given.arguments),
        )


def _ignoring(exercise: Exercise, name: str, default: Any) -> Answer:
    reference: Any = exercise.reference
    made = inspect.signature(reference)
    if not isinstance(reference, type) or name not in made.parameters:
        return fed(exercise, lambda given: {name: default})

    class Wrong(reference):
        def __init__(self, *arguments, **keywords):
            given = made.bind(*arguments, **keywords).arguments
            super().__init__(**dict(given) | {name: default})

    return Wrong


def exceptions(exercise: Exercise) -> Mutants:
    """A promised exception that is not raised, is another, or does not say what is wrong."""
    if "ValueError" not in docstring(exercise):
        return

    def returns(error: ValueError) -> None:
        return None

    def another(error: ValueError) -> None:
        raise AssertionError(str(error)) from error

    def empty(error: ValueError) -> None:
        raise ValueError("this will not do") from error

    yield "ValueError not raised", _instead_of_raising(exercise, returns)
    yield "AssertionError in place of ValueError", _instead_of_raising(exercise, another)
    if re.search("naming|with both numbers", docstring(exercise)):
        yield "ValueError that does not name the number", _instead_of_raising(exercise, empty)
    if re.search("mask[^.]*ValueError|ValueError[^.]*mask", docstring(exercise)):
        yield "ValueError for a mask not raised", _instead_of_raising(exercise, returns, _misfits)
        yield (
            "ValueError for a width not raised",
            _instead_of_raising(exercise, returns, lambda error: not _misfits(error)),
        )


def _misfits(error: ValueError) -> bool:
    return "broadcast" in str(error)


def _instead_of_raising(
    exercise: Exercise,
    react: Callable[[ValueError], None],
    which: Callable[[ValueError], bool] = lambda error: True,
) -> Answer:
    def reacting(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ValueError as error:
            if not which(error):
                raise
            return react(error)

    answer = wrapped(exercise, lambda given, call: reacting(lambda: call(given.arguments)))
    if not isinstance(answer, type):
        return answer

    class Reacting(answer):
        def __init__(self, *arguments, **keywords):
            torch.nn.Module.__init__(self)
            reacting(lambda: super(Reacting, self).__init__(*arguments, **keywords))

    return Reacting


def memory(exercise: Exercise) -> Mutants:
    """What outlives a call: results of earlier ones, and changed arguments."""
    for name in parameters(exercise):
        if any(_given(case, name) for case in bound(exercise)):
            yield f"{name} changed", wrapped(exercise, _changing(name))
    if any(arrays_in(list(case.values())) for case in bound(exercise)):
        yield "the result of an earlier call", wrapped(exercise, _remembering())
    if any(array.ndim for array in _results(exercise)):
        yield ONE_BUFFER, wrapped(exercise, _buffering())
        yield "an argument returned as the result", spoilt(exercise, lambda given: True, _sharing)


def _sharing(result: Any, given: Given) -> Any:
    """An argument is returned where the result equals it."""

    def shared(array: Any) -> Any:
        equal = (
            one
            for one in arrays_in(given.arguments)
            if type(one) is type(array) and one.shape == array.shape and one.dtype == array.dtype
            if bool((one == array).all())
        )
        return next(equal, array)

    return each(result, shared)


def _nearly_0(result: Any, given: Given) -> Any:
    return each(result, lambda array: array + 1e-9 * (array == 0) if is_floating(array) else array)


def _given(arguments: dict[str, Any], name: str) -> bool:
    return bool(arrays_in(arguments.get(name)))


def _changing(name: str) -> Callable[..., Any]:
    def change(array: Any) -> Any:
        whole = array.data if isinstance(array, torch.Tensor) else array
        if 0 not in whole.shape:
            last = (-1,) * whole.ndim
            whole[last] = not whole[last] if whole.dtype in (bool, torch.bool) else whole[last] + 1
        return array

    def around(given: Given, call: Call) -> Any:
        result = each(call(given.arguments), _copied)
        each(given.arguments.get(name), change)
        return result

    return around


def _copied(array: Any) -> Any:
    return array.clone() if isinstance(array, torch.Tensor) else array.copy()


def _remembering() -> Callable[..., Any]:
    """A cache whose key is the shapes of the arrays alone."""
    known: dict[Any, dict[str, Any]] = {}

    def around(given: Given, call: Call) -> Any:
        key = repr({name: _form(value) for name, value in given.arguments.items()})
        first = known.setdefault(key, {n: each(v, _copied) for n, v in given.arguments.items()})
        arrays = {name: value for name, value in first.items() if arrays_in(value)}
        before = arrays_in(list(arrays.values()))
        now = arrays_in([given.arguments[name] for name in arrays])
        same = all(bool((one == other).all()) for one, other in zip(before, now, strict=True))
        return call(given.arguments if same else given.arguments | arrays)

    return around


def _form(value: Any) -> Any:
    if isinstance(value, np.ndarray | torch.Tensor):
        return str(value.dtype), tuple(value.shape)
    if isinstance(value, tuple | list):
        return [_form(item) for item in value]
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def _buffering() -> Callable[..., Any]:
    """Results of one shape, at the same place of what is returned, are written over each other."""
    buffers: dict[Any, Any] = {}

    def around(given: Given, call: Call) -> Any:
        places = iter(range(99))

        def buffered(array: Any) -> Any:
            if not is_array(array):
                return array
            buffer = buffers.setdefault((next(places), _form(array)), _copied(array))
            if isinstance(array, torch.Tensor):
                return buffer.detach_().copy_(array)
            buffer[...] = array
            return buffer

        return each(call(given.arguments), buffered)

    return around


def exact_zeros(exercise: Exercise) -> Mutants:
    """Numbers that are nearly 0, where the docstring says exactly."""
    if "exactly 0" in docstring(exercise):
        yield "1e-9 in place of exactly 0", spoilt(exercise, lambda given: True, _nearly_0)


def forms(exercise: Exercise) -> Mutants:
    """Arrays of another dtype or layout."""
    if not any(map(is_floating, arrays_in([list(case.values()) for case in bound(exercise)]))):
        return
    yield (
        "float32 in, float64 out",
        spoilt(
            exercise,
            lambda given: any(_is(array, "float32") for array in arrays_in(given.arguments)),
            lambda result, given: each(result, lambda one: _cast(one, "float32", "float64")),
        ),
    )

    def narrowed(given: Given) -> dict[str, Any]:
        return {
            name: each(value, lambda one: _cast(one, "float64", "float32"))
            for name, value in given.arguments.items()
        }

    if not isinstance(exercise.reference, type):  # its weights would not fit the tokens
        yield "float64 through float32", fed(exercise, narrowed)
    usual = [name for name, one in bound(exercise)[0].items() if is_array(one) and is_floating(one)]
    yield (
        "whole numbers in an array refused",
        spoilt(exercise, lambda given: any(map(_whole, map(given.arguments.get, usual)))),
    )
    yield (
        "an array that is not contiguous refused",
        spoilt(exercise, lambda given: not all(map(_contiguous, arrays_in(given.arguments)))),
    )


def _is(array: Any, dtype: str) -> bool:
    return str(array.dtype).removeprefix("torch.") == dtype


def _cast(array: Any, old: str, new: str) -> Any:
    if not _is(array, old):
        return array
    return array.to(getattr(torch, new)) if isinstance(array, torch.Tensor) else array.astype(new)


def _whole(array: Any) -> bool:
    return is_array(array) and str(array.dtype).removeprefix("torch.").startswith(("int", "uint"))


def _contiguous(array: Any) -> bool:
    return array.is_contiguous() if isinstance(array, torch.Tensor) else array.flags.c_contiguous


WRAPPERS = (
    leading_axes,
    ones_squeezed,
    lengths,
    sizes_that_differ,
    masks,
    empty_masks,
    defaults,
    exceptions,
    memory,
    exact_zeros,
    forms,
    *NUMBER_WRAPPERS,
)


def wrong_answers(exercise: Exercise) -> dict[str, Answer]:
    """Every semantic mutant of an exercise, by name."""
    return {name: answer for wrapper in WRAPPERS for name, answer in wrapper(exercise)}
