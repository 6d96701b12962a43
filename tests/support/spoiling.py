"""Tools to spoil a right answer at one place: what a call is given, and wrappers put around it.

The shapes that a docstring states, such as `X: (..., n, d)`, say which axis is which.
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
from autograder.judging.judge import build_key, fault, observe_quietly
from autograder.probe.values import Differentiated, Raised, Tensor
from solutions import alignment

Answer = Callable[..., Any]
WORDS_FOR_SHAPES = {
    "softmax": {"x": "..., n"},
    "masked_softmax": {"mask": "..., n_q, n_k"},
}
"""Where a docstring states a shape in words alone."""


@functools.cache
def docstring(exercise: Exercise) -> str:
    """All that the exercise promises, in one line."""
    parts = [exercise.reference]
    if isinstance(exercise.reference, type):
        parts += [exercise.reference.__init__, exercise.reference.forward]
    return " ".join(" ".join((inspect.getdoc(part) or "").split()) for part in parts)


@functools.cache
def parameters(exercise: Exercise) -> dict[str, inspect.Parameter]:
    """The parameters of the function, or of the class and of its `forward`."""
    every = dict(inspect.signature(exercise.reference).parameters)
    if isinstance(exercise.reference, type):
        every |= dict([*inspect.signature(exercise.reference.forward).parameters.items()][1:])
    return every


@functools.cache
def shapes(exercise: Exercise) -> dict[str, tuple[str, ...]]:
    """The axes of each argument that has any, as the docstring names them, `...` included."""
    found = {}
    for name in parameters(exercise):
        pattern = rf"\b{name}\b(?:(?:,| and) \w+)*,?:\s(?:[^.(]|\.\.\.)*?\(([^()]*)\)"
        stated = re.search(pattern, docstring(exercise))
        text = WORDS_FOR_SHAPES.get(exercise.name, {}).get(name) or (stated and stated[1])
        if text and any(is_array(case.get(name)) for case in bound(exercise)):
            found[name] = tuple(part.strip() for part in text.split(",") if part.strip())
    return found


@functools.cache
def bound(exercise: Exercise) -> list[dict[str, Any]]:
    """The arguments of the public cases by name, tensors as arrays."""
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
    """True for an array or a tensor."""
    return isinstance(value, np.ndarray | torch.Tensor)


@functools.cache
def results(exercise: Exercise) -> list[np.ndarray]:
    """The arrays that the reference returns on the public cases."""
    values = [
        observation.value
        for observation in observe_quietly(exercise.reference, shown_cases(exercise))
    ]
    values = [one.output if isinstance(one, Differentiated) else one for one in values]
    return arrays_in([one.array if isinstance(one, Tensor) else one for one in values])


@dataclass(frozen=True)
class Given:
    """What one call is given, by name: of a module, what its class was given as well."""

    exercise: Exercise
    arguments: dict[str, Any]

    @property
    def arrays(self) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Name, array, and the axes that it has besides the leading ones."""
        for name, axes in shapes(self.exercise).items():
            array = self.arguments.get(name)
            if is_array(array):
                yield name, array, tuple(axis for axis in axes if axis != "...")

    @property
    def lengths(self) -> dict[str, int]:
        """How long each named axis is; the axes of a mask do not count, since they broadcast."""
        found: dict[str, int] = {}
        for name, array, core in self.arrays:
            if "mask" not in name and array.ndim >= len(core):
                found |= zip(core, array.shape[array.ndim - len(core) :], strict=True)
        return found

    @property
    def leading(self) -> int:
        """The number of leading axes."""
        return max(
            (
                array.ndim - len(core)
                for name, array, core in self.arrays
                if shapes(self.exercise)[name][:1] == ("...",)
            ),
            default=0,
        )


Call = Callable[[dict[str, Any]], Any]


def wrapped(exercise: Exercise, around: Callable[[Given, Call], Any]) -> Answer:
    """The reference, with each call made by `around`, which is given what calls the reference."""
    reference = exercise.reference
    if isinstance(reference, type):
        return _wrapped_class(exercise, around)
    signature = inspect.signature(reference)

    def answer(*arguments: Any, **keywords: Any) -> Any:
        given = dict(signature.bind(*arguments, **keywords).arguments)
        return around(Given(exercise, given), lambda changed: reference(**changed))

    return answer


def _wrapped_class(exercise: Exercise, around: Callable[[Given, Call], Any]) -> Answer:
    reference: Any = exercise.reference
    made = inspect.signature(reference)

    class Wrong(reference):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            self.made_with = dict(made.bind(*arguments, **keywords).arguments)

        def forward(self, *arguments, **keywords):
            signature = inspect.signature(super().forward)
            given = dict(signature.bind(*arguments, **keywords).arguments)

            def call(changed):
                return super(Wrong, self).forward(**{n: changed[n] for n in given if n in changed})

            return around(Given(exercise, self.made_with | given), call)

    return Wrong


def refuse(*_: Any) -> Any:
    """Stands for whatever goes wrong: an exception that nobody asked for."""
    raise RuntimeError("this case was not thought of")


def spoilt(
    exercise: Exercise,
    where: Callable[[Given], bool],
    how: Callable[[Any, Given], Any] = refuse,
) -> Answer:
    """Right, but for calls of which `where` is true: those go wrong, as `how` says."""

    def around(given: Given, call: Call) -> Any:
        result = call(given.arguments)
        return how(result, given) if where(given) else result

    return wrapped(exercise, around)


def fed(exercise: Exercise, change: Callable[[Given], Mapping[str, Any]]) -> Answer:
    """The reference, with some of its arguments replaced before the call."""
    return wrapped(exercise, lambda given, call: call(given.arguments | dict(change(given))))


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with each array or tensor in it, however nested, changed."""
    if isinstance(value, np.ndarray | torch.Tensor | np.floating):
        return change(value)
    if isinstance(value, tuple | list):
        return type(value)(each(item, change) for item in value)
    if isinstance(value, dict):
        return {name: each(item, change) for name, item in value.items()}
    return value


def arrays_in(value: Any) -> list[Any]:
    """Every array and tensor in `value`."""
    found: list[Any] = []
    each(value, found.append)
    return [one for one in found if is_array(one)]


def is_floating(array: Any) -> bool:
    """True for an array or a tensor of floating numbers."""
    if isinstance(array, torch.Tensor):
        return array.is_floating_point()
    return array.dtype.kind == "f"


@contextlib.contextmanager
def patched(replacements: Mapping[Any, Any]) -> Iterator[None]:
    """Replace functions of `solutions` wherever they are imported, and attributes elsewhere.

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
    """The reference with other functions in place of those that it calls; None if it calls none."""
    if exercise.reference in replacements:
        return replacements[exercise.reference]

    def around(given: Given, call: Call) -> Any:
        with patched(replacements):
            return call(given.arguments)

    return wrapped(exercise, around) if called(exercise) & {*replacements} else None


REPLACED = (
    alignment.softmax,
    alignment.masked_softmax,
    (F, "scaled_dot_product_attention"),
    (torch.Tensor, "log_softmax"),
    (np, "tanh"),
    (np, "argmax"),
)
"""What mutants replace."""


@functools.cache
def called(exercise: Exercise) -> set[Any]:
    """Which of REPLACED the reference calls on the public cases."""
    used: set[Any] = set()
    cases = shown_cases(exercise)  # whatever makes them is not meant
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
    """Keys and values, repeated for the query heads that share them, as `enable_gqa` does."""
    return [one.repeat_interleave(Q.shape[-3] // one.shape[-3], dim=-3) for one in others]


def sized(exercise: Exercise, size: float) -> list[Case]:
    """The public cases with arguments whose largest number is `size`, one and all."""

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
        alone = [(at, change(one)) for at, one in enumerate(case.arguments)]
        alone = [(at, one) for at, one in alone if one is not case.arguments[at]]
        several = [(*case.arguments[:at], one, *case.arguments[at + 1 :]) for at, one in alone]
        if len(alone) > 1:
            several.append(change(case.arguments))
        found += [Case(case.note, one, case.keywords, case.setup) for one in several]
    return found


def differs(exercise: Exercise, answer: Answer, cases: list[Case]) -> bool:
    """True if `answer` does something else than the reference on a case that the latter bears."""
    right = observe_quietly(exercise.reference, cases)
    pairs = zip(cases, right, strict=True)
    key = build_key(exercise, (case for case, one in pairs if type(one.value) is not Raised), ())
    triples = zip(key.cases, key.expected, observe_quietly(answer, key.cases), strict=True)
    return any(fault(*one) for one in triples)
