"""Run the student's code in a separate thread, from which it cannot see this package.

The frames of a thread lead back only to its first function, which is defined here as text with
separate globals. A new thread has no trace function, no profile function, and no torch mode.
Starting a thread takes as long as a small answer, so unwatched calls share one until `renew`.
"""

from __future__ import annotations

import builtins
import contextvars
import gc
import sys
import threading
import types
from _queue import SimpleQueue
from _thread import start_new_thread
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_BEGINNING = """
def stay(profile, run, get, end):
    setprofile(profile)
    del profile
    for function, arguments, keywords in iter(get, None):
        try:
            result = run(function, *arguments, **keywords)
        except BaseException as error:
            try:
                text = str(error)
            except BaseException:
                text = None
            trace, line = error.__traceback__, None
            while trace is not None:
                if trace.tb_frame.f_code.co_filename.startswith("<cell"):
                    line = trace.tb_lineno
                trace = trace.tb_next
            if isinstance(error, SyntaxError):
                line = error.lineno
            end((None, text, line, [kind.__name__ for kind in type(error).__mro__]))
            del trace
        else:
            end((result,))
            del result
        del function, arguments, keywords

class Quiet:
    def __getattr__(self, name):
        return self

    def __call__(self, *_, **__):
        return self

    def run_line_magic(self, magic, line="", *_):
        if magic != "run":
            return self
        import __main__, os, shlex
        words = [word for word in shlex.split(line) if word == "-i" or not word.startswith("-")]
        inside, words = "-i" in words, [word for word in words if word != "-i"]
        if not words or not os.path.isfile(words[0]):
            return self
        names = vars(__main__) if inside else {"__name__": "__main__", "__file__": words[0]}
        with open(words[0], encoding="utf-8") as file:
            code = compile(file.read(), words[0], "exec")
        try:
            exec(code, names)
        except Exception:
            pass
        if not inside:
            vars(__main__).update({k: v for k, v in names.items() if k[:2] != "__"})

def check(*_, **__):
    pass

def refuse(event, _, refused=refused, hidden=hidden, frozen=get_freeze_count, error=RuntimeError,
           watched=watched, listeners=listeners, frame=frame):
    if event in refused or (event in hidden and not frozen()):
        raise error(event)
    if event in watched:
        for listener in listeners:
            listener(event, frame(1).f_code)
"""
_REVEALING = (
    (sys, ("_current_frames", "_current_exceptions", "addaudithook", "setprofile_all_threads")),
    (gc, ("unfreeze", "callbacks")),
)
# The same by audit events, because a module that is created a second time has all its functions.
_REFUSED = frozenset({"sys._current_frames", "sys._current_exceptions", "sys.addaudithook"})
_HIDDEN = frozenset({"gc.get_objects", "gc.get_referrers"})  # refused once objects are unfrozen
_WATCHED = frozenset(
    {"sys.setprofile", "sys.settrace", "_thread.start_new_thread", "_thread.start_joinable_thread"}
)
INTO_C = frozenset({"ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata"})
"""The audit events of code that reaches the C library, or Python's C functions."""

LISTENERS: list[Callable[[str, types.CodeType], Any]] = []
"""Called with the audit event and the code for everything that would leave or end a watch, and for
INTO_C.

Python raises audit events however a function is called, for example by `map`, which a profile
function does not notice. For new threads it raises them from Python 3.12 on.
"""
_clean: dict[str, Any] = {"__builtins__": vars(builtins), "setprofile": sys.setprofile}
_defaults = {"refused": _REFUSED, "hidden": _HIDDEN, "get_freeze_count": gc.get_freeze_count}
_defaults |= {"watched": _WATCHED | INTO_C, "listeners": LISTENERS, "frame": sys._getframe}
_clean |= _defaults
exec(compile(_BEGINNING, "<notebook>", "exec"), _clean)
for _name in _defaults:
    del _clean[_name]
_stay = _clean.pop("stay")  # popped because a frame leads to its globals
_refuse, _add_audit_hook = _clean.pop("refuse"), sys.addaudithook
_profile = threading.getprofile
_results: list[Any] = []  # keeps results alive, so that no finaliser runs below our frames
_context_of_cells = contextvars.copy_context()
_started: list[bool] = []  # not empty once the first thread has started, that of the cells
_queues: list[SimpleQueue[Any]] = []  # to the thread that runs calls now, and back


class Failed(Exception):
    """Raised if the student's code raised an exception, which the attributes describe.

    `kinds` are the names of its classes, as in the method resolution order.
    """

    def __init__(self, message: str | None, line: int | None, kinds: list[str]) -> None:
        """Store the message, the last line in a cell, and the names of the classes."""
        super().__init__(message)
        self.message, self.line, self.kinds = message, line, kinds


def call(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """Call `function` in the thread and return the result. Raises Failed.

    If `threading` has a profile function, it is set in the thread, which is then used only once.
    """
    profile = _profile()
    if profile is not None:
        renew()
    if not _queues:
        queues: list[SimpleQueue[Any]] = [SimpleQueue(), SimpleQueue()]
        # Context variables that the cells have set, for example by np.seterr, hold in all threads.
        run = _context_of_cells.copy().run if _started else _context_of_cells.run
        _started.append(True)
        start_new_thread(_stay, (profile, run, queues[0].get, queues[1].put))  # may raise at limit
        _queues.extend(queues)
    gc.freeze()  # hides all objects that exist now from gc.get_objects()
    gc.enable()
    _queues[0].put((function, arguments, keywords))
    result = _queues[1].get()
    gc.disable()  # otherwise the student's cycles would be finalised below our frames
    _results.append(result)
    if profile is not None:
        renew()
    if type(result) is tuple and len(result) == 1:
        return result[0]
    _, message, line, kinds = result
    raise Failed(
        message if type(message) is str else None,
        line if type(line) is int else None,
        [kind for kind in kinds if type(kind) is str] if type(kinds) is list else [],
    )


OWN = (_stay.__code__, call.__code__)
"""The code that starts a thread here, and sets its profile function."""


def renew() -> None:
    """Make the next call in a new thread, so that it inherits no settings from earlier calls."""
    if _queues:
        _queues[0].put(None)
        _queues.clear()


def notebook() -> dict[str, Any]:
    """Return the namespace for the first cell, and remove everything else that leads here.

    Functions that only a notebook has, and `check` of `autograder`, are replaced by ones that do
    nothing. Modules in the folder of the notebook can be imported.
    """
    main, package = types.ModuleType("__main__"), types.ModuleType("autograder")
    sys.modules["__main__"], sys.modules["autograder"] = main, package
    quiet = _clean["Quiet"]()
    vars(package)["check"] = _clean["check"]
    sys.path.append("")
    vars(main).update(__builtins__=builtins, display=quiet, get_ipython=quiet)
    gc.freeze()  # from now on, a freeze count of 0 means that somebody has unfrozen objects
    _add_audit_hook(_refuse)
    for module, names in _REVEALING:
        for name in names:
            vars(module).pop(name, None)
    return vars(main)
