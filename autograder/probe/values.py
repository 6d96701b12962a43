"""The types of values that may cross the trust boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SourceFunction:
    """A function that is an argument of the student's code, sent as its source text.

    `source` defines a function called `name`, and may use NumPy as `np`.
    """

    name: str
    source: str

    def load(self) -> Any:
        """Execute the source and return the function that it defines."""
        namespace: dict[str, Any] = {"np": np}
        exec(compile(self.source, f"<{self.name}>", "exec"), namespace)
        return namespace[self.name]


@dataclass(frozen=True)
class FunctionElsewhere:
    """Replaces a SourceFunction in the sandbox; its code runs in another process (asking.py)."""

    number: int


@dataclass(frozen=True)
class SeededGenerator:
    """A random generator that is an argument: each call gets a new one with this `seed`."""

    seed: int

    def load(self) -> np.random.Generator:
        """Return a new generator, from which nothing has been drawn."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, eq=False)
class Tensor:
    """A torch tensor stored as an array; the student's code receives the tensor.

    `gradient` requests the gradient of the output with respect to it, if it is a float tensor.
    """

    array: np.ndarray
    gradient: bool = True

    @property
    def differentiable(self) -> bool:
        """Return True if this is a float tensor whose gradient is requested."""
        return self.gradient and self.array.dtype.kind == "f"

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """Return a copy, faster than `copy` would do it, since a call has many tensors."""
        return Tensor(self.array.copy(), self.gradient)


@dataclass(frozen=True)
class Setup:
    """How to make a module: the arguments of its class, and the weights to load, by name.

    If `load` is False the module keeps the values that its class gave it; the weights then say only
    which names and shapes its parameters must have.
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    weights: dict[str, Tensor]
    load: bool = True


@dataclass(frozen=True)
class Call:
    """One call: of a function, or of the module that a class makes as `setup` says.

    `forbidden` are the names of ready-made functions that may not run in it.
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    setup: Setup | None = None
    forbidden: tuple[str, ...] = ()

    @property
    def needs_torch(self) -> bool:
        """Return True for the call of a module, or a call with a tensor among its arguments."""
        return self.setup is not None or any(tensors((self.arguments, self.keywords)))

    @property
    def brings_torch(self) -> bool:
        """Return True if a function among its arguments uses torch."""
        functions = (each for each in self.arguments if isinstance(each, SourceFunction))
        return any(function.source.startswith("import torch") for function in functions)

    @property
    def may_differentiate(self) -> bool:
        """Return True if gradients may flow through it: a module, or a float or complex tensor."""
        inputs = tensors((self.arguments, self.keywords))
        return self.setup is not None or any(each.array.dtype.kind in "fc" for each in inputs)

    @property
    def differentiates(self) -> bool:
        """Return True if gradients are part of the call's observation."""
        weights = self.setup.weights if self.setup else {}
        inputs = tensors((self.arguments, self.keywords, weights))
        return any(tensor.differentiable for tensor in inputs)


def tensors(value: Any) -> Iterator[Tensor]:
    """Yield every Tensor in `value`, which may be nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors(item)


@dataclass(frozen=True)
class Differentiated:
    """An output with its gradients, by the name of the argument or parameter.

    A gradient is a Tensor, or None if the output does not depend on that tensor. `gradients` is
    None if the output depends on none of them, and `Raised` if the backward pass raised.
    """

    output: Any
    gradients: dict[str, Any] | Raised | None


def output(value: Any) -> Any:
    """Return the returned value without its gradients."""
    return value.output if isinstance(value, Differentiated) else value


@dataclass(frozen=True)
class Unloadable:
    """Replaces a module that the weights do not fit: the shapes of its parameters, by name."""

    shapes: dict[str, Any]


@dataclass(frozen=True)
class Foreign:
    """Replaces a value of a type that is not a valid answer; only the type's name is kept."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """Replaces the value of a call that raised an exception.

    `line` is the last line of a cell in its traceback, and `code` the text of that line. `bases`
    are the names of its base classes.
    """

    type_name: str
    message: str
    line: int | None = None
    bases: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Observation:
    """The observation of a case: the value (or `Raised`), and the arguments after the call.

    `again` is the value in the second pass, or None after only one pass. `later` is the value of
    the object first returned after all the calls, or None if that was still `value`. `ready_made`
    are the names of forbidden functions that ran. `requests` is how many different calls of the
    functions among its arguments it made in the first pass; it is counted elsewhere.
    """

    value: Any
    arguments_after: tuple[Any, ...]
    again: Any = None
    later: Any = None
    ready_made: tuple[str, ...] = ()
    requests: int = 0
