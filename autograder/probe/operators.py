"""Which operators of torch run in a thread, as its own recorder tells it.

The recorder is torch's C++, below all that Python code can switch off around a call: subclasses,
modes, dispatch keys, a backward pass of one's own. Torch is never imported here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

AUTOMATIC = "torch.autograd"
"""The name of torch's automatic differentiation: of its engine, and of each node of a graph that is
called by hand, as `tensor.grad_fn(gradient)`."""

SWITCHED_OFF = "torch.autograd.profiler"
"""What is told of a thread whose recorder somebody else has ended."""

_ENGINE = "autograd::engine::"
_BACKWARD_FUNCTION = 1  # at::RecordScope, in ATen/record_function.h
_SWITCHES = (
    "_enable_profiler_legacy",
    "_disable_profiler_legacy",
    "_disable_profiler",
    "_enable_record_function",
)


class Recorder:
    """Of the thread that calls it."""

    def __init__(self) -> None:
        """Of torch as it is imported; KeyError, AttributeError or TypeError if it has none."""
        inside = sys.modules["torch._C"]
        profiler, self._torch = inside._profiler, inside._autograd
        self._enable = self._torch._enable_profiler_legacy
        self._disable = self._torch._disable_profiler_legacy
        self._name: Callable[[Any], str] = self._torch.ProfilerEvent.name
        self._scope: Callable[[Any], int] = self._torch.ProfilerEvent.scope
        nothing_else = (False,) * 5  # no shapes, no memory, no stacks, no counts, no modules
        self._config = profiler.ProfilerConfig(
            profiler.ProfilerState.CPU, *nothing_else, profiler._ExperimentalConfig()
        )

    def begin(self) -> None:
        """Record from now on."""
        self._enable(self._config)

    def end(self) -> set[str]:
        """The dotted names of what ran since: `torch.ops.aten.mm`, AUTOMATIC, or SWITCHED_OFF."""
        try:
            threads = self._disable()
        except RuntimeError:
            return {SWITCHED_OFF}
        events = {(self._name(one), self._scope(one)) for part in threads for one in part}
        return {_dotted(name, scope) for name, scope in events}

    def take_away(self) -> None:
        """Leave nothing that switches it where a student's code would look."""
        switches = [vars(self._torch).get(name) for name in _SWITCHES]
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] == "torch":
                for key, value in [*vars(module).items()]:
                    if any(value is one for one in switches):
                        del vars(module)[key]


def recorder() -> Recorder | None:
    """The recorder, if torch is there and has one."""
    return _of_torch() if "torch" in sys.modules else None


@functools.cache
def _of_torch() -> Recorder | None:
    try:
        return Recorder()
    except (KeyError, AttributeError, TypeError):
        return None


def _dotted(name: str, scope: int) -> str:
    if name.startswith(_ENGINE) or scope == _BACKWARD_FUNCTION:
        return AUTOMATIC
    return "torch.ops." + name.replace("::", ".") if "::" in name else name
