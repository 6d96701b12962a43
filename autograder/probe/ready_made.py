"""See which of the forbidden, ready-made things a piece of code runs, whatever it calls them.

What is looked at is what runs, not what is written: an alias, getattr, importlib, eval, torch.ops
or a subclass lead to the same function or operator. Torch is never imported here; what a call
imports late is seen from the next call on.
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

_PYTHONS_OWN = (
    "torch.nn.functional",
    "torch._refs",
    "torch._refs.nn.functional",
    "torch._decomp.decompositions",
)
"""The modules among whose functions in Python a `*` is looked for."""

_BARE, _STARTS = "_thread.start_new_thread", threading.Thread.start.__code__
_BEGINS = vars(threading.Thread)["_bootstrap_inner"].__code__
_profile_of_new_threads = threading.getprofile

UNWATCHED = (_BARE, SWITCHED_OFF)
"""What is noted of code that runs where nothing can be watched."""

PROCESSES = (
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.posix_spawnp",
    "os.system",
    "_posixsubprocess.fork_exec",
    "_winapi.CreateProcess",
)
"""What begins a process, in which nothing is seen either, where no room is asked for it."""

Profile = Callable[[FrameType, str, Any], None]


class Watch:
    """What is looked for in the calls of one exercise; made before the student's code runs."""

    def __init__(self, forbidden: Sequence[str]) -> None:
        """Dotted names: of a function in Python or in C, of a module's class (its `forward`), or of
        an operator of torch, `torch.ops.aten.name` without its overload. `*` stands for anything.
        """
        self._forbidden = tuple(forbidden)
        names = (*self._forbidden, *PROCESSES)
        self._functions = _functions(names)
        self._late = [one for one in names if one.partition(".")[0] not in sys.modules]
        self._operators = any("*" in one or one == AUTOMATIC for one in self._forbidden)
        self._recorder = recorder() if self._operators else None

    @contextlib.contextmanager
    def watching(self, here: bool = True) -> Iterator[list[str]]:
        """Yield a list that gets the name of whatever runs in the block and is forbidden.

        If not `here`, only what runs in new threads is watched.
        """
        seen: list[str] = []
        if not self._forbidden:
            yield seen
            return
        noting = _Noting(
            seen,
            self._forbidden,
            self._functions | _functions(self._late),
            self._recorder or (recorder() if self._operators else None),
        )
        before, before_in_thread = sys.getprofile(), threading.getprofile()
        threading.setprofile(noting.look_in_thread)
        if here:
            noting.begin()
            sys.setprofile(noting.look)
        LISTENERS.append(noting.hear)
        try:
            yield seen
        finally:
            LISTENERS.remove(noting.hear)
            sys.setprofile(before)
            threading.setprofile(before_in_thread)
            if here:
                noting.end()
            noting.all_heard()


class _Noting:
    """Notes what runs: functions as Python calls them, operators as torch's recorder has them."""

    def __init__(
        self,
        seen: list[str],
        forbidden: Sequence[str],
        functions: dict[int, tuple[Any, str]],
        recorder: Recorder | None,
    ) -> None:
        self._seen, self._forbidden = seen, forbidden
        self._recorder = recorder
        self._in_thread = _Noting.look_in_thread.__code__
        self._unheard: set[int] = set()  # threads of a call of which nothing was noted yet

        def look(frame: FrameType, event: str, called: Any) -> None:
            runs = frame.f_code if event == "call" else called if event == "c_call" else None
            if id(runs) in functions:
                self._note(functions[id(runs)][1])
            elif runs is _STARTS:
                if _profile_of_new_threads() != self.look_in_thread:
                    self._note(SWITCHED_OFF)
            elif (runs is start_new_thread or runs is start_new) and frame.f_code is not _STARTS:
                self._note(_BARE)  # in a thread that `threading` has not made nothing is watched

        self.look: Profile = look

    def begin(self) -> None:
        """Record the operators of this thread."""
        if self._recorder is not None:
            self._recorder.begin()

    def end(self) -> None:
        """Note which of the operators that were recorded are forbidden."""
        self._unheard.discard(get_ident())
        for name in sorted(self._recorder.end()) if self._recorder is not None else ():
            if name == SWITCHED_OFF or any(fnmatchcase(name, one) for one in self._forbidden):
                self._note(name)

    def look_in_thread(self, first: FrameType, event: str, called: Any) -> None:
        """The profile function of a new thread, whose `first` frame is left at its end.

        What that frame calls last tells others what came of the thread: so it is noted before.
        """

        def look(frame: FrameType, event: str, called: Any) -> None:
            self.look(frame, event, called)
            if frame is first and event in ("c_call", "return"):
                self.end()
                if event == "c_call":
                    self.begin()

        if event == "c_call":  # a thread that `threading` made begins with a call in Python
            self._unheard.add(get_ident())
        self.begin()
        self.look(first, event, called)
        sys.setprofile(look)

    def hear(self, event: str, code: CodeType) -> None:
        """Note what would leave the watch, or end it; see `apart.LISTENERS`."""
        if event not in INTO_C and not any(
            code is one for one in (_STARTS, _BEGINS, self._in_thread, *OWN)
        ):
            self._note(_BARE if event.startswith("_thread") else SWITCHED_OFF)

    def all_heard(self) -> None:
        """Note it if a call has ended in which somebody else took the profile function away."""
        if self._unheard:
            self._note(SWITCHED_OFF)

    def _note(self, name: str) -> None:
        if name not in self._seen:
            self._seen.append(name)


def _functions(names: Sequence[str]) -> dict[int, tuple[Any, str]]:
    """What runs when a function of these names does, and its name, by the `id` of what runs.

    Code objects take long to hash; and nothing of a student's is hashed or compared.
    """
    found: dict[int, tuple[Any, str]] = {}
    for name in _spelled_out(names):
        function = _found(name)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            found[id(code)] = code, name
        elif callable(function):
            found[id(function)] = function, name
    return found


def _spelled_out(names: Iterable[str]) -> Iterator[str]:
    """The names without a `*`, and those that one with a `*` stands for."""
    loaded = [one for one in _PYTHONS_OWN if one in sys.modules]
    there = [f"{one}.{name}" for one in loaded for name in vars(sys.modules[one])]
    for name in names:
        if "*" in name:
            yield from (one for one in there if fnmatchcase(one, name))
        else:
            yield name


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
