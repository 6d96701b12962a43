"""Semantic mutants of the call itself: defaults, exceptions, memory, and the form of arrays."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from spoiling import (
    Answer,
    Call,
    Inputs,
    arrays_in,
    bound,
    docstring,
    each,
    fed,
    is_array,
    is_floating,
    parameters,
    results,
    spoilt,
    wrapped,
)

from autograder.exercise.model import Exercise

ONE_BUFFER = "one buffer for all results"
Mutants = Iterator[tuple[str, Answer]]


def defaults(exercise: Exercise) -> Mutants:
    """Yield answers in which a keyword argument is ignored, or has no default."""
    for name, parameter in parameters(exercise).items():
        if parameter.default is parameter.empty:
            continue
        yield f"{name} ignored", _ignoring(exercise, name, parameter.default)
        yield (
            f"{name} left out refused",
            spoilt(exercise, lambda inputs, n=name: n not in inputs.arguments),
        )


def _ignoring(exercise: Exercise, name: str, default: Any) -> Answer:
    reference: Any = exercise.reference
    signature = inspect.signature(reference)
    if not isinstance(reference, type) or name not in signature.parameters:
        return fed(exercise, lambda inputs: {name: default})

    class Wrong(reference):
        def __init__(self, *arguments, **keywords):
            inputs = signature.bind(*arguments, **keywords).arguments
            super().__init__(**dict(inputs) | {name: default})

    return Wrong


def exceptions(exercise: Exercise) -> Mutants:
    """Yield answers whose promised exception is missing, of another type or vague."""
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

    answer: Any = wrapped(exercise, lambda inputs, call: reacting(lambda: call(inputs.arguments)))
    if not isinstance(answer, type):
        return answer

    class Reacting(answer):
        def __init__(self, *arguments, **keywords):
            torch.nn.Module.__init__(self)
            reacting(lambda: super(Reacting, self).__init__(*arguments, **keywords))

    return Reacting


def memory(exercise: Exercise) -> Mutants:
    """Yield answers that remember earlier results, or change or return their arguments."""
    for name in parameters(exercise):
        if any(_given(case, name) for case in bound(exercise)):
            yield f"{name} changed", wrapped(exercise, _changing(name))
    if any(arrays_in(list(case.values())) for case in bound(exercise)):
        yield "the result of an earlier call", wrapped(exercise, _remembering())
    if any(array.ndim for array in results(exercise)):
        yield ONE_BUFFER, wrapped(exercise, _buffering())
        yield "an argument returned as the result", spoilt(exercise, lambda inputs: True, _sharing)


def _sharing(result: Any, inputs: Inputs) -> Any:
    """Return an argument itself where the result equals it."""

    def shared(array: Any) -> Any:
        equal = (
            argument
            for argument in arrays_in(inputs.arguments)
            if type(argument) is type(array)
            and argument.shape == array.shape
            and argument.dtype == array.dtype
            if bool((argument == array).all())
        )
        return next(equal, array)

    return each(result, shared)


def _nearly_0(result: Any, inputs: Inputs) -> Any:
    return each(result, lambda array: array + 1e-9 * (array == 0) if is_floating(array) else array)


def _given(arguments: dict[str, Any], name: str) -> bool:
    return bool(arrays_in(arguments.get(name)))


def _changing(name: str) -> Callable[..., Any]:
    def change(array: Any) -> Any:
        data = array.data if isinstance(array, torch.Tensor) else array
        if 0 not in data.shape:
            last = (-1,) * data.ndim
            data[last] = not data[last] if data.dtype in (bool, torch.bool) else data[last] + 1
        return array

    def around(inputs: Inputs, call: Call) -> Any:
        result = each(call(inputs.arguments), _copied)
        each(inputs.arguments.get(name), change)
        return result

    return around


def _copied(array: Any) -> Any:
    return array.clone() if isinstance(array, torch.Tensor) else array.copy()


def _remembering() -> Callable[..., Any]:
    """Cache results by the shapes of the arrays alone."""
    cached: dict[Any, dict[str, Any]] = {}

    def around(inputs: Inputs, call: Call) -> Any:
        key = repr({name: _form(value) for name, value in inputs.arguments.items()})
        first = cached.setdefault(key, {n: each(v, _copied) for n, v in inputs.arguments.items()})
        arrays = {name: value for name, value in first.items() if arrays_in(value)}
        before = arrays_in(list(arrays.values()))
        now = arrays_in([inputs.arguments[name] for name in arrays])
        same = all(bool((old == new).all()) for old, new in zip(before, now, strict=True))
        return call(inputs.arguments if same else inputs.arguments | arrays)

    return around


def _form(value: Any) -> Any:
    if isinstance(value, np.ndarray | torch.Tensor):
        return str(value.dtype), tuple(value.shape)
    if isinstance(value, tuple | list):
        return [_form(item) for item in value]
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def _buffering() -> Callable[..., Any]:
    """Reuse one buffer for results of the same shape at the same place of the return value."""
    buffers: dict[Any, Any] = {}

    def around(inputs: Inputs, call: Call) -> Any:
        places = iter(range(99))

        def buffered(array: Any) -> Any:
            if not is_array(array):
                return array
            buffer = buffers.setdefault((next(places), _form(array)), _copied(array))
            if isinstance(array, torch.Tensor):
                return buffer.detach_().copy_(array)
            buffer[...] = array
            return buffer

        return each(call(inputs.arguments), buffered)

    return around


def exact_zeros(exercise: Exercise) -> Mutants:
    """Yield answers with numbers near 0 where the docstring says exactly 0."""
    if "exactly 0" in docstring(exercise):
        yield "1e-9 in place of exactly 0", spoilt(exercise, lambda inputs: True, _nearly_0)


def forms(exercise: Exercise) -> Mutants:
    """Yield answers that fail on arrays of another dtype or layout."""
    if not any(map(is_floating, arrays_in([list(case.values()) for case in bound(exercise)]))):
        return
    yield (
        "float32 in, float64 out",
        spoilt(
            exercise,
            lambda inputs: any(_is(array, "float32") for array in arrays_in(inputs.arguments)),
            lambda result, inputs: each(result, lambda array: _cast(array, "float32", "float64")),
        ),
    )

    def narrowed(inputs: Inputs) -> dict[str, Any]:
        return {
            name: each(value, lambda array: _cast(array, "float64", "float32"))
            for name, value in inputs.arguments.items()
        }

    if not isinstance(exercise.reference, type):  # its weights would not fit the tokens
        yield "float64 through float32", fed(exercise, narrowed)
    usual = [
        name for name, item in bound(exercise)[0].items() if is_array(item) and is_floating(item)
    ]
    yield (
        "whole numbers in an array refused",
        spoilt(exercise, lambda inputs: any(map(_whole, map(inputs.arguments.get, usual)))),
    )
    yield (
        "an array that is not contiguous refused",
        spoilt(exercise, lambda inputs: not all(map(_contiguous, arrays_in(inputs.arguments)))),
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


CALL_WRAPPERS = (
    defaults,
    exceptions,
    memory,
    exact_zeros,
    forms,
)
