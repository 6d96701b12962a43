"""No process begins or lives on beside what is forbidden, whichever way it is begun."""

import platform
import socket
from contextlib import closing

import numpy as np
import pytest

from autograder.probe import gate, seccomp, wire
from autograder.probe.status import Status
from autograder.probe.values import Call
from autograder.sandbox.backends import open_sandbox

CELL = """
import ctypes
import os
import platform
import subprocess
import threading

kernel = ctypes.PyDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"clone": 56, "fork": 57, "vfork": 58, "seccomp": 317},
    "aarch64": {"clone": 220, "seccomp": 277},
}[platform.machine()]
SIGCHLD = 17
instruction = ctypes.c_uint64(0x7FFF000000000006)
allow = (ctypes.c_uint64 * 2)(1, ctypes.addressof(instruction))  # a filter that allows everything


def begin(name, *arguments):
    if kernel.syscall(NUMBERS[name], *arguments) == 0:
        os._exit(0)
    return ctypes.get_errno()


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def trial():
    return BODY
"""

BEGINNINGS = {
    "fork": 'begin("fork")',
    "vfork": 'begin("vfork")',
    "clone": 'begin("clone", SIGCHLD, 0, 0, 0, 0)',
    "os.fork": "os.fork() or os._exit(0)",
    "os.system": 'os.system("true")',
    "os.posix_spawn": 'os.posix_spawn("/bin/true", ["true"], {})',
    "subprocess": 'subprocess.run(["true"]).returncode',
    "a thread's": "in_a_thread(lambda: os.fork() or os._exit(0))",
}
NEVER_MADE = ("vfork",)  # where it may begin, its process goes on upon the stack of Python


@pytest.fixture(scope="module", params=["warm", "cold"])
def room(request):
    box = open_sandbox(mode=request.param)
    yield box
    box.close()


def run(box, body, *, before="", forbidden=("colorsys.rgb_to_hsv",), exercises=1):
    cell = np.frombuffer((CELL.replace("BODY", body) + before).encode(), np.uint8)
    calls = [("trial", [Call((), forbidden=forbidden)])] * exercises
    with closing(box.room(wire.encode([(cell, "trial")]), torch=False)) as room:
        return room.run(wire.encode(calls), seconds=10, again=True)


def value(seen):
    _, (observation,) = wire.decode(seen.results[0])
    return observation.value


@pytest.mark.parametrize("name", BEGINNINGS)
def test_what_is_to_begin_ends_the_run(room, name):
    if platform.machine() == "aarch64" and name in ("fork", "vfork"):
        pytest.skip("this processor has no such call")
    if name not in NEVER_MADE:
        assert run(room, BEGINNINGS[name], forbidden=()).status == "ended"
    seen = run(room, BEGINNINGS[name])
    assert (seen.status, seen.cell, seen.results) == (Status.SEALED, None, ())


def test_what_began_in_the_cells_has_ended(room):
    left = "started = subprocess.Popen(['sleep', '1000'])\n"
    seen = run(room, "started.wait()", before=left)
    assert (seen.status, seen.left, value(seen)) == ("ended", True, -9)
    seen = run(room, "started.poll()", before=left, forbidden=())
    assert (seen.status, seen.left, value(seen)) == ("ended", False, None)


def test_who_begins_others_without_end_has_ended(room):
    left = "subprocess.Popen('while true; do true & wait; done', shell=True)\n"
    seen = run(room, "1", before=left)
    assert (seen.status, seen.left, value(seen)) == ("ended", True, 1)


def test_what_has_ended_by_itself_was_not_left(room):
    seen = run(room, "1", before="subprocess.Popen(['true']).wait()\nos.system('true')\n")
    assert (seen.status, seen.left) == ("ended", False)


THREADS = {
    "thread": "threading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    "bare thread": "import _thread\n_thread.start_new_thread(threading.Event().wait, ())\n",
    "executor": "import concurrent.futures as f\npool = f.ThreadPoolExecutor(2)\n"
    "pool.submit(int).result()\n",
    "pool": "from multiprocessing.pool import ThreadPool\npool = ThreadPool(2)\n"
    "pool.map(int, [1])\n",
    "event loop": "import asyncio\nloop = asyncio.new_event_loop()\n"
    "threading.Thread(target=loop.run_forever, daemon=True).start()\n",
    "busy thread": "def spin():\n    while True: pass\n"
    "threading.Thread(target=spin, daemon=True).start()\n",
}


@pytest.mark.parametrize("left", THREADS.values(), ids=THREADS)
def test_a_run_goes_on_without_the_threads_that_the_cells_have_left(room, left):
    seen = run(room, "in_a_thread(int)", before=left, exercises=2)
    assert (seen.status, seen.left, len(seen.results)) == ("ended", True, 2)
    assert value(seen) is None


def test_no_code_of_the_cells_runs_around_the_fork(room):
    hooks = (
        "seen = []\n"
        "def hook():\n    seen.append(1)\n"
        "os.register_at_fork(before=hook, after_in_child=hook)\n"
        "handler = ctypes.CFUNCTYPE(None)(hook)\n"
        "ctypes.CDLL(None).__register_atfork(handler, None, handler, None)\n"
    )
    seen = run(room, "len(seen)", before=hooks + THREADS["thread"])
    assert (seen.status, seen.left, value(seen)) == ("ended", True, 0)
    forked = hooks + "os.waitpid(os.fork() or os._exit(0), 0)\n"
    assert value(run(room, "len(seen)", before=forked, forbidden=())) >= 2


def test_a_thread_of_one_exercise_is_not_left_to_the_next(room):
    begins = "(threading.Thread(target=threading.Event().wait, daemon=True).start(), 1)[1]"
    seen = run(room, begins, exercises=3)
    assert (seen.status, seen.left, len(seen.results)) == ("ended", True, 3)


def test_threads_may_begin(room):
    seen = run(room, "in_a_thread(int)")
    assert (seen.status, value(seen)) == ("ended", None)


NOT_PERMITTED, BUSY = 1, 16
FILTERS = {
    "kernel.prctl(22, 2, allow)": NOT_PERMITTED,
    'kernel.syscall(NUMBERS["seccomp"], 1, 0, allow)': NOT_PERMITTED,
    'kernel.syscall(NUMBERS["seccomp"], 1, 8, allow)': BUSY,
}


@pytest.mark.parametrize(("call", "number"), FILTERS.items())
def test_no_filter_of_system_calls_is_a_students(room, call, number):
    seen = run(room, f"({call}, ctypes.get_errno())", forbidden=())
    assert value(seen) == (-1, number)


def test_where_the_kernel_does_not_ask_a_run_goes_on_without_a_seal(monkeypatch):
    def refused():
        raise OSError(16, "no listener for new processes")

    monkeypatch.setattr(seccomp, "listen", refused)
    told, telling = socket.socketpair()
    assert gate.install(telling) is gate.no_seal
    assert gate.gate(told, object(), ()) is None


LEAVING = {
    "the profile function taken away": "(list(map(sys.setprofile, [None])), job())",
    "it is put back": "(before := sys.getprofile(), list(map(sys.setprofile, [None])), "
    "job(), list(map(sys.setprofile, [before])))",
    "in a trace function": "(sys.settrace(lambda *_: job()), (lambda: 1)(), sys.settrace(None))",
    "none for new threads": "(threading.setprofile(None), in_a_thread(job))",
    "none for new threads, by its name": "(setattr(threading, '_profile_hook', None), "
    "in_a_thread(job))",
    "an older name": "_thread.start_new(job, ())",
}


@pytest.mark.parametrize("body", LEAVING.values(), ids=LEAVING)
def test_who_would_leave_the_watch_or_end_it_is_noted(room, body):
    before = "import sys, _thread, colorsys\ndef job():\n    colorsys.rgb_to_hsv(0.1, 0.2, 0.3)\n"
    seen = run(room, f"({body}, 1)[-1]", before=before)
    _, (observation,) = wire.decode(seen.results[0])
    assert observation.ready_made, observation.value
    assert not run_in_threads(room, before)


def run_in_threads(room, before):
    """What is noted of an answer that lets others work for it, and does nothing else."""
    pool = "concurrent.futures.ThreadPoolExecutor(2)"
    seen = run(room, f"[*{pool}.map(abs, [1, 2])]", before=f"import concurrent.futures\n{before}")
    _, (observation,) = wire.decode(seen.results[0])
    assert observation.value == [1, 2]
    return observation.ready_made
