"""See which of the forbidden, ready-made things a piece of code runs, whatever it calls them.

What is looked at is what runs, not what is written: an alias, getattr, importlib, eval, torch.ops
or a subclass lead to the same function or operator. Torch is never imported here; what a call
imports late is seen from the next call on.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from types import CodeType, FrameType
from typing import Any

AUTOMATIC = "torch.autograd"
"""What the backward pass of torch's automatic differentiation is called, however it was started."""


class Watch:
    """What is looked for in the calls of one exercise; made before the student's code runs."""

    def __init__(self, forbidden: Sequence[str]) -> None:
        """Dotted names: of a function in Python or in C, of a module's class (its `forward`), or of
        an operator of torch, `torch.ops.aten.name` without its overload. `*` stands for anything.
        """
        self._forbidden = tuple(forbidden)
        if self._forbidden and "torch" in sys.modules:
            _modes()

    @contextlib.contextmanager
    def watching(self, here: bool = True) -> Iterator[list[str]]:
        """Yield a list that gets the name of whatever runs in the block and is forbidden.

        If not `here`, only what runs in new threads is watched.
        """
        seen: list[str] = []
        if not self._forbidden:
            yield seen
            return

        def note(name: str) -> None:
            if name not in seen and any(fnmatchcase(name, one) for one in self._forbidden):
                seen.append(name)

        with contextlib.ExitStack() as stack:
            if here:
                stack.enter_context(_torch_watched(note))
            stack.enter_context(_python_watched(note, self._forbidden, here))
            yield seen


@contextlib.contextmanager
def _python_watched(
    note: Callable[[str], None], names: Sequence[str], here: bool
) -> Iterator[None]:
    """Note the functions of these names when Python calls them: in new threads, and `here`."""
    codes: dict[CodeType, str] = {}
    builtins: dict[int, str] = {}
    for name in names:
        function = _found(name)
        if isinstance(code := getattr(function, "__code__", None), CodeType):
            codes[code] = name
        elif callable(function):
            builtins[id(function)] = name

    def look(frame: FrameType, event: str, called: Any) -> None:
        name = None
        if event == "call":
            name = codes.get(frame.f_code)
        elif event == "c_call":
            name = builtins.get(id(called))
        if name is not None:
            note(name)

    def look_in_thread(frame: FrameType, event: str, called: Any) -> None:
        _torch_watched(note).__enter__()  # its modes are the thread's own, and end with it
        sys.setprofile(look)
        look(frame, event, called)

    before, before_in_thread = sys.getprofile(), threading.getprofile()
    threading.setprofile(look_in_thread)
    if here:
        sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_thread)


def _found(name: str) -> Any:
    """The function of this name, or the `forward` of the class, if its module is loaded."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:length]))
        if found is not None:
            for part in parts[length:]:
                found = getattr(found, part, None)
            return inspect.unwrap(getattr(found, "forward", found)) if callable(found) else None
    return None


def _torch_watched(note: Callable[[str], None]) -> contextlib.AbstractContextManager[Any]:
    """Note every function and every operator of torch that runs in this thread."""
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    functions, operators = _modes()
    stack = contextlib.ExitStack()
    stack.enter_context(operators(note))
    stack.enter_context(functions(note))
    return stack


@functools.cache
def _modes() -> tuple[type, type]:
    """The two modes of torch that see its functions and its operators."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Functions(TorchFunctionMode):
        def __init__(self, note: Callable[[str], None]) -> None:
            super().__init__()
            self.note = note

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            is_operator = isinstance(func, torch._ops.OpOverload | torch._ops.OpOverloadPacket)
            self.note(_operator(func) if is_operator else _function(func))
            return func(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):
        def __init__(self, note: Callable[[str], None]) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.note = note

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # what would be skipped must first be loaded: three seconds of imports

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.note(_operator(func))
            if torch._C._current_graph_task_id() != -1:
                self.note(AUTOMATIC)
            return func(*args, **(kwargs or {}))

    return Functions, Operators


def _function(function: Any) -> str:
    """`torch.nn.functional.relu`, `torch.exp` or, of a method, `torch.Tensor.exp`."""
    module = getattr(function, "__module__", None) or "torch.Tensor"
    module = module.replace("torch._C._nn", "torch.nn.functional")
    return f"{module}.{getattr(function, '__name__', '')}"


def _operator(function: Any) -> str:
    """`torch.ops.aten.mm` for the operator `aten.mm.default`."""
    namespace, name = str(function).split(".")[:2]
    return f"torch.ops.{namespace}.{name}"
