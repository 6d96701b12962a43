"""Detect which forbidden, ready-made functions a piece of code runs, whatever name it uses.

The functions that run are watched, and not the source: an alias, getattr, importlib, eval,
torch.ops or a subclass all lead to the same function or operator. Torch is never imported here; a
module that is first imported during a call is watched from the next call on.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from _thread import get_ident, start_new, start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from types import CodeType, FrameType
from typing import Any

from .apart import INTO_C, LISTENERS, OWN
from .operators import AUTOMATIC, SWITCHED_OFF, Recorder, recorder

_PYTHON_MODULES = (
    "torch.nn.functional",
    "torch._refs",
    "torch._refs.nn.functional",
    "torch._decomp.decompositions",
)
"""The modules with Python functions in which a name with `*` is looked up."""

_BARE_THREAD, _THREAD_START = "_thread.start_new_thread", threading.Thread.start.__code__
_THREAD_BOOTSTRAP = vars(threading.Thread)["_bootstrap_inner"].__code__
_profile_of_new_threads = threading.getprofile

UNWATCHED = (_BARE_THREAD, SWITCHED_OFF)
"""The names that are recorded for code that runs where it cannot be watched."""

PROCESSES = (
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.posix_spawnp",
    "os.system",
    "_posixsubprocess.fork_exec",
    "_winapi.CreateProcess",
)
"""The functions that start a process, which cannot be watched either. They are recorded because
not every place has a room that is asked first."""

Profile = Callable[[FrameType, str, Any], None]


class Watch:
    """A watch over the calls of an exercise; made before the student's code runs."""

    def __init__(self, forbidden: Sequence[str]) -> None:
        """Prepare to look for the `forbidden` dotted names, in which `*` matches anything.

        Each names a function in Python or in C, a class of modules (for its `forward`), or an
        operator of torch: `torch.ops.aten.name`, without its overload.
        """
        self._forbidden = tuple(forbidden)
        names = (*self._forbidden, *PROCESSES)
        self._functions = _functions(names)
        self._late = [name for name in names if name.partition(".")[0] not in sys.modules]
        self._operators = any("*" in name or name == AUTOMATIC for name in self._forbidden)
        self._recorder = recorder() if self._operators else None

    @contextlib.contextmanager
    def watching(self, here: bool = True) -> Iterator[list[str]]:
        """Yield a list that receives the names of the forbidden functions that run in the block.

        If not `here`, only new threads are watched.
        """
        names: list[str] = []
        if not self._forbidden:
            yield names
            return
        profiler = _Profiler(
            names,
            self._forbidden,
            self._functions | _functions(self._late),
            self._recorder or (recorder() if self._operators else None),
        )
        before, before_in_thread = sys.getprofile(), threading.getprofile()
        threading.setprofile(profiler.look_in_thread)
        if here:
            profiler.begin()
            sys.setprofile(profiler.look)
        LISTENERS.append(profiler.hear)
        try:
            yield names
        finally:
            LISTENERS.remove(profiler.hear)
            sys.setprofile(before)
            threading.setprofile(before_in_thread)
            if here:
                profiler.end()
            profiler.check_threads()


class _Profiler:
    """Records forbidden names: of functions by Python's profile hook, of operators by torch's."""

    def __init__(
        self,
        names: list[str],
        forbidden: Sequence[str],
        functions: dict[int, tuple[Any, str]],
        recorder: Recorder | None,
    ) -> None:
        self._names, self._forbidden = names, forbidden
        self._recorder = recorder
        self._in_thread = _Profiler.look_in_thread.__code__
        self._unheard: set[int] = set()  # threads whose profile function has not reported an end

        def look(frame: FrameType, event: str, called: Any) -> None:
            runs = frame.f_code if event == "call" else called if event == "c_call" else None
            if id(runs) in functions:
                self._note(functions[id(runs)][1])
            elif runs is _THREAD_START:
                if _profile_of_new_threads() != self.look_in_thread:
                    self._note(SWITCHED_OFF)
            elif (
                runs is start_new_thread or runs is start_new
            ) and frame.f_code is not _THREAD_START:
                self._note(_BARE_THREAD)  # a thread that `threading` has not made is not watched

        self.look: Profile = look

    def begin(self) -> None:
        """Start to record the operators of this thread."""
        if self._recorder is not None:
            self._recorder.begin()

    def end(self) -> None:
        """Stop recording, and note the forbidden ones among the recorded operators."""
        self._unheard.discard(get_ident())
        for name in sorted(self._recorder.end()) if self._recorder is not None else ():
            if name == SWITCHED_OFF or any(fnmatchcase(name, each) for each in self._forbidden):
                self._note(name)

    def look_in_thread(self, first: FrameType, event: str, called: Any) -> None:
        """Profile a new thread, which ends when its `first` frame returns.

        The last call of that frame passes the thread's result to others, so the operators must be
        noted before it.
        """

        def look(frame: FrameType, event: str, called: Any) -> None:
            self.look(frame, event, called)
            if frame is first and event in ("c_call", "return"):
                self.end()
                if event == "c_call":
                    self.begin()

        if event == "c_call":  # threads of `threading` start with a Python call, so this is ours
            self._unheard.add(get_ident())
        self.begin()
        self.look(first, event, called)
        sys.setprofile(look)

    def hear(self, event: str, code: CodeType) -> None:
        """Note events that would leave the watch, or end it; see `apart.LISTENERS`."""
        known = (_THREAD_START, _THREAD_BOOTSTRAP, self._in_thread, *OWN)
        if event not in INTO_C and not any(code is each for each in known):
            self._note(_BARE_THREAD if event.startswith("_thread") else SWITCHED_OFF)

    def check_threads(self) -> None:
        """Note SWITCHED_OFF if the profile function was removed from a thread before its end."""
        if self._unheard:
            self._note(SWITCHED_OFF)

    def _note(self, name: str) -> None:
        if name not in self._names:
            self._names.append(name)


def _functions(names: Sequence[str]) -> dict[int, tuple[Any, str]]:
    """Return code objects and C functions with their names, by the `id` of the object.

    Hashing code objects is slow, and objects of the student's must not be hashed or compared.
    """
    functions: dict[int, tuple[Any, str]] = {}
    for name in _expand(names):
        function = _find(name)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            functions[id(code)] = code, name
        elif callable(function):
            functions[id(function)] = function, name
    return functions


def _expand(names: Iterable[str]) -> Iterator[str]:
    """Yield the names without a `*`, and the existing names that match those with a `*`."""
    modules = [module for module in _PYTHON_MODULES if module in sys.modules]
    existing = [f"{module}.{name}" for module in modules for name in vars(sys.modules[module])]
    for name in names:
        if "*" in name:
            yield from (each for each in existing if fnmatchcase(each, name))
        else:
            yield name


def _find(name: str) -> Any:
    """Return the function of this name, or a class's `forward`, if its module is loaded."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        value: Any = sys.modules.get(".".join(parts[:length]))
        if value is not None:
            for part in parts[length:]:
                value = getattr(value, part, None)
            return inspect.unwrap(getattr(value, "forward", value)) if callable(value) else None
    return None
