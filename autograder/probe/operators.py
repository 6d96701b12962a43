"""Record which operators of torch run in a thread, with torch's own recorder.

The recorder is part of torch's C++ code, below everything that Python code can use to hide a call:
subclasses, modes, dispatch keys, custom backward passes. Torch is never imported here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

AUTOMATIC = "torch.autograd"
"""The name for torch's automatic differentiation: its engine, and any node of a graph that is
called by hand, as in `tensor.grad_fn(gradient)`."""

SWITCHED_OFF = "torch.autograd.profiler"
"""The name that is reported for a thread whose recorder was ended by somebody else."""

_ENGINE = "autograd::engine::"
_BACKWARD_FUNCTION = 1  # at::RecordScope, in ATen/record_function.h
_SWITCHES = (
    "_enable_profiler_legacy",
    "_disable_profiler_legacy",
    "_disable_profiler",
    "_enable_record_function",
)


class Recorder:
    """The recorder of the thread that calls it."""

    def __init__(self) -> None:
        """Use the imported torch.

        Raises KeyError, AttributeError or TypeError if that has no recorder.
        """
        inside = sys.modules["torch._C"]
        profiler, self._torch = inside._profiler, inside._autograd
        self._enable = self._torch._enable_profiler_legacy
        self._disable = self._torch._disable_profiler_legacy
        self._name: Callable[[Any], str] = self._torch.ProfilerEvent.name
        self._scope: Callable[[Any], int] = self._torch.ProfilerEvent.scope
        options = (False,) * 5  # no shapes, memory, stacks, counts or modules
        self._config = profiler.ProfilerConfig(
            profiler.ProfilerState.CPU, *options, profiler._ExperimentalConfig()
        )

    def begin(self) -> None:
        """Start recording."""
        self._enable(self._config)

    def end(self) -> set[str]:
        """Stop; return dotted names of what ran: `torch.ops.aten.mm`, AUTOMATIC, SWITCHED_OFF."""
        try:
            threads = self._disable()
        except RuntimeError:
            return {SWITCHED_OFF}
        events = {(self._name(e), self._scope(e)) for thread in threads for e in thread}
        return {_dotted_name(name, scope) for name, scope in events}

    def take_away(self) -> None:
        """Remove the functions that switch the recorder from where student code would look."""
        switches = [vars(self._torch).get(name) for name in _SWITCHES]
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] == "torch":
                for key, value in [*vars(module).items()]:
                    if any(value is switch for switch in switches):
                        del vars(module)[key]


def recorder() -> Recorder | None:
    """Return the recorder, or None if torch is not imported or has none."""
    return _of_torch() if "torch" in sys.modules else None


@functools.cache
def _of_torch() -> Recorder | None:
    try:
        return Recorder()
    except (KeyError, AttributeError, TypeError):
        return None


def _dotted_name(name: str, scope: int) -> str:
    if name.startswith(_ENGINE) or scope == _BACKWARD_FUNCTION:
        return AUTOMATIC
    return "torch.ops." + name.replace("::", ".") if "::" in name else name
