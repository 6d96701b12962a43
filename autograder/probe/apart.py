"""Run what a student wrote where it sees nothing of this package: in a thread of its own.

The frames of a thread lead no further than its beginning, which stands here, with globals of its
own, as text. A new thread has no trace function, no profile function, and no mode of torch. To make
one takes as long as a small answer does, so calls that nothing watches share one until `renew`.
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
# The same by the names of their audit events: a module that is made anew has all its functions.
_REFUSED = frozenset({"sys._current_frames", "sys._current_exceptions", "sys.addaudithook"})
_HIDDEN = frozenset({"gc.get_objects", "gc.get_referrers"})  # once something has unfrozen
_WATCHED = frozenset(
    {"sys.setprofile", "sys.settrace", "_thread.start_new_thread", "_thread.start_joinable_thread"}
)
INTO_C = frozenset({"ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata"})
"""The audit events of code that reaches the C library, or Python's own functions in C."""

LISTENERS: list[Callable[[str, types.CodeType], Any]] = []
"""Each is told of what would leave or end a watch, and of INTO_C: the audit event, and the code.

Python tells of it whichever way it is called, as by `map`, which a profile function does not hear.
Of threads it tells from 3.12 on.
"""
_clean: dict[str, Any] = {"__builtins__": vars(builtins), "setprofile": sys.setprofile}
_given = {"refused": _REFUSED, "hidden": _HIDDEN, "get_freeze_count": gc.get_freeze_count}
_given |= {"watched": _WATCHED | INTO_C, "listeners": LISTENERS, "frame": sys._getframe}
_clean |= _given
exec(compile(_BEGINNING, "<notebook>", "exec"), _clean)
for _name in _given:
    del _clean[_name]
_stay = _clean.pop("stay")  # a frame leads to its globals
_refuse, _add_audit_hook = _clean.pop("refuse"), sys.addaudithook
_profile = threading.getprofile
_kept: list[Any] = []  # nothing is finalised among our frames
_of_the_cells = contextvars.copy_context()
_begun: list[bool] = []  # not empty once there was the first thread, which is that of the cells
_queues: list[SimpleQueue[Any]] = []  # to the thread that runs calls now, and back


class Failed(Exception):
    """What a student wrote raised an exception, described as `message`, `line` and `kinds`."""

    def __init__(self, message: str | None, line: int | None, kinds: list[str]) -> None:
        """See the sentence above."""
        super().__init__(message)
        self.message, self.line, self.kinds = message, line, kinds


def call(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """What the call returns. Raises Failed.

    A profile function for new threads is set in it, and then it has a thread of its own.
    """
    profile = _profile()
    if profile is not None:
        renew()
    if not _queues:
        queues: list[SimpleQueue[Any]] = [SimpleQueue(), SimpleQueue()]
        # What the cells have set in theirs, as np.seterr does, holds in every thread.
        run = _of_the_cells.copy().run if _begun else _of_the_cells.run
        _begun.append(True)
        start_new_thread(_stay, (profile, run, queues[0].get, queues[1].put))  # may be one too many
        _queues.extend(queues)
    gc.freeze()  # what stands now is shown by gc.get_objects() to nobody
    gc.enable()
    _queues[0].put((function, arguments, keywords))
    ended = _queues[1].get()
    gc.disable()  # or cycles of the student's are finalised among our frames
    _kept.append(ended)
    if profile is not None:
        renew()
    if type(ended) is tuple and len(ended) == 1:
        return ended[0]
    _, message, line, kinds = ended
    raise Failed(
        message if type(message) is str else None,
        line if type(line) is int else None,
        [kind for kind in kinds if type(kind) is str] if type(kinds) is list else [],
    )


OWN = (_stay.__code__, call.__code__)
"""The code that begins a thread here, and sets the profile function in it."""


def renew() -> None:
    """Make the next call in a new thread: what the calls before it have set in theirs is gone."""
    if _queues:
        _queues[0].put(None)
        _queues.clear()


def notebook() -> dict[str, Any]:
    """Names as the first cell finds them; what else leads to this package is taken away.

    What only a notebook has, and `check` of `autograder`, do nothing. Modules in the folder of the
    notebook are found, too.
    """
    main, package = types.ModuleType("__main__"), types.ModuleType("autograder")
    sys.modules["__main__"], sys.modules["autograder"] = main, package
    quiet = _clean["Quiet"]()
    vars(package)["check"] = _clean["check"]
    sys.path.append("")
    vars(main).update(__builtins__=builtins, display=quiet, get_ipython=quiet)
    gc.freeze()  # so that what is hidden is told from what something has unfrozen
    _add_audit_hook(_refuse)
    for module, names in _REVEALING:
        for name in names:
            vars(module).pop(name, None)
    return vars(main)
