"""Call functions of torch tensors, and modules, and record outputs and gradients.

This is the engine's only file that imports torch, and it is imported only for exercises with torch.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from .calling import CallRecord, attempt, copy_array, load_argument, snapshot
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

_ONE_AT_A_TIME = threading.RLock()  # the process has one default dtype and one random state


class TorchCall:
    """A call with tensors, or of a module: made once, or twice in a row."""

    def __init__(self, call: Call, again: bool) -> None:
        """Prepare the call; a module is in eval mode, and in train mode in a second call."""
        self._call = call
        calls = [call, copy.deepcopy(call)] if again else [call]
        self._arguments = [_Arguments(each) for each in calls]

    def observe(self, make: Callable[..., Any]) -> CallRecord:
        """Make the module if `make` is a class, make both calls, and return the record of them."""
        with _ONE_AT_A_TIME, _own_state(self._call):
            if self._call.setup is None:
                return self._observe(make, {})
            _start(0)
            module, parameters = _make_module(make, self._call.setup)
            if issubclass(type(module), torch.nn.Module):
                return self._observe(module, parameters)
            after = self._arguments[0].after(original=True)
            return CallRecord(Observation(module, after), module, module, copy_leaf)

    def _observe(
        self, function: Callable[..., Any], parameters: dict[str, torch.Tensor]
    ) -> CallRecord:
        results = []
        for seed, inputs in enumerate(self._arguments, start=1):
            _start(seed)
            training = None if self._call.setup is None else seed == 2  # even if `train` is changed
            returned = attempt(
                _call_in_thread, function, inputs.arguments, dict(inputs.keywords), training
            )
            results.append((returned, copy_tensors(returned)))
            if isinstance(returned, Raised):
                break
        value = results[-1][1]
        after = self._arguments[0].after()
        if self._call.differentiates and not isinstance(returned, Raised):
            weights = self._call.setup.weights if self._call.setup else {}
            leaves = inputs.leaves | {
                f"parameter `{name}`": parameter
                for name, parameter in parameters.items()
                if weights[name].gradient
            }
            value = Differentiated(value, _gradients(returned, leaves))
        return CallRecord(Observation(value, after), *results[0], copy_leaf)


class _Arguments:
    """The arguments of a call, as torch tensors in the memory of the call's arrays."""

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

    def after(self, original: bool = False) -> tuple[Any, ...]:
        """Return the arguments as they are now, or the `original` ones; keywords last, sorted.

        Functions and random generators are always the original ones, since they are not compared.
        """
        if original:
            arguments: Any = self._call.arguments
            keywords: Any = self._call.keywords
        else:
            arguments, keywords = self.arguments, dict(self.keywords)
        values = (*arguments, *(keywords[name] for name in sorted(keywords)))
        if original:
            return values
        not_compared = SourceFunction | FunctionElsewhere | SeededGenerator
        return tuple(
            before if isinstance(before, not_compared) else copy_tensors(value)
            for before, value in zip(self.after(original=True), values, strict=True)
        )


# This code runs in the thread of the student's code, which can see only these names. Gradients are
# enabled per thread, so it enables them again in case the class or the first call disabled them.
_IN_THREAD = """
def make_module(make, arguments, keywords, dtype):
    set_grad_enabled(True)
    module = make(*arguments, **keywords)
    if not issubclass(type(module), Module):
        return module, None
    try:
        to(module, dtype)
    except Exception:
        pass
    return module, dict(named_parameters(module, remove_duplicate=False))

def call_function(function, arguments, keywords, training):
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
_thread_names: dict[str, Any] = {
    "Module": torch.nn.Module,
    "to": torch.nn.Module.to,
    "named_parameters": torch.nn.Module.named_parameters,
    "train": torch.nn.Module.train,
    "modules": torch.nn.Module.modules,
    "set_grad_enabled": torch._C._set_grad_enabled,
}
exec(compile(_IN_THREAD, "<notebook>", "exec"), _thread_names)
_make_in_thread = _thread_names.pop("make_module")
_call_in_thread = _thread_names.pop("call_function")


def _start(seed: int) -> None:
    """Set the random state, whatever the class or the first call drew, and enable gradients."""
    torch.default_generator.manual_seed(seed)
    torch.set_grad_enabled(True)


@contextlib.contextmanager
def _own_state(call: Call) -> Iterator[None]:
    """Use a separate random state, one thread and the call's dtype as default, then restore them.

    On the small arrays of a case, several threads wait for each other and take longer than one.
    """
    weights = call.setup.weights if call.setup else {}
    inputs = (weights, call.arguments, call.keywords)
    floats = (
        tensor.array.dtype.name for tensor in tensors(inputs) if tensor.array.dtype.kind == "f"
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


def _make_module(make: Callable[..., Any], setup: Setup) -> tuple[Any, dict[str, torch.Tensor]]:
    """Return the module with the weights loaded, and its parameters by the names of the weights.

    If there is no such module, return `Raised`, `Foreign` or `Unloadable` instead.
    """
    arguments, keywords = copy.deepcopy((setup.arguments, setup.keywords))
    inputs = tuple(map(_tensor, arguments)), _tensor(keywords), torch.get_default_dtype()
    result = attempt(_make_in_thread, make, *inputs)
    if isinstance(result, Raised):
        return result, {}
    module, all_parameters = result
    if all_parameters is None:
        return Foreign(type(module).__name__[:100]), {}
    parameters = {n: all_parameters[n] for n in setup.weights if n in all_parameters}
    expected = {*map(id, parameters.values())}
    extra = any(id(parameter) not in expected for parameter in all_parameters.values())
    if (
        extra  # a second name for the same parameter does not count
        or len(parameters) < len(setup.weights)
        or any(parameters[n].shape != w.array.shape for n, w in setup.weights.items())
    ):
        return Unloadable(
            {n: tuple(parameter.shape) for n, parameter in all_parameters.items()}
        ), {}
    with torch.no_grad():
        for name, weight in setup.weights.items() if setup.load else ():
            parameters[name].copy_(torch.from_numpy(weight.array))
    return module, parameters


# Gradients use these C++ functions of torch, stored here before the student's code can patch them.
_backward = torch.autograd.Variable._execution_engine.run_backward
_multiply, _sum, _stack = torch.mul, torch.sum, torch.stack
_numpy = torch._C.TensorBase.numpy


def _gradients(
    output: Any, leaves: dict[str, torch.Tensor]
) -> dict[str, Tensor | None] | Raised | None:
    """Return the gradients of a weighted sum of all outputs, with fixed random weights.

    None if no output requires a gradient, and `Raised` if the backward pass raises.
    """
    outputs = [tensor for tensor in _floating(output) if tensor.requires_grad]
    if not outputs:
        return None
    inputs = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    parts = [
        _sum(_multiply(tensor, _cotangent(at, tensor)), dtype=torch.float64)
        for at, tensor in enumerate(outputs)
    ]
    total = _sum(_stack(parts))  # for several outputs, torch would import modules for half a second
    gradients = attempt(
        _backward,
        (total,),
        (torch.ones_like(total),),
        False,  # do not keep the graph
        False,  # do not make the gradients differentiable
        tuple(inputs.values()),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    if isinstance(gradients, Raised):
        return gradients
    by_name = dict(zip(inputs, gradients, strict=True))
    return {name: copy_tensors(by_name.get(name)) for name in leaves}


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
    """Return `value` with torch tensors for each Tensor; add the differentiable ones to `leaves`.

    A tensor that is passed to the student uses the memory of the array. It is not the leaf, but
    computed from it, so that changing it in place is allowed and can be detected.
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
    return load_argument(value)


def copy_tensors(value: Any) -> Any:
    """Return a copy of `value`, in which torch's tensors are copied by `copy_leaf`."""
    return snapshot(value, copy_leaf)


def _is_here(tensor: torch.Tensor) -> bool:
    """Return True for a dense tensor in the memory of the CPU."""
    return tensor.layout is torch.strided and tensor.device.type == "cpu"


def copy_leaf(value: Any) -> Any:
    """Return a torch tensor as Tensor, or as Foreign if it is not a valid answer; copy an array."""
    kind = type(value)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return copy_array(value)
    if not _is_here(value):
        return Foreign("a tensor that is sparse, or not on the CPU")
    if value.dtype not in DTYPES:
        return Foreign(f"Tensor[{str(value.dtype).removeprefix('torch.')}]")
    return Tensor(_numpy(value, force=True).copy())
