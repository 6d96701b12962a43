"""The kinds of value that may cross the trust boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SourceFunction:
    """A function given to the student's code as an argument, sent as its source text.

    `source` defines a function called `name`; NumPy stands ready as `np`.
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
    """Stands in the sandbox for a SourceFunction, whose code is in another process (asking.py)."""

    number: int


@dataclass(frozen=True)
class SeededGenerator:
    """A random generator given to the student's code: a fresh one from `seed` at each call."""

    seed: int

    def load(self) -> np.random.Generator:
        """Return the generator, as it is before its first draw."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, eq=False)
class Tensor:
    """A torch tensor at rest: its numbers as an array; the student's code is given the tensor.

    `gradient` asks for the gradient of the output with respect to it, if it is a floating one.
    """

    array: np.ndarray
    gradient: bool = True

    @property
    def differentiable(self) -> bool:
        """True if the gradient with respect to it is asked for."""
        return self.gradient and self.array.dtype.kind == "f"

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A tensor of its own, as `copy` would make it in a longer way; a call has many."""
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

    `forbidden` are the names of what is ready-made and may not run in it.
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    setup: Setup | None = None
    forbidden: tuple[str, ...] = ()

    @property
    def needs_torch(self) -> bool:
        """True for the call of a module, and for one with a tensor among its arguments."""
        return self.setup is not None or any(tensors((self.arguments, self.keywords)))

    @property
    def brings_torch(self) -> bool:
        """True if a function among its arguments uses torch."""
        functions = (one for one in self.arguments if isinstance(one, SourceFunction))
        return any(one.source.startswith("import torch") for one in functions)

    @property
    def may_differentiate(self) -> bool:
        """True if gradients may go through it: in a module, and with a tensor of real numbers."""
        given = tensors((self.arguments, self.keywords))
        return self.setup is not None or any(one.array.dtype.kind in "fc" for one in given)

    @property
    def differentiates(self) -> bool:
        """True if gradients are part of what the call shows."""
        weights = self.setup.weights if self.setup else {}
        given = tensors((self.arguments, self.keywords, weights))
        return any(tensor.differentiable for tensor in given)


def tensors(value: Any) -> Iterator[Tensor]:
    """Every Tensor in `value`, which may be nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors(item)


@dataclass(frozen=True)
class Differentiated:
    """An output with its gradients, by the name of what it was differentiated with respect to.

    A gradient is a Tensor, or None if the output does not depend on it. `gradients` is None if the
    output depends on nothing at all, and `Raised` if the backward pass raised an exception.
    """

    output: Any
    gradients: dict[str, Any] | Raised | None


def output(value: Any) -> Any:
    """What was returned, without its gradients."""
    return value.output if isinstance(value, Differentiated) else value


@dataclass(frozen=True)
class Unloadable:
    """Stands for a module that the weights do not fit: the shapes of its parameters, by name."""

    shapes: dict[str, Any]


@dataclass(frozen=True)
class Foreign:
    """Stands for a value of a type that is no legitimate answer; only the type's name is kept."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """Stands for the value of a call that raised an exception instead.

    `line` is the last line in a cell that it went through, and `code` what is written there.
    `bases` are the names of the classes that its type is derived from.
    """

    type_name: str
    message: str
    line: int | None = None
    bases: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Observation:
    """What one case showed: the value (or `Raised`), the arguments after it, a second value.

    `again` is the value in the second pass, and None as long as there was but one pass. `later` is
    what the object first returned held after all the calls, or None if that was still `value`.
    `ready_made` are the names of what ran and is forbidden. `requests` is how many different calls
    it made, in the first pass, of functions that it was given; it is counted elsewhere.
    """

    value: Any
    arguments_after: tuple[Any, ...]
    again: Any = None
    later: Any = None
    ready_made: tuple[str, ...] = ()
    requests: int = 0
