"""Tools to spoil a correct answer in one place: its inputs, and wrappers around its calls.

The shapes that a docstring states, such as `X: (..., n, d)`, name the axes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from keys import shown_cases

from autograder.exercise.model import Case, Exercise
from autograder.judging.faults import fault
from autograder.judging.keys import build_key, observe_quietly
from autograder.probe.values import Differentiated, Raised, Tensor
from solutions import alignment

Answer = Callable[..., Any]
WORDS_FOR_SHAPES = {
    "softmax": {"x": "..., n"},
    "masked_softmax": {"mask": "..., n_q, n_k"},
}
"""Shapes that a docstring states only in words."""


@functools.cache
def docstring(exercise: Exercise) -> str:
    """Return everything that the exercise promises, in one line."""
    parts: list[Any] = [exercise.reference]
    if isinstance(exercise.reference, type):
        parts += [vars(exercise.reference)[name] for name in ("__init__", "forward")]
    return " ".join(" ".join((inspect.getdoc(part) or "").split()) for part in parts)


@functools.cache
def parameters(exercise: Exercise) -> dict[str, inspect.Parameter]:
    """Return the parameters of the function, or of the class and of its `forward`."""
    all_parameters = dict(inspect.signature(exercise.reference).parameters)
    if isinstance(exercise.reference, type):
        all_parameters |= dict(
            [*inspect.signature(vars(exercise.reference)["forward"]).parameters.items()][1:]
        )
    return all_parameters


@functools.cache
def shapes(exercise: Exercise) -> dict[str, tuple[str, ...]]:
    """Return the axes of each array argument, as the docstring names them, `...` included."""
    axes = {}
    for name in parameters(exercise):
        pattern = rf"\b{name}\b(?:(?:,| and) \w+)*,?:\s(?:[^.(]|\.\.\.)*?\(([^()]*)\)"
        stated = re.search(pattern, docstring(exercise))
        text = WORDS_FOR_SHAPES.get(exercise.name, {}).get(name) or (stated and stated[1])
        if text and any(is_array(case.get(name)) for case in bound(exercise)):
            axes[name] = tuple(part.strip() for part in text.split(",") if part.strip())
    return axes


@functools.cache
def bound(exercise: Exercise) -> list[dict[str, Any]]:
    """Return the arguments of the public cases by name, with tensors as arrays."""
    reference: Any = exercise.reference
    skipped = (None,) if isinstance(reference, type) else ()
    signature = inspect.signature(reference.forward if skipped else reference)
    calls = [
        signature.bind(*skipped, *case.arguments, **case.keywords).arguments
        for case in shown_cases(exercise)
    ]
    return [
        {n: value.array if isinstance(value, Tensor) else value for n, value in call.items()}
        for call in calls
    ]


def is_array(value: Any) -> bool:
    """Return True for an array or a tensor."""
    return isinstance(value, np.ndarray | torch.Tensor)


@functools.cache
def results(exercise: Exercise) -> list[np.ndarray]:
    """Return the arrays that the reference returns on the public cases."""
    values = [
        observation.value
        for observation in observe_quietly(exercise.reference, shown_cases(exercise))
    ]
    values = [value.output if isinstance(value, Differentiated) else value for value in values]
    return arrays_in([value.array if isinstance(value, Tensor) else value for value in values])


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call, by name; of a module, those of its class too."""

    exercise: Exercise
    arguments: dict[str, Any]

    @property
    def arrays(self) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Yield name, array, and the axes of the array that are not leading axes."""
        for name, axes in shapes(self.exercise).items():
            array = self.arguments.get(name)
            if is_array(array):
                yield name, array, tuple(axis for axis in axes if axis != "...")

    @property
    def lengths(self) -> dict[str, int]:
        """Return the length of each named axis, except the axes of masks, which broadcast."""
        found: dict[str, int] = {}
        for name, array, core in self.arrays:
            if "mask" not in name and array.ndim >= len(core):
                found |= zip(core, array.shape[array.ndim - len(core) :], strict=True)
        return found

    @property
    def leading(self) -> int:
        """Return the number of leading axes."""
        return max(
            (
                array.ndim - len(core)
                for name, array, core in self.arrays
                if shapes(self.exercise)[name][:1] == ("...",)
            ),
            default=0,
        )


Call = Callable[[dict[str, Any]], Any]


def wrapped(exercise: Exercise, around: Callable[[Inputs, Call], Any]) -> Answer:
    """Return the reference with `around` on each call; `around` gets the inputs and the call."""
    reference = exercise.reference
    if isinstance(reference, type):
        return _wrapped_class(exercise, around)
    signature = inspect.signature(reference)

    def answer(*arguments: Any, **keywords: Any) -> Any:
        inputs = dict(signature.bind(*arguments, **keywords).arguments)
        return around(Inputs(exercise, inputs), lambda changed: reference(**changed))

    return answer


def _wrapped_class(exercise: Exercise, around: Callable[[Inputs, Call], Any]) -> Answer:
    reference: Any = exercise.reference
    signature_of_class = inspect.signature(reference)

    class Wrong(reference):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            self.made_with = dict(signature_of_class.bind(*arguments, **keywords).arguments)

        def forward(self, *arguments, **keywords):
            signature = inspect.signature(super().forward)
            inputs = dict(signature.bind(*arguments, **keywords).arguments)

            def call(changed):
                return super(Wrong, self).forward(**{n: changed[n] for n in inputs if n in changed})

            return around(Inputs(exercise, self.made_with | inputs), call)

    return Wrong


def refuse(*_: Any) -> Any:
    """Raise the exception that stands for every unexpected failure of an answer."""
    raise RuntimeError("this case was not thought of")


def spoilt(
    exercise: Exercise,
    where: Callable[[Inputs], bool],
    how: Callable[[Any, Inputs], Any] = refuse,
) -> Answer:
    """Return an answer that goes wrong, as `how` says, on the calls for which `where` is true."""

    def around(inputs: Inputs, call: Call) -> Any:
        result = call(inputs.arguments)
        return how(result, inputs) if where(inputs) else result

    return wrapped(exercise, around)


def fed(exercise: Exercise, change: Callable[[Inputs], Mapping[str, Any]]) -> Answer:
    """Return the reference, with some of its arguments replaced before the call."""
    return wrapped(exercise, lambda inputs, call: call(inputs.arguments | dict(change(inputs))))


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return `value` with each array or tensor in it changed, however nested."""
    if isinstance(value, np.ndarray | torch.Tensor | np.floating):
        return change(value)
    if isinstance(value, tuple | list):
        return type(value)(each(item, change) for item in value)
    if isinstance(value, dict):
        return {name: each(item, change) for name, item in value.items()}
    return value


def arrays_in(value: Any) -> list[Any]:
    """Return every array and tensor in `value`."""
    arrays: list[Any] = []
    each(value, arrays.append)
    return [part for part in arrays if is_array(part)]


def is_floating(array: Any) -> bool:
    """Return True for an array or a tensor of floating numbers."""
    if isinstance(array, torch.Tensor):
        return array.is_floating_point()
    return array.dtype.kind == "f"


@contextlib.contextmanager
def patched(replacements: Mapping[Any, Any]) -> Iterator[None]:
    """Replace functions of `solutions` wherever they are imported, and attributes of objects.

    A key is a function, or a pair of an object and the name of its attribute.
    """
    with contextlib.ExitStack() as stack:
        for old, new in replacements.items():
            for owner, name in [old] if isinstance(old, tuple) else _homes(old):
                stack.enter_context(mock.patch.object(owner, name, new))
        yield


def _homes(function: Answer) -> list[tuple[Any, str]]:
    return [
        (module, function.__name__)
        for name, module in list(sys.modules.items())
        if name.startswith("solutions.") and vars(module).get(function.__name__) is function
    ]


def instead(exercise: Exercise, replacements: Mapping[Any, Any]) -> Answer | None:
    """Return the reference with replaced functions; None if it calls none of them."""
    if exercise.reference in replacements:
        return replacements[exercise.reference]

    def around(inputs: Inputs, call: Call) -> Any:
        with patched(replacements):
            return call(inputs.arguments)

    return wrapped(exercise, around) if called(exercise) & {*replacements} else None


REPLACED = (
    alignment.softmax,
    alignment.masked_softmax,
    (F, "scaled_dot_product_attention"),
    (torch.Tensor, "log_softmax"),
    (np, "tanh"),
    (np, "argmax"),
)
"""The functions that mutants replace."""


@functools.cache
def called(exercise: Exercise) -> set[Any]:
    """Return the members of REPLACED that the reference calls on the public cases."""
    used: set[Any] = set()
    cases = shown_cases(exercise)  # outside the patch: making them is not the answer's call
    with patched({target: _spy(target, used) for target in REPLACED}):
        observe_quietly(exercise.reference, cases)
    return used


def _spy(target: Any, used: set[Any]) -> Answer:
    function = getattr(*target) if isinstance(target, tuple) else target

    def spy(*arguments: Any, **keywords: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("solutions."):
            used.add(target)
        return function(*arguments, **keywords)

    return spy


def for_each_head(Q: Any, *others: Any) -> list[Any]:
    """Repeat keys and values for the query heads that share them, as `enable_gqa` does."""
    return [other.repeat_interleave(Q.shape[-3] // other.shape[-3], dim=-3) for other in others]


def sized(exercise: Exercise, size: float) -> list[Case]:
    """Return the public cases, scaled so that the largest number of an argument is `size`.

    Each argument is scaled alone, and all are scaled together.
    """

    def change(value: Any) -> Any:
        if isinstance(value, Tensor) and is_floating(value.array):
            return Tensor(change(value.array), value.gradient)
        if isinstance(value, tuple) and any(change(item) is not item for item in value):
            return tuple(change(item) for item in value)
        if not isinstance(value, np.ndarray) or not is_floating(value):
            return value
        largest = np.max(np.abs(value), initial=0, where=np.isfinite(value))
        return value * (size / largest) if largest > 0 else value

    found = []
    for case in shown_cases(exercise):
        alone = [(at, change(argument)) for at, argument in enumerate(case.arguments)]
        alone = [(at, scaled) for at, scaled in alone if scaled is not case.arguments[at]]
        several = [
            (*case.arguments[:at], scaled, *case.arguments[at + 1 :]) for at, scaled in alone
        ]
        if len(alone) > 1:
            several.append(change(case.arguments))
        found += [Case(case.note, scaled, case.keywords, case.setup) for scaled in several]
    return found


def differs(exercise: Exercise, answer: Answer, cases: list[Case]) -> bool:
    """Return True if `answer` differs from the reference where the reference does not raise."""
    right = observe_quietly(exercise.reference, cases)
    pairs = zip(cases, right, strict=True)
    key = build_key(
        exercise, (case for case, observation in pairs if type(observation.value) is not Raised), ()
    )
    triples = zip(key.cases, key.expected, observe_quietly(answer, key.cases), strict=True)
    return any(fault(*triple) for triple in triples)
