"""Call functions of torch tensors, and modules, and note outputs and gradients.

Imported only where an exercise needs torch: nothing else of the engine imports it.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from .calling import Noted, attempt, copied_array, loaded, taken
from .values import (
    Call,
    Differentiated,
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    Setup,
    SourceFunction,
    Tensor,
    Unloadable,
    tensors,
)

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
"""The dtypes that an answer may return."""

_ONE_AT_A_TIME = threading.RLock()  # the default dtype and the random state are the process's own


class TorchCall:
    """A call with tensors, or of a module: made once, or twice in a row."""

    def __init__(self, call: Call, again: bool) -> None:
        """Every module is in eval mode, but in train mode where it is called a second time."""
        self._call = call
        times = [call, copy.deepcopy(call)] if again else [call]
        self._times = [_Given(one) for one in times]

    def observe(self, make: Callable[..., Any]) -> Noted:
        """Make the module, if it is one, and the call; note what the last call showed."""
        with _ONE_AT_A_TIME, _own_state(self._call):
            if self._call.setup is None:
                return self._observe(make, {})
            _start(0)
            module, parameters = _made(make, self._call.setup)
            if issubclass(type(module), torch.nn.Module):
                return self._observe(module, parameters)
            after = self._times[0].after(as_given=True)
            return Noted(Observation(module, after), module, module, copied_leaf)

    def _observe(self, function: Callable[..., Any], parameters: dict[str, torch.Tensor]) -> Noted:
        results = []
        for seed, given in enumerate(self._times, start=1):
            _start(seed)
            training = None if self._call.setup is None else seed == 2  # whatever `train` does
            returned = attempt(
                _called_there, function, given.arguments, dict(given.keywords), training
            )
            results.append((returned, at_rest(returned)))
            if isinstance(returned, Raised):
                break
        value = results[-1][1]
        after = self._times[0].after()
        if self._call.differentiates and not isinstance(returned, Raised):
            weights = self._call.setup.weights if self._call.setup else {}
            leaves = given.leaves | {
                f"parameter `{name}`": one
                for name, one in parameters.items()
                if weights[name].gradient
            }
            value = Differentiated(value, _gradients(returned, leaves))
        return Noted(Observation(value, after), *results[0], copied_leaf)


class _Given:
    """The arguments of one call, as torch's tensors in the memory of the call's arrays."""

    def __init__(self, call: Call) -> None:
        self.leaves: dict[str, torch.Tensor] = {}
        self._call = call
        self.arguments = tuple(
            _tensor(argument, self.leaves, f"argument {position}")
            for position, argument in enumerate(call.arguments, start=1)
        )
        self.keywords = tuple(
            (name, _tensor(argument, self.leaves, f"`{name}`"))
            for name, argument in call.keywords.items()
        )

    def after(self, as_given: bool = False) -> tuple[Any, ...]:
        """The arguments as they are now, or as they were given; keywords last, sorted.

        A function and a random generator are told as they were given: nobody compares those.
        """
        if as_given:
            arguments: Any = self._call.arguments
            keywords: Any = self._call.keywords
        else:
            arguments, keywords = self.arguments, dict(self.keywords)
        found = (*arguments, *(keywords[name] for name in sorted(keywords)))
        if as_given:
            return found
        untold = SourceFunction | FunctionElsewhere | SeededGenerator
        return tuple(
            given if isinstance(given, untold) else at_rest(one)
            for given, one in zip(self.after(as_given=True), found, strict=True)
        )


# What runs in the thread of the student's code, which sees these names only. Whether gradients are
# computed is a matter of the thread: whatever the class or the first call switched.
_THERE = """
def made(make, arguments, keywords, dtype):
    set_grad_enabled(True)
    module = make(*arguments, **keywords)
    if not issubclass(type(module), Module):
        return module, None
    try:
        to(module, dtype)
    except Exception:
        pass
    return module, dict(named_parameters(module, remove_duplicate=False))

def called(function, arguments, keywords, training):
    set_grad_enabled(True)
    if training is not None:
        try:
            train(function, training)
            for module in list(modules(function)):
                module.__dict__["training"] = training
        except Exception:
            pass
    return function(*arguments, **keywords)
"""
_there: dict[str, Any] = {
    "Module": torch.nn.Module,
    "to": torch.nn.Module.to,
    "named_parameters": torch.nn.Module.named_parameters,
    "train": torch.nn.Module.train,
    "modules": torch.nn.Module.modules,
    "set_grad_enabled": torch._C._set_grad_enabled,
}
exec(compile(_THERE, "<notebook>", "exec"), _there)
_made_there, _called_there = _there.pop("made"), _there.pop("called")


def _start(seed: int) -> None:
    """Whatever the class or the first call drew."""
    torch.default_generator.manual_seed(seed)
    torch.set_grad_enabled(True)


@contextlib.contextmanager
def _own_state(call: Call) -> Iterator[None]:
    """A random state of its own, one thread, and the call's dtype as default; put back after it.

    On the few numbers of a case, several threads take longer than one and wait for each other.
    """
    weights = call.setup.weights if call.setup else {}
    given = (weights, call.arguments, call.keywords)
    floats = (
        tensor.array.dtype.name for tensor in tensors(given) if tensor.array.dtype.kind == "f"
    )
    before, threads = torch.get_default_dtype(), torch.get_num_threads()
    with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(True):
        torch.set_default_dtype(getattr(torch, next(floats, "float32")))
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_default_dtype(before)
            torch.set_num_threads(threads)


def _made(make: Callable[..., Any], setup: Setup) -> tuple[Any, dict[str, torch.Tensor]]:
    """The module with the weights loaded, and its parameters under the names of the weights.

    In place of a module: `Raised`, `Foreign` or `Unloadable`.
    """
    arguments, keywords = copy.deepcopy((setup.arguments, setup.keywords))
    given = tuple(map(_tensor, arguments)), _tensor(keywords), torch.get_default_dtype()
    made = attempt(_made_there, make, *given)
    if isinstance(made, Raised):
        return made, {}
    module, every = made
    if every is None:
        return Foreign(type(module).__name__[:100]), {}
    parameters = {name: every[name] for name in setup.weights if name in every}
    known = {*map(id, parameters.values())}
    extra = any(id(parameter) not in known for parameter in every.values())
    if (
        extra  # a second name of one and the same parameter is none
        or len(parameters) < len(setup.weights)
        or any(parameters[n].shape != w.array.shape for n, w in setup.weights.items())
    ):
        return Unloadable({name: tuple(one.shape) for name, one in every.items()}), {}
    with torch.no_grad():
        for name, weight in setup.weights.items() if setup.load else ():
            parameters[name].copy_(torch.from_numpy(weight.array))
    return module, parameters


# What gradients are made with: of torch's own C++, as it was before the student's code ran.
_backward = torch.autograd.Variable._execution_engine.run_backward
_multiply, _sum, _stack = torch.mul, torch.sum, torch.stack
_numpy = torch._C.TensorBase.numpy


def _gradients(
    output: Any, leaves: dict[str, torch.Tensor]
) -> dict[str, Tensor | None] | Raised | None:
    """The gradients of the sum of all outputs, each number of them times a fixed random one."""
    found = [one for one in _floating(output) if one.requires_grad]
    if not found:
        return None
    asked = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    parts = [
        _sum(_multiply(one, _cotangent(at, one)), dtype=torch.float64)
        for at, one in enumerate(found)
    ]
    total = _sum(_stack(parts))  # given several, torch loads half a second of algebra
    gradients = attempt(
        _backward,
        (total,),
        (torch.ones_like(total),),
        False,  # neither kept, nor differentiable again
        False,
        tuple(asked.values()),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    if isinstance(gradients, Raised):
        return gradients
    given = dict(zip(asked, gradients, strict=True))
    return {name: at_rest(given.get(name)) for name in leaves}


def _cotangent(seed: int, output: torch.Tensor) -> torch.Tensor:
    numbers = np.random.default_rng(seed).normal(size=tuple(output.shape))
    return torch.as_tensor(numbers).to(output.dtype)


def _floating(value: Any) -> Iterator[torch.Tensor]:
    kind = type(value)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if value.is_floating_point() and _is_here(value):
            yield value
    elif issubclass(kind, tuple | list):
        for item in (tuple if issubclass(kind, tuple) else list).__iter__(value):
            yield from _floating(item)
    elif kind is dict:
        for item in value.values():
            yield from _floating(item)


def _tensor(value: Any, leaves: dict[str, torch.Tensor] | None = None, name: str = "") -> Any:
    """`value` with each Tensor as torch's; those to differentiate by are noted in `leaves`.

    What is handed over holds the memory of the array, and is not the leaf but computed from it: so
    a change in place is allowed, and seen.
    """
    if isinstance(value, Tensor):
        tensor = torch.from_numpy(value.array)
        if leaves is None or not value.differentiable:
            return tensor
        leaves[name] = leaf = tensor.clone().requires_grad_()
        return tensor.copy_(leaf)
    if isinstance(value, tuple | list):
        return type(value)(
            _tensor(item, leaves, f"{name}[{index}]") for index, item in enumerate(value)
        )
    if isinstance(value, dict):
        return {key: _tensor(item, leaves, f"{name}[{key!r}]") for key, item in value.items()}
    return loaded(value)


def at_rest(value: Any) -> Any:
    """A copy of `value`, with each of torch's tensors as `copied_leaf` makes it."""
    return taken(value, copied_leaf)


def _is_here(tensor: torch.Tensor) -> bool:
    """True for a tensor with numbers in one piece of this machine's own memory."""
    return tensor.layout is torch.strided and tensor.device.type == "cpu"


def copied_leaf(value: Any) -> Any:
    """A tensor as Tensor, or as Foreign if no answer may be such; a copy of an array."""
    kind = type(value)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return copied_array(value)
    if not _is_here(value):
        return Foreign("a tensor that is sparse, or not on the CPU")
    if value.dtype not in DTYPES:
        return Foreign(f"Tensor[{str(value.dtype).removeprefix('torch.')}]")
    return Tensor(_numpy(value, force=True).copy())
